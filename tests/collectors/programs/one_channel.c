/* Four threads of each of two ranks share a channel: one tag, one communicator, blocking calls. A message's size shows
 * which thread sent it, or, with an argument, nothing. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, MESSAGES = 200 };

static int rank, alike;

static void* work(void* number) {
    static __thread char buffer[64];
    const int bytes = alike ? 8 : 8 * (1 + (int)(long)number);
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0)
            MPI_Send(buffer, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, sizeof buffer, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided;
    alike = argc > 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        puts("no threads");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void*)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    return 0;
}
