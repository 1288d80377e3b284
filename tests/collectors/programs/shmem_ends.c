/* How OpenSHMEM programs begin and end: next to MPI, with threads and forked children, and without a finalization.
 */
#include <mpi.h>
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, CALLS = 1000 };
static long words[THREADS];
static pthread_barrier_t all_have_called;

static void* work(void* which) {
    for (int i = 0; i < CALLS; i++)
        shmem_long_p(&words[(long)which], i, 1 - shmem_my_pe());
    shmem_quiet();
    pthread_barrier_wait(&all_have_called); /* a thread that begins behind another's end continues at its location */
    return NULL;
}

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    int provided = 0, finalized = 0;
    if (!strcmp(how, "mpi"))
        MPI_Init(&argc, &argv);
    if (!strcmp(how, "threads"))
        shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    else if (!strcmp(how, "start_pes"))
        start_pes(0);
    else
        shmem_init();
    shmem_long_p(&words[0], 1, 1 - shmem_my_pe());
    shmem_barrier_all();
    if (!strcmp(how, "mpi")) {
        MPI_Barrier(MPI_COMM_WORLD);
        shmem_finalize();
        MPI_Finalized(&finalized);
        if (!finalized)
            MPI_Finalize();
        return 0;
    }
    if (provided == SHMEM_THREAD_MULTIPLE) {
        pthread_t threads[THREADS];
        pthread_barrier_init(&all_have_called, NULL, THREADS);
        for (long i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, work, (void*)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    if (!strcmp(how, "fork")) {
        const pid_t child = fork();
        if (child == 0) {
            shmem_fence();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    if (!strcmp(how, "global_exit")) {
        if (shmem_my_pe() == 0)
            shmem_global_exit(3);
        pause();
    }
    if (!strcmp(how, "stuck")) {
        if (shmem_my_pe() == 0)
            shmem_barrier_all();
        sleep(1);
        abort();
    }
    if (!strcmp(how, "exit") || !strcmp(how, "start_pes"))
        return 0;
    shmem_finalize();
    return 0;
}
