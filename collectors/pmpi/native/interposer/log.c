/* Threads and their logs: a file per thread, mapped one window at a time.
 *
 * The next window's blocks are allocated by the file system before they are mapped (posix_fallocate), so that a full disk
 * is an error code here and never a SIGBUS in the program. Pages are touched when the window is mapped, because a page
 * fault in the middle of a call costs more than the call. No file descriptor is kept: programs close descriptors that
 * they do not know. Memory in use is one window per thread that calls MPI. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

volatile int lp_on = 0;
volatile int lp_stopped = 0;
LP_TLS struct lp_thread* lp_self = NULL;
uint64_t lp_process_id = 0;
int lp_clock = LP_CLOCK_MONOTONIC_RAW;

static char directory[384];
static char host[65];
static size_t window_bytes;
static uint64_t limit_bytes; /* of one thread's log; 0: none */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static uint32_t threads;
static uint64_t start_ticks;

void lp_say(const char* format, ...) {
  char text[700] = "logpost: ";
  va_list list;
  va_start(list, format);
  int n = vsnprintf(text + 9, sizeof text - 10, format, list);
  va_end(list);
  if (n < 0) return;
  size_t length = strlen(text);
  text[length++] = '\n';
  ssize_t ignored = write(2, text, length);
  (void)ignored;
}

static uint64_t mix(uint64_t hash, const char* text, size_t n) { /* FNV-1a */
  for (size_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
  return hash;
}

static int tsc_is_good(void) {
#if defined(__x86_64__)
  FILE* f = fopen("/proc/cpuinfo", "re");
  if (!f) return 0;
  char* line = NULL;
  size_t room = 0;
  int good = 0;
  while (!good && getline(&line, &room, f) > 0)
    if (!strncmp(line, "flags", 5)) {
      good = strstr(line, " constant_tsc") && strstr(line, " nonstop_tsc") ? 1 : -1;
    }
  free(line);
  fclose(f);
  return good == 1;
#else
  return 0;
#endif
}

static void end_of_thread(void* arg) {
  struct lp_thread* t = arg;
  if (!lp_on) { /* finalized, or a forked child: nothing of the log is ours to touch */
    lp_self = NULL;
    return;
  }
  lp_log_close(t);
  lp_self = NULL;
  free(t->handles);
  free(t->statuses);
  free(t);
}

int lp_log_prepare(void) {
  const char* dir = getenv("LOGPOST_RAW_DIR");
  if (!dir || !*dir || strlen(dir) >= sizeof directory) return 0;
  strcpy(directory, dir);
  const char* kib = getenv("LOGPOST_WINDOW_KIB");
  long value = kib ? atol(kib) : 0;
  if (value < 64 || value > 1 << 20) value = 1024;
  long page = sysconf(_SC_PAGESIZE);
  window_bytes = ((size_t)value * 1024 + (size_t)page - 1) / (size_t)page * (size_t)page;
  const char* mib = getenv("LOGPOST_LIMIT_MIB");
  if (mib && atoll(mib) > 0) limit_bytes = (uint64_t)atoll(mib) << 20;
  const char* wanted = getenv("LOGPOST_CLOCK");
  lp_clock = tsc_is_good() && !(wanted && !strcmp(wanted, "monotonic")) ? LP_CLOCK_TSC : LP_CLOCK_MONOTONIC_RAW;

  if (gethostname(host, sizeof host - 1)) strcpy(host, "unknown");
  for (char* c = host; *c; c++)
    if (*c == '/') *c = '_';
  start_ticks = lp_clock_ns(CLOCK_REALTIME);
  char boot[64] = "";
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    ssize_t n = read(fd, boot, sizeof boot - 1);
    if (n < 0) boot[0] = 0;
    close(fd);
  }
  long long pid = (long long)getpid();
  uint64_t hash = mix(0xcbf29ce484222325ull, host, strlen(host));
  hash = mix(hash, boot, strlen(boot));
  hash = mix(hash, (const char*)&pid, sizeof pid);
  hash = mix(hash, (const char*)&start_ticks, sizeof start_ticks);
  lp_process_id = hash | 1; /* 0 means nobody */
  mkdir(directory, 0777);
  return pthread_key_create(&key, end_of_thread) == 0;
}

/* The last record of a log that ends before its program; every window keeps room for it. */
#define STOP_ROOM sizeof(struct lp_head)
static void mark_stopped(struct lp_thread* t) {
  if (t->map && (size_t)(t->map + window_bytes - t->pos) >= STOP_ROOM) {
    uint64_t now = lp_now();
    lp_commit(t, LP_STOPPED, 0, sizeof(struct lp_head), now, now);
  }
  if (t->map) {
    munmap(t->map, window_bytes);
    t->map = NULL;
  }
  t->pos = t->end = NULL; /* every further reserve comes to lp_window, which refuses */
}

/* Ends recording in this process; the program goes on. */
static void stop(struct lp_thread* t, const char* what, int error) {
  int first = !__atomic_exchange_n(&lp_stopped, 1, __ATOMIC_SEQ_CST);
  if (first)
    lp_say("recording of this process ends here, the program goes on: %s %s on %s: %s", what, t->path, host,
           error ? strerror(error) : "limit reached");
  mark_stopped(t);
}

/* Maps the window that holds file offset `offset`, with room for at least one window after it. */
static int map_window(struct lp_thread* t, uint64_t offset) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t from = offset / page * page;
  uint64_t to = from + window_bytes;
  if (limit_bytes && to > limit_bytes) return -1;
  struct rlimit limit; /* growing beyond it would be a SIGXFSZ in the program */
  if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && to > limit.rlim_cur) return EFBIG;
  int fd = open(t->path, O_RDWR | O_CLOEXEC | (offset ? 0 : O_CREAT | O_EXCL), 0666);
  if (fd < 0) return errno;
  int error = posix_fallocate(fd, (off_t)from, (off_t)window_bytes);
  char* map = MAP_FAILED;
  if (!error) {
    map = mmap(NULL, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
    if (map == MAP_FAILED) error = errno;
  }
  if (error && !offset) unlink(t->path);
  close(fd);
  if (error) return error;
  if (madvise(map, window_bytes, MADV_POPULATE_WRITE))
    for (size_t i = offset - from; i < window_bytes; i += 4096) ((volatile char*)map)[i] = ((volatile char*)map)[i];
  if (t->map) munmap(t->map, window_bytes);
  t->map = map;
  t->map_offset = from;
  t->pos = map + (offset - from);
  t->end = map + window_bytes - STOP_ROOM;
  return 0;
}

char* lp_window(struct lp_thread* t, size_t need) {
  if (lp_stopped && t->map) mark_stopped(t); /* another thread ran into the limit */
  if (!t->map) return NULL;
  if (need + 4096 > window_bytes) return NULL; /* callers split their lists; see LP_MAX_ENTRIES */
  uint64_t begin = lp_now();
  int saved = errno;
  int error = map_window(t, t->map_offset + (uint64_t)(t->pos - t->map));
  errno = saved;
  if (error) {
    stop(t, error == EFBIG ? "RLIMIT_FSIZE stands in the way of" : "cannot extend", error < 0 ? 0 : error);
    return NULL;
  }
  lp_commit(t, LP_WINDOW, 0, sizeof(struct lp_head), begin, lp_now());
  if (t->window_moves++ % 64 == 0) lp_note_sync(t); /* so that killed programs have a long base for the clock rate */
  return t->pos;
}

void lp_note_text(struct lp_thread* t, int kind, const char* text) {
  size_t length = strlen(text) + 1;
  size_t bytes = sizeof(struct lp_head) + (length + 7) / 8 * 8;
  if (!lp_reserve(t, bytes)) return;
  memcpy(t->pos + sizeof(struct lp_head), text, length);
  uint64_t now = lp_now();
  lp_commit(t, kind, 0, bytes, now, now);
}

void lp_note_sync(struct lp_thread* t) {
  size_t bytes = sizeof(struct lp_head) + sizeof(struct lp_sync);
  if (!lp_reserve(t, bytes)) return;
  struct lp_sync best = {0, 0, 0};
  uint64_t width = UINT64_MAX;
  for (int i = 0; i < 8; i++) {
    uint64_t a = lp_now();
    uint64_t raw = lp_clock_ns(CLOCK_MONOTONIC_RAW);
    uint64_t b = lp_now();
    if (b - a < width) {
      width = b - a;
      best.ticks = a + (b - a) / 2;
      best.raw_ns = raw;
    }
  }
  best.real_ns = lp_clock_ns(CLOCK_REALTIME);
  memcpy(t->pos + sizeof(struct lp_head), &best, sizeof best);
  lp_commit(t, LP_SYNC, 0, bytes, best.ticks, best.ticks);
}

extern const uint64_t lp_table_hash;

struct lp_thread* lp_thread_create(void) {
  struct lp_thread* t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->comm_generation = lp_comm_generation - 1;
  pthread_mutex_lock(&lock);
  t->index = threads++;
  pthread_mutex_unlock(&lock);
  lp_self = t;
  pthread_setspecific(key, t);
  snprintf(t->path, sizeof t->path, "%s/%s.%lld.%llx.%u.raw", directory, host, (long long)getpid(),
           (unsigned long long)start_ticks, t->index);
  if (lp_stopped) return t;
  int error = map_window(t, 0);
  if (error) {
    stop(t, "cannot write", error < 0 ? 0 : error);
    return t;
  }
  struct lp_file_header header = {.thread = t->index, .clock = (uint32_t)lp_clock, .process = lp_process_id,
                                  .table = lp_table_hash};
  memcpy(t->pos, &header, sizeof header);
  __atomic_store_n((uint64_t*)t->pos, LP_MAGIC, __ATOMIC_RELEASE);
  t->pos += LP_FILE_HEADER;
  lp_note_sync(t);
  lp_describe_thread(t);
  return t;
}

/* Cuts the unused rest of the window off the file. */
void lp_log_close(struct lp_thread* t) {
  if (!t->map) return;
  off_t used = (off_t)(t->map_offset + (uint64_t)(t->pos - t->map));
  munmap(t->map, window_bytes);
  t->map = t->pos = t->end = NULL;
  int ignored = truncate(t->path, used);
  (void)ignored;
}

uint64_t* lp_handles_scratch(struct lp_thread* t, size_t n) {
  if (n > t->handles_room) {
    uint64_t* more = realloc(t->handles, n * sizeof *more);
    if (!more) return NULL;
    t->handles = more;
    t->handles_room = n;
  }
  return t->handles;
}

MPI_Status* lp_statuses_scratch(struct lp_thread* t, size_t n) {
  if (n > t->statuses_room) {
    MPI_Status* more = realloc(t->statuses, n * sizeof *more);
    if (!more) return NULL;
    t->statuses = more;
    t->statuses_room = n;
  }
  return t->statuses;
}
