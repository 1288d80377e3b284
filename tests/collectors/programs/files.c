/* A program that reaches files in all ways, before, within and after MPI: what it prints is the same with and without
 * the recorder. The first argument names a directory; the second, what it does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* directory;

static const char* in(const char* name) {
    static char path[4][600];
    static int turn;
    char* p = path[turn = (turn + 1) % 4];
    snprintf(p, sizeof path[0], "%s/%s", directory, name);
    return p;
}

static void use_descriptors(void) {
    char text[16] = "", more[16] = "";
    struct iovec from[2] = {{"ab", 2}, {"cd", 2}}, to[2] = {{text, 2}, {more, 2}};
    const int fd = open(in("plain"), O_RDWR | O_CREAT | O_TRUNC, 0640);
    const int large = open64(in("large"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    const int folder = open(directory, O_RDONLY | O_DIRECTORY);
    const int at = openat(folder, "at", O_RDWR | O_CREAT, 0604);
    printf("%d", (int)write(fd, "0123456789", 10));
    printf(" %d", (int)writev(fd, from, 2));
    printf(" %d", (int)pwrite(fd, "xy", 2, 4));
    printf(" %d", (int)pwrite64(large, "far", 3, (off64_t)1 << 33));
    printf(" %d", (int)pwritev(at, from, 2, 0));
    printf(" %d %d", fsync(fd), fdatasync(large));
    lseek(fd, 0, SEEK_SET);
    printf(" %d %.6s", (int)read(fd, text, 6), text);
    printf(" %d", (int)readv(fd, to, 2));
    printf(" %d", (int)pread(fd, text, 2, 10));
    printf(" %d %.3s", (int)pread64(large, text, 4, (off64_t)1 << 33), text);
    printf(" %d", (int)preadv(at, to, 2, 0));
    printf(" %d", dup2(fd, 99));
    printf(" %d\n", (int)write(99, "z", 1));
    errno = 0;
    const int none = open(in("none/of/these"), O_RDONLY);
    printf("%d %d", none, errno == ENOENT);
    errno = 7;
    printf(" %d", (int)read(fd, text, 0));
    printf(" %d", errno);
    printf(" %d %d", (int)read(-1, text, 1), errno == EBADF);
    errno = 7;
    printf(" %d %d %d %d %d", close(at), close(folder), close(99), close(large), close(fd));
    printf(" %d", errno);
    printf(" %d %d\n", close(fd), errno == EBADF);
}

static void use_streams(void) {
    char text[100] = "";
    FILE* f = fopen(in("stream"), "w");
    for (int i = 0; i < 10000; i++)
        fwrite("line\n", 5, 1, f);
    fflush(f);
    fclose(f);
    f = fopen64(in("stream"), "r");
    int lines = 0;
    while (fgets(text, sizeof text, f))
        lines++;
    rewind(f);
    size_t blocks = 0;
    while (fread(text, 1, 50, f))
        blocks++;
    f = freopen(in("plain"), "r", f);
    const size_t n = fread(text, 1, sizeof text, f);
    printf("%d %zu %zu %d\n", lines, blocks, n, fclose(f));
}

/* 50,000 bytes each time, by all functions that leave the buffer to the C library. */
static void use_formats(void) {
    char *line = NULL, text[8];
    size_t room = 0;
    int number, sum = 0, lines = 0, bytes = 0;
    FILE* f = fopen(in("formats"), "w");
    for (int i = 0; i < 10000; i++)
        fprintf(f, "%04d\n", i);
    fflush(f);
    for (int i = 0; i < 10000; i++)
        fputs(i % 2 ? "odd!\n" : "even\n", f);
    fflush(f);
    for (int i = 0; i < 50000; i++)
        fputc(i % 50 == 49 ? '\n' : 'c', f);
    fclose(f);
    f = fopen(in("formats"), "r");
    for (int i = 0; i < 10000 && fscanf(f, "%d", &number) == 1; i++)
        sum += number;
    while (lines < 10001 && getline(&line, &room, f) > 0)
        lines++;
    free(line);
    while (getc(f) != EOF)
        bytes++;
    fclose(f);
    f = fopen(in("lines"), "w");
    setvbuf(f, NULL, _IOLBF, 512);
    fputs("a", f);
    fputc('b', f);
    fputc('\n', f);
    fprintf(f, "%s", "c");
    fprintf(f, "%d\n", 1);
    fclose(f);
    f = fmemopen(text, sizeof text, "w+");
    errno = 7;
    printf("%d %d %d", sum, lines, bytes);
    printf(" %d %d", fprintf(f, "%d", 123), fflush(f));
    rewind(f);
    printf(" %d", fgetc(f));
    printf(" %d\n", errno);
    fclose(f);
}

static ssize_t cookie_reads(void* of, char* to, size_t n) {
    (void)of;
    int flag;
    MPI_Initialized(&flag);
    return read(*(int*)of, to, n);
}

static void use_cookie(void) {
    char text[4] = "";
    int fd = open(in("plain"), O_RDONLY);
    FILE* f = fopencookie(&fd, "r", (cookie_io_functions_t){.read = cookie_reads});
    printf("%d", (int)fread(text, 1, 3, f));
    printf(" %s\n", text);
    fclose(f);
    close(fd);
}

static int pipe_ends[2];
static sigjmp_buf back;

static void writes(int number) {
    (void)number;
    (void)!write(pipe_ends[1], "s", 1);
}

static void jumps(int number) {
    (void)number;
    siglongjmp(back, 1);
}

/* A handler writes while the thread reads; another one leaves the call. */
static void use_signals(void) {
    char one = 0;
    if (pipe(pipe_ends))
        return;
    signal(SIGALRM, writes);
    alarm(1);
    printf("%d", (int)read(pipe_ends[0], &one, 1));
    signal(SIGALRM, jumps);
    if (!sigsetjmp(back, 1)) {
        alarm(1);
        (void)!read(pipe_ends[0], &one, 1);
    }
    printf(" %c\n", one);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static void* in_thread(void* seen) {
    char text[8];
    const int fd = open(in("plain"), O_RDONLY);
    for (int i = 0; i < 1000; i++)
        *(int*)seen += (int)pread(fd, text, 8, 0);
    close(fd);
    return NULL;
}

static void* waits(void* none) {
    char one;
    (void)none;
    (void)!read(pipe_ends[0], &one, 1);
    return NULL;
}

static void use_threads(void) {
    pthread_t thread[4];
    int seen[4] = {0};
    void* ended;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, in_thread, &seen[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    if (pipe(pipe_ends))
        return;
    pthread_create(&thread[0], NULL, waits, NULL);
    usleep(50000);
    pthread_cancel(thread[0]);
    pthread_join(thread[0], &ended);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    printf("%d %d\n", seen[0] + seen[1] + seen[2] + seen[3], ended == PTHREAD_CANCELED);
}

static void use_children(void) {
    extern char** environ;
    int status = -1;
    fflush(stdout);
    const pid_t forked = fork();
    if (!forked) {
        const int fd = open(in("child"), O_WRONLY | O_CREAT, 0600);
        _exit(write(fd, "c", 1) == 1 && !close(fd) ? 3 : 4);
    }
    waitpid(forked, &status, 0);
    printf("%d", WEXITSTATUS(status));
    const pid_t shared = vfork();
    if (!shared) {
        close(0);
        dup2(2, 0);
        _exit(5);
    }
    waitpid(shared, &status, 0);
    printf(" %d", WEXITSTATUS(status));
    pid_t spawned;
    char* command[] = {"sh", "-c", "exit 6", NULL};
    posix_spawnp(&spawned, "sh", NULL, NULL, command, environ);
    waitpid(spawned, &status, 0);
    FILE* f = popen("echo from a child", "r");
    char text[40] = "";
    printf(" %d %s", WEXITSTATUS(status), fgets(text, sizeof text, f));
    pclose(f);
}

/* Rank 0 waits for a slow writer while the others wait for it. */
static void wait_for_input(int rank) {
    int number = 0;
    if (rank == 0) {
        int fd = open(in("input.fifo"), O_RDONLY);
        (void)!read(fd, &number, sizeof number);
        close(fd);
    }
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void* feeds(void* none) {
    const int fd = open(in("input.fifo"), O_WRONLY);
    (void)none;
    usleep(200000);
    (void)!write(fd, "data", 4);
    close(fd);
    return NULL;
}

int main(int argc, char** argv) {
    int rank;
    (void)argc;
    directory = argv[1];
    const int before = open("/dev/null", O_WRONLY);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[2], "waits")) {
        pthread_t thread;
        if (rank == 0)
            pthread_create(&thread, NULL, feeds, NULL);
        for (int i = 0; i < 3; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        wait_for_input(rank);
        if (rank == 0)
            pthread_join(thread, NULL);
    } else {
        (void)!write(before, "x", 1);
        use_descriptors();
        use_streams();
        use_formats();
        use_cookie();
        use_signals();
        MPI_Barrier(MPI_COMM_WORLD);
        use_threads();
        use_children();
    }
    MPI_Finalize();
    const int after = open(in("after"), O_WRONLY | O_CREAT, 0600);
    printf("%d\n", (int)write(after, "x", 1));
    return close(after);
}
