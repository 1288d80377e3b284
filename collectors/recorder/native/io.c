/* Calls of the C library that reach files, for `record --io`: each is a record with its file and its bytes.
 *
 * Only threads that have called the library, and only where recording is on. Code of signal handlers calls these
 * functions too, so nothing here allocates or takes a lock: a file's name is the kernel's (/proc/self/fd), and
 * a record needs room in the window, as a sample does; calls without room are counted. A call made while another
 * one of the same thread waits passes through. Calls of a stream that find all in its buffer, or have room there, are
 * none: they are no system calls. Children's calls pass through, as their recording is off. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "hash.h"
#include "sampler.h"

enum { DESCRIPTORS = 1024, FILES = 4096, PROBES = 32, LONGEST = 400 };

/* --- the C library's own functions --------------------------------------------------------------------------------
 */

#define FUNCTIONS(X)                  \
    X(open, "GLIBC_2.2.5")            \
    X(open64, "GLIBC_2.2.5")          \
    X(creat, "GLIBC_2.2.5")           \
    X(creat64, "GLIBC_2.2.5")         \
    X(openat, "GLIBC_2.4")            \
    X(openat64, "GLIBC_2.4")          \
    X(__open_2, "GLIBC_2.7")          \
    X(__open64_2, "GLIBC_2.7")        \
    X(__openat_2, "GLIBC_2.7")        \
    X(__openat64_2, "GLIBC_2.7")      \
    X(close, "GLIBC_2.2.5")           \
    X(dup2, "GLIBC_2.2.5")            \
    X(dup3, "GLIBC_2.9")              \
    X(read, "GLIBC_2.2.5")            \
    X(__read_chk, "GLIBC_2.4")        \
    X(readv, "GLIBC_2.2.5")           \
    X(pread, "GLIBC_2.2.5")           \
    X(pread64, "GLIBC_2.2.5")         \
    X(__pread_chk, "GLIBC_2.4")       \
    X(__pread64_chk, "GLIBC_2.4")     \
    X(preadv, "GLIBC_2.10")           \
    X(preadv64, "GLIBC_2.10")         \
    X(write, "GLIBC_2.2.5")           \
    X(writev, "GLIBC_2.2.5")          \
    X(pwrite, "GLIBC_2.2.5")          \
    X(pwrite64, "GLIBC_2.2.5")        \
    X(pwritev, "GLIBC_2.10")          \
    X(pwritev64, "GLIBC_2.10")        \
    X(fsync, "GLIBC_2.2.5")           \
    X(fdatasync, "GLIBC_2.2.5")       \
    X(fopen, "GLIBC_2.2.5")           \
    X(fopen64, "GLIBC_2.2.5")         \
    X(freopen, "GLIBC_2.2.5")         \
    X(freopen64, "GLIBC_2.2.5")       \
    X(fclose, "GLIBC_2.2.5")          \
    X(fread, "GLIBC_2.2.5")           \
    X(__fread_chk, "GLIBC_2.7")       \
    X(fwrite, "GLIBC_2.2.5")          \
    X(fgets, "GLIBC_2.2.5")           \
    X(__fgets_chk, "GLIBC_2.4")       \
    X(fgetc, "GLIBC_2.2.5")           \
    X(getc, "GLIBC_2.2.5")            \
    X(getchar, "GLIBC_2.2.5")         \
    X(getline, "GLIBC_2.2.5")         \
    X(getdelim, "GLIBC_2.2.5")        \
    X(__getdelim, "GLIBC_2.2.5")      \
    X(scanf, "GLIBC_2.2.5")           \
    X(fscanf, "GLIBC_2.2.5")          \
    X(vfscanf, "GLIBC_2.2.5")         \
    X(__isoc99_scanf, "GLIBC_2.7")    \
    X(__isoc99_fscanf, "GLIBC_2.7")   \
    X(__isoc99_vfscanf, "GLIBC_2.7")  \
    X(__isoc23_scanf, "GLIBC_2.38")   \
    X(__isoc23_fscanf, "GLIBC_2.38")  \
    X(__isoc23_vfscanf, "GLIBC_2.38") \
    X(fputs, "GLIBC_2.2.5")           \
    X(puts, "GLIBC_2.2.5")            \
    X(fputc, "GLIBC_2.2.5")           \
    X(putc, "GLIBC_2.2.5")            \
    X(putchar, "GLIBC_2.2.5")         \
    X(printf, "GLIBC_2.2.5")          \
    X(fprintf, "GLIBC_2.2.5")         \
    X(vprintf, "GLIBC_2.2.5")         \
    X(vfprintf, "GLIBC_2.2.5")        \
    X(__printf_chk, "GLIBC_2.3.4")    \
    X(__fprintf_chk, "GLIBC_2.3.4")   \
    X(__vprintf_chk, "GLIBC_2.3.4")   \
    X(__vfprintf_chk, "GLIBC_2.3.4")  \
    X(fflush, "GLIBC_2.2.5")

#define NUMBER(name, version) at_##name,
#define NAME(name, version) {#name, version},
enum { FUNCTIONS(NUMBER) COUNT };
static const struct {
    const char *name, *version;
} functions[] = {FUNCTIONS(NAME)};
static void* known[COUNT];

static void* real(int at) {
    void* function = __atomic_load_n(&known[at], __ATOMIC_RELAXED);
    if (LP_UNLIKELY(!function)) { /* before the constructor has run */
        function = dlvsym(RTLD_NEXT, functions[at].name, functions[at].version);
        __atomic_store_n(&known[at], function, __ATOMIC_RELAXED);
    }
    return function;
}

__attribute__((constructor)) static void find_all(void) {
    for (int at = 0; at < COUNT; at++)
        real(at);
}

#define REAL(name, type) ((type)(uintptr_t)real(at_##name))

/* --- files ----------------------------------------------------------------------------------------------------------
 */

static uint32_t file_of[DESCRIPTORS]; /* 0: not known */
static struct {
    uint64_t name; /* its hash; 0: the place is free */
    int noted;     /* the log has it */
} files[FILES];

static void forget(int fd) {
    if (fd >= 0 && fd < DESCRIPTORS)
        __atomic_store_n(&file_of[fd], 0, __ATOMIC_RELAXED);
}

static void note(struct lp_thread* t, uint32_t id, const char* name, uint32_t length) {
    const size_t bytes = sizeof(struct lp_head) + (8 + length + 7) / 8 * 8;
    if (!lp_room_in_handler(t, bytes))
        return;
    memcpy(t->pos + sizeof(struct lp_head), &id, sizeof id);
    memcpy(t->pos + sizeof(struct lp_head) + 4, &length, sizeof length);
    memcpy(t->pos + sizeof(struct lp_head) + 8, name, length);
    lp_publish(t, LP_DEF_FILE, 0, bytes, 0);
    __atomic_store_n(&files[id - 1].noted, 1, __ATOMIC_RELAXED);
}

/* The number of a name; 0: there are too many. */
static uint32_t number_of(struct lp_thread* t, const char* name, size_t length) {
    const uint64_t hash = lp_hash(LP_HASH, name, length) | 1;
    for (unsigned probe = 0; probe < PROBES; probe++) {
        const unsigned at = (unsigned)((hash >> 32) + probe) % FILES;
        uint64_t found = 0;
        if (__atomic_compare_exchange_n(&files[at].name, &found, hash, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
            found == hash) {
            if (!__atomic_load_n(&files[at].noted, __ATOMIC_RELAXED))
                note(t, at + 1, name, (uint32_t)length);
            return at + 1;
        }
    }
    return 0;
}

static uint32_t file(struct lp_thread* t, int fd) {
    uint32_t id = fd < DESCRIPTORS ? __atomic_load_n(&file_of[fd], __ATOMIC_RELAXED) : 0;
    if (id)
        return id;
    char link[32] = "/proc/self/fd/", name[LONGEST], digits[12];
    int count = 0;
    for (unsigned rest = (unsigned)fd; rest || !count; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    for (int i = 0; i < count; i++)
        link[14 + i] = digits[count - 1 - i];
    const ssize_t length = readlink(link, name, sizeof name);
    id = length > 0 ? number_of(t, name, (size_t)length) : 0;
    if (fd < DESCRIPTORS)
        __atomic_store_n(&file_of[fd], id, __ATOMIC_RELAXED);
    return id;
}

/* --- records --------------------------------------------------------------------------------------------------------
 */

/* The thread, where the call is to be recorded. */
static struct lp_thread* begins(void) {
    const int phase = lp_on;
    struct lp_thread* t = phase ? lp_self : NULL;
    if (!t || t->busy || !LP_IS_ON(phase) || t->phase != phase || t->off || !t->map)
        return NULL;
    t->busy = LP_IN_FILE;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return t;
}

static void record(struct lp_thread* t, int what, uint32_t of, uint64_t enter, uint64_t leave, int64_t bytes,
                   uint32_t callers) {
    const size_t size = sizeof(struct lp_head) + sizeof(struct lp_file);
    if (!lp_room_in_handler(t, size)) {
        t->files_lost++;
        return;
    }
    *(struct lp_file*)(t->pos + sizeof(struct lp_head)) =
        (struct lp_file){of, t->files_lost, (uint64_t)(bytes > 0 ? bytes : 0)};
    t->files_lost = 0;
    t->stack = callers;
    lp_commit(t, LP_FILE, what, size, enter, leave);
}

/* `of`: known before the call; 0: that of the descriptor, after it. errno is the call's. */
static __attribute__((noinline)) void ends(struct lp_thread* t, int what, uint32_t of, int fd, uint64_t enter,
                                           int64_t bytes) {
    const uint64_t leave = lp_now();
    const int saved = errno;
    ucontext_t here;
    if (t->busy != LP_IN_FILE)
        return; /* calls of the library were made within it, by a stream's own functions or since a jump out of it */
    lp_busy(t);
    if (!of && fd >= 0)
        of = file(t, fd);
    const uint32_t callers = t->sampler && !getcontext(&here) ? lp_callers(t, &here, leave) : 0;
    record(t, what, of, enter, leave, bytes, callers);
    lp_leave(t);
    errno = saved;
}

/* --- wrappers -------------------------------------------------------------------------------------------------------
 */

#define WRAP(name, version) __asm__(".symver lp_io_" #name "," #name "@" version "\n");
FUNCTIONS(WRAP)

#define DATA(type, name, what, FD, DECLARED, PASSED)      \
    type lp_io_##name DECLARED {                          \
        type(*const function) DECLARED = real(at_##name); \
        struct lp_thread* t = begins();                   \
        if (!t)                                           \
            return function PASSED;                       \
        const uint64_t enter = lp_now();                  \
        type const result = function PASSED;              \
        ends(t, what, 0, FD, enter, (int64_t)result);     \
        return result;                                    \
    }

DATA(ssize_t, read, LP_FILE_READ, fd, (int fd, void* to, size_t n), (fd, to, n))
DATA(ssize_t, __read_chk, LP_FILE_READ, fd, (int fd, void* to, size_t n, size_t room), (fd, to, n, room))
DATA(ssize_t, readv, LP_FILE_READ, fd, (int fd, const struct iovec* to, int n), (fd, to, n))
DATA(ssize_t, pread, LP_FILE_READ, fd, (int fd, void* to, size_t n, off_t at), (fd, to, n, at))
DATA(ssize_t, pread64, LP_FILE_READ, fd, (int fd, void* to, size_t n, off64_t at), (fd, to, n, at))
DATA(ssize_t, __pread_chk, LP_FILE_READ, fd, (int fd, void* to, size_t n, off_t at, size_t room), (fd, to, n, at, room))
DATA(ssize_t, __pread64_chk, LP_FILE_READ, fd, (int fd, void* to, size_t n, off64_t at, size_t room),
     (fd, to, n, at, room))
DATA(ssize_t, preadv, LP_FILE_READ, fd, (int fd, const struct iovec* to, int n, off_t at), (fd, to, n, at))
DATA(ssize_t, preadv64, LP_FILE_READ, fd, (int fd, const struct iovec* to, int n, off64_t at), (fd, to, n, at))
DATA(ssize_t, write, LP_FILE_WRITE, fd, (int fd, const void* from, size_t n), (fd, from, n))
DATA(ssize_t, writev, LP_FILE_WRITE, fd, (int fd, const struct iovec* from, int n), (fd, from, n))
DATA(ssize_t, pwrite, LP_FILE_WRITE, fd, (int fd, const void* from, size_t n, off_t at), (fd, from, n, at))
DATA(ssize_t, pwrite64, LP_FILE_WRITE, fd, (int fd, const void* from, size_t n, off64_t at), (fd, from, n, at))
DATA(ssize_t, pwritev, LP_FILE_WRITE, fd, (int fd, const struct iovec* from, int n, off_t at), (fd, from, n, at))
DATA(ssize_t, pwritev64, LP_FILE_WRITE, fd, (int fd, const struct iovec* from, int n, off64_t at), (fd, from, n, at))
DATA(int, fsync, LP_FILE_SYNC, fd, (int fd), (fd))
DATA(int, fdatasync, LP_FILE_SYNC, fd, (int fd), (fd))

/* The descriptor is one of another file from now on. */
#define OPENS(name, DECLARED, PASSED, MODE)                     \
    int lp_io_##name DECLARED {                                 \
        MODE;                                                   \
        struct lp_thread* t = begins();                         \
        const uint64_t enter = t ? lp_now() : 0;                \
        const int fd = REAL(name, int(*) OPENED_##name) PASSED; \
        forget(fd);                                             \
        if (t)                                                  \
            ends(t, LP_FILE_OPEN, 0, fd, enter, 0);             \
        return fd;                                              \
    }

#define OPENED_open (const char*, int, ...)
#define OPENED_open64 OPENED_open
#define OPENED_openat (int, const char*, int, ...)
#define OPENED_openat64 OPENED_openat
#define OPENED_creat (const char*, mode_t)
#define OPENED_creat64 OPENED_creat
#define OPENED___open_2 (const char*, int)
#define OPENED___open64_2 OPENED___open_2
#define OPENED___openat_2 (int, const char*, int)
#define OPENED___openat64_2 OPENED___openat_2

#define MODE_BEHIND_FLAGS            \
    mode_t mode = 0;                 \
    if (__OPEN_NEEDS_MODE(flags)) {  \
        va_list more;                \
        va_start(more, flags);       \
        mode = va_arg(more, mode_t); \
        va_end(more);                \
    }

OPENS(open, (const char* path, int flags, ...), (path, flags, mode), MODE_BEHIND_FLAGS)
OPENS(open64, (const char* path, int flags, ...), (path, flags, mode), MODE_BEHIND_FLAGS)
OPENS(openat, (int at, const char* path, int flags, ...), (at, path, flags, mode), MODE_BEHIND_FLAGS)
OPENS(openat64, (int at, const char* path, int flags, ...), (at, path, flags, mode), MODE_BEHIND_FLAGS)
OPENS(creat, (const char* path, mode_t mode), (path, mode), )
OPENS(creat64, (const char* path, mode_t mode), (path, mode), )
OPENS(__open_2, (const char* path, int flags), (path, flags), )
OPENS(__open64_2, (const char* path, int flags), (path, flags), )
OPENS(__openat_2, (int at, const char* path, int flags), (at, path, flags), )
OPENS(__openat64_2, (int at, const char* path, int flags), (at, path, flags), )

/* What a descriptor is, while it still is; errno stays as it is. */
static uint32_t file_before(struct lp_thread* t, int fd) {
    if (fd < 0)
        return 0;
    const int saved = errno;
    t->busy = 1;
    const uint32_t of = file(t, fd);
    t->busy = LP_IN_FILE;
    errno = saved;
    return of;
}

int lp_io_close(int fd) {
    struct lp_thread* t = begins();
    const uint32_t of = t ? file_before(t, fd) : 0;
    const uint64_t enter = t ? lp_now() : 0;
    forget(fd);
    const int result = REAL(close, int (*)(int))(fd);
    if (t)
        ends(t, LP_FILE_CLOSE, of, -1, enter, 0);
    return result;
}

int lp_io_dup2(int from, int to) {
    forget(to);
    const int fd = REAL(dup2, int (*)(int, int))(from, to);
    forget(to);
    return fd;
}

int lp_io_dup3(int from, int to, int flags) {
    forget(to);
    const int fd = REAL(dup3, int (*)(int, int, int))(from, to, flags);
    forget(to);
    return fd;
}

/* --- streams --------------------------------------------------------------------------------------------------------
 */

#define OPENS_STREAM(name, DECLARED, PASSED, TYPES)         \
    FILE* lp_io_##name DECLARED {                           \
        struct lp_thread* t = begins();                     \
        const uint64_t enter = t ? lp_now() : 0;            \
        FILE* const f = REAL(name, FILE * (*)TYPES) PASSED; \
        const int fd = f ? f->_fileno : -1;                 \
        forget(fd);                                         \
        if (t)                                              \
            ends(t, LP_FILE_OPEN, 0, fd, enter, 0);         \
        return f;                                           \
    }

OPENS_STREAM(fopen, (const char* path, const char* mode), (path, mode), (const char*, const char*))
OPENS_STREAM(fopen64, (const char* path, const char* mode), (path, mode), (const char*, const char*))
OPENS_STREAM(freopen, (const char* path, const char* mode, FILE* old), (path, mode, old),
             (const char*, const char*, FILE*))
OPENS_STREAM(freopen64, (const char* path, const char* mode, FILE* old), (path, mode, old),
             (const char*, const char*, FILE*))

int lp_io_fclose(FILE* f) {
    const int fd = f->_fileno;
    struct lp_thread* t = begins();
    const uint32_t of = t ? file_before(t, fd) : 0;
    const uint64_t enter = t ? lp_now() : 0;
    forget(fd);
    const int result = REAL(fclose, int (*)(FILE*))(f);
    if (t)
        ends(t, LP_FILE_CLOSE, of, -1, enter, 0);
    return result;
}

/* A stream in memory, or of the program's own functions, is no file. */
static struct lp_thread* begins_on(const FILE* f) {
    return f->_fileno >= 0 ? begins() : NULL;
}

/* There was no system call. */
static void stays(struct lp_thread* t) {
    if (t->busy == LP_IN_FILE)
        lp_leave(t);
}

static size_t ahead(const FILE* f) {
    return f->_IO_read_end > f->_IO_read_ptr ? (size_t)(f->_IO_read_end - f->_IO_read_ptr) : 0;
}

static size_t space(const FILE* f) {
    return f->_IO_write_end > f->_IO_write_ptr ? (size_t)(f->_IO_write_end - f->_IO_write_ptr) : 0;
}

static size_t pending(const FILE* f) {
    return f->_IO_write_ptr > f->_IO_write_base ? (size_t)(f->_IO_write_ptr - f->_IO_write_base) : 0;
}

/* Bytes that the last system call read. */
#define FILLED (f->_IO_read_end - f->_IO_read_base)

#define READS(type, name, f, IN_BUFFER, BYTES, DECLARED, PASSED)           \
    type lp_io_##name DECLARED {                                           \
        type(*const function) DECLARED = real(at_##name);                  \
        struct lp_thread* t = lp_on && !(IN_BUFFER) ? begins_on(f) : NULL; \
        if (!t)                                                            \
            return function PASSED;                                        \
        const uint64_t enter = lp_now();                                   \
        type const result = function PASSED;                               \
        ends(t, LP_FILE_READ, 0, f->_fileno, enter, (int64_t)(BYTES));     \
        return result;                                                     \
    }

#define AHEAD_UNTIL(c) memchr(f->_IO_read_ptr, c, ahead(f))
#define LINE_AHEAD (n < 1 || ahead(f) >= (size_t)n - 1 || AHEAD_UNTIL('\n'))

READS(size_t, fread, f, size* n <= ahead(f), result* size, (void* to, size_t size, size_t n, FILE* f), (to, size, n, f))
READS(size_t, __fread_chk, f, size* n <= ahead(f), result* size,
      (void* to, size_t room, size_t size, size_t n, FILE* f), (to, room, size, n, f))
READS(char*, fgets, f, LINE_AHEAD, FILLED, (char* to, int n, FILE* f), (to, n, f))
READS(char*, __fgets_chk, f, LINE_AHEAD, FILLED, (char* to, size_t room, int n, FILE* f), (to, room, n, f))
READS(int, fgetc, f, ahead(f), FILLED, (FILE * f), (f))
READS(int, getc, f, ahead(f), FILLED, (FILE * f), (f))
READS(ssize_t, getline, f, AHEAD_UNTIL('\n'), FILLED, (char** to, size_t* room, FILE* f), (to, room, f))
READS(ssize_t, getdelim, f, AHEAD_UNTIL(end), FILLED, (char** to, size_t* room, int end, FILE* f), (to, room, end, f))
READS(ssize_t, __getdelim, f, AHEAD_UNTIL(end), FILLED, (char** to, size_t* room, int end, FILE* f), (to, room, end, f))

int lp_io_getchar(void) {
    return lp_io_getc(stdin);
}

typedef int (*scanning)(FILE*, const char*, va_list);

/* Of a buffer that was filled again, end or position is another one. */
static int scan(int at, FILE* f, const char* format, va_list more) {
    struct lp_thread* t = begins_on(f);
    if (!t)
        return ((scanning)(uintptr_t)real(at))(f, format, more);
    const char *const position = f->_IO_read_ptr, *const end = f->_IO_read_end;
    const uint64_t enter = lp_now();
    const int result = ((scanning)(uintptr_t)real(at))(f, format, more);
    if (position != end && f->_IO_read_end == end && f->_IO_read_ptr >= position)
        stays(t);
    else
        ends(t, LP_FILE_READ, 0, f->_fileno, enter, FILLED);
    return result;
}

#define SCANS(name, by, f, DECLARED)                       \
    int lp_io_##name DECLARED {                            \
        va_list more;                                      \
        va_start(more, format);                            \
        const int result = scan(at_##by, f, format, more); \
        va_end(more);                                      \
        return result;                                     \
    }
#define SCANS_OF(prefix)                                                           \
    SCANS(prefix##scanf, prefix##vfscanf, stdin, (const char* format, ...))        \
    SCANS(prefix##fscanf, prefix##vfscanf, f, (FILE * f, const char* format, ...)) \
    int lp_io_##prefix##vfscanf(FILE* f, const char* format, va_list more) {       \
        return scan(at_##prefix##vfscanf, f, format, more);                        \
    }

SCANS_OF()
SCANS_OF(__isoc99_)
SCANS_OF(__isoc23_)

/* Bytes that all wait in the buffer now were not written. */
static void wrote(struct lp_thread* t, const FILE* f, size_t before, uint64_t enter, int64_t bytes) {
    if (bytes >= 0 && pending(f) == before + (size_t)bytes)
        stays(t);
    else
        ends(t, LP_FILE_WRITE, 0, f->_fileno, enter, bytes);
}

/* N: how many bytes it is to write; where there is room for them, it passes through. */
#define WRITES(type, name, f, N, DECLARED, PASSED)                           \
    type lp_io_##name DECLARED {                                             \
        type(*const function) DECLARED = real(at_##name);                    \
        struct lp_thread* t = lp_on && (N) > space(f) ? begins_on(f) : NULL; \
        if (!t)                                                              \
            return function PASSED;                                          \
        const size_t before = pending(f);                                    \
        const uint64_t enter = lp_now();                                     \
        type const result = function PASSED;                                 \
        wrote(t, f, before, enter, (int64_t)(N));                            \
        return result;                                                       \
    }

WRITES(size_t, fwrite, f, size* n, (const void* from, size_t size, size_t n, FILE* f), (from, size, n, f))
WRITES(int, fputs, f, strlen(from), (const char* from, FILE* f), (from, f))
WRITES(int, puts, stdout, strlen(from) + 1, (const char* from), (from))
WRITES(int, fputc, f, (size_t)1, (int c, FILE* f), (c, f))
WRITES(int, putc, f, (size_t)1, (int c, FILE* f), (c, f))
WRITES(int, putchar, stdout, (size_t)1, (int c), (c))

#define PRINTS(name, f, DECLARED, CALLED)         \
    int lp_io_##name DECLARED {                   \
        struct lp_thread* t = begins_on(f);       \
        const size_t before = t ? pending(f) : 0; \
        const uint64_t enter = t ? lp_now() : 0;  \
        const int result = CALLED;                \
        if (t)                                    \
            wrote(t, f, before, enter, result);   \
        return result;                            \
    }
#define PRINTS_MORE(name, CALLED, DECLARED) \
    int lp_io_##name DECLARED {             \
        va_list more;                       \
        va_start(more, format);             \
        const int result = CALLED;          \
        va_end(more);                       \
        return result;                      \
    }

PRINTS(vfprintf, f, (FILE * f, const char* format, va_list more),
       REAL(vfprintf, int (*)(FILE*, const char*, va_list))(f, format, more))
PRINTS(__vfprintf_chk, f, (FILE * f, int flag, const char* format, va_list more),
       REAL(__vfprintf_chk, int (*)(FILE*, int, const char*, va_list))(f, flag, format, more))
PRINTS_MORE(fprintf, lp_io_vfprintf(f, format, more), (FILE * f, const char* format, ...))
PRINTS_MORE(printf, lp_io_vfprintf(stdout, format, more), (const char* format, ...))
PRINTS_MORE(__fprintf_chk, lp_io___vfprintf_chk(f, flag, format, more), (FILE * f, int flag, const char* format, ...))
PRINTS_MORE(__printf_chk, lp_io___vfprintf_chk(stdout, flag, format, more), (int flag, const char* format, ...))

int lp_io_vprintf(const char* format, va_list more) {
    return lp_io_vfprintf(stdout, format, more);
}

int lp_io___vprintf_chk(int flag, const char* format, va_list more) {
    return lp_io___vfprintf_chk(stdout, flag, format, more);
}

int lp_io_fflush(FILE* f) {
    int (*const function)(FILE*) = real(at_fflush);
    struct lp_thread* t = f && pending(f) ? begins_on(f) : NULL;
    if (!t)
        return function(f);
    const uint64_t enter = lp_now();
    const int64_t bytes = (int64_t)pending(f);
    const int result = function(f);
    ends(t, LP_FILE_WRITE, 0, f->_fileno, enter, bytes);
    return result;
}
