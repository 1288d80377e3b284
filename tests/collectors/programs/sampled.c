/* What a thread may do between calls while samples are taken. The first argument says which. */
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;

static double cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The terms differ, for compilers make one function of two that are alike. */
#define WORK(name, term)                                         \
    __attribute__((noinline)) static void name(double seconds) { \
        for (const double end = cpu() + seconds; cpu() < end;)   \
            for (int i = 1; i < 20000; i++)                      \
                sum += term / i;                                 \
    }
WORK(relax, 1.0)
WORK(smooth, 2.0)

/* A frame of varying size, realigned: its caller is found by an expression. */
__attribute__((noinline)) static void aligned(int n, double seconds) {
    double place[n] __attribute__((aligned(64)));
    memset(place, 0, sizeof place);
    relax(seconds);
    sum += place[n / 2];
}

static void shares(void) {
    for (int i = 0; i < 50; i++) {
        aligned(i % 7 + 1, 0.024);
        smooth(0.008);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static volatile int seen;
static void count(int number) {
    (void)number;
    seen++;
}

static void takes_sigprof(void) {
    const struct itimerval every = {{0, 5000}, {0, 5000}};
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
    shares();
    printf("SIGPROF %s\n", seen > 50 ? "arrived" : "lacks");
}

/* Every real-time signal is the program's: each arrives as often as it was sent. */
static void takes_all(void) {
    struct sigaction action = {.sa_handler = count}, before;
    relax(0.1);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        sigaction(number, &action, &before);
        if (before.sa_handler != SIG_DFL)
            printf("signal %d had a handler\n", number);
    }
    relax(0.3);
    if (seen)
        printf("%d signals that were not sent\n", seen);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        raise(number);
    printf("%s\n", seen == SIGRTMAX - SIGRTMIN + 1 ? "each once" : "not each once");
}

static void waits_for_any(void) {
    sigset_t every, before;
    const struct timespec soon = {0, 100000000};
    relax(0.1);
    sigfillset(&every);
    pthread_sigmask(SIG_BLOCK, &every, &before);
    relax(0.2);
    printf("%s\n", sigtimedwait(&every, NULL, &soon) < 0 && errno == EAGAIN ? "nothing arrived" : "a signal arrived");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void sleeps(void) {
    const struct timespec little = {0, 1000};
    int interrupted = 0, pipes[2];
    char byte = 0;
    if (pipe(pipes))
        abort();
    for (const double end = cpu() + 0.5; cpu() < end;) {
        interrupted += nanosleep(&little, NULL) != 0;
        interrupted += poll(NULL, 0, 0) != 0;
        interrupted += write(pipes[1], &byte, 1) != 1 || read(pipes[0], &byte, 1) != 1;
        struct pollfd wait = {pipes[0], POLLIN, 0};
        interrupted += poll(&wait, 1, 1) != 0;
    }
    printf("interrupted %d\n", interrupted);
}

static void* thread(void* unused) {
    (void)unused;
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    smooth(0.5);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return NULL;
}

static void threads(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    relax(0.5);
    pthread_join(other, NULL);
}

static void blocks(void) {
    sigset_t every;
    sigfillset(&every);
    pthread_sigmask(SIG_BLOCK, &every, NULL);
    relax(0.4);
    pthread_sigmask(SIG_UNBLOCK, &every, NULL);
    relax(0.2);
}

static void forks(void) {
    relax(0.2);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        smooth(0.3);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
    relax(0.2);
}

int main(int argc, char** argv) {
    int given;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    const char* what = argv[1];
    if (!strcmp(what, "shares"))
        shares();
    if (!strcmp(what, "sigprof"))
        takes_sigprof();
    if (!strcmp(what, "takes"))
        takes_all();
    if (!strcmp(what, "waits"))
        waits_for_any();
    if (!strcmp(what, "sleeps"))
        sleeps();
    if (!strcmp(what, "threads"))
        threads();
    if (!strcmp(what, "blocks"))
        blocks();
    if (!strcmp(what, "forks"))
        forks();
    if (!strcmp(what, "long"))
        relax(atof(argv[2]));
    MPI_Finalize();
    return 0;
}
