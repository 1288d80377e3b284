/* Two ranks, four threads each under MPI_THREAD_MULTIPLE, each with its own duplicate of the world (as the standard
 * wants for collectives); messages of thread i carry tags 1000 i + n. One request is waited for by another thread. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define N 200
static MPI_Comm comm[THREADS];
static int rank, x[THREADS], y[THREADS][N];
static MPI_Request handed_on;
static pthread_barrier_t barrier;

static void* work(void* arg) {
    long me = (long)arg;
    MPI_Request r[N];
    for (int i = 0; i < N; i++)
        if (rank == 0)
            MPI_Isend(&x[me], 1, MPI_INT, 1, 1000 * me + i, comm[me], &r[i]);
        else
            MPI_Irecv(&y[me][i], 1, MPI_INT, 0, 1000 * me + i, comm[me], &r[i]);
    MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
    MPI_Barrier(comm[me]);
    if (me == 1) {
        if (rank == 0)
            MPI_Issend(&x[me], 1, MPI_INT, 1, 9999, comm[me], &handed_on);
        else
            MPI_Irecv(&y[me][0], 1, MPI_INT, 0, 9999, comm[me], &handed_on);
    }
    pthread_barrier_wait(&barrier);
    if (me == 2)
        MPI_Wait(&handed_on, MPI_STATUS_IGNORE);
    return 0;
}

int main(int argc, char** argv) {
    int provided;
    pthread_t t[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        puts("no MPI_THREAD_MULTIPLE");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_init(&barrier, 0, THREADS);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], 0, work, (void*)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], 0);
    MPI_Finalize();
    return 0;
}
