/* One rank. Threads do nothing but calls of MPI, and are cancelled in the middle of it, one after the other. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 40 };

static void* calls(void* nothing) {
    int rank;
    for (;;)
        for (int i = 0; i < 10000; i++) {
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            if (i == 9999)
                pthread_testcancel();
        }
    return nothing;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, calls, NULL);
        if (i % 4) /* the others are cancelled before their first call */
            usleep(3000 + 171 * i);
        pthread_cancel(thread);
        void* ended;
        pthread_join(thread, &ended);
        if (ended != PTHREAD_CANCELED)
            return 1;
    }
    puts("all cancelled");
    MPI_Finalize();
    return 0;
}
