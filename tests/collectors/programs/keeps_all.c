/* So many rounds of everything that a ring has to follow over its cut: requests that are completed in another order or
 * by lists, persistent ones, wildcards, matched probes, nonblocking collectives, communicators, and a window. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 6, LARGEST = 97 }; /* sizes repeat after as many rounds, so that a wrong pair shows */

int main(int argc, char** argv) {
    int rank, size, flag;
    const long rounds = argc > 1 ? atol(argv[1]) : 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request persistent[2], early, collective;
    static long in[MANY][LARGEST], out[LARGEST], kept[LARGEST], ahead[LARGEST];
    long sum = 0, *memory;
    MPI_Recv_init(kept, 1, MPI_LONG, left, 1, MPI_COMM_WORLD, &persistent[0]);
    MPI_Send_init(out, 1, MPI_LONG, right, 1, MPI_COMM_WORLD, &persistent[1]);
    MPI_Win win;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Irecv(ahead, LARGEST, MPI_LONG, left, 2, MPI_COMM_WORLD, &early); /* always a round ahead */
    for (long i = 0; i < rounds; i++) {
        MPI_Request r[2 * MANY];
        const int n = 1 + (int)(i % LARGEST);
        MPI_Status status;
        MPI_Startall(2, persistent);
        MPI_Iallreduce(&i, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &collective);
        for (int k = 0; k < MANY; k++) {
            MPI_Irecv(in[k], LARGEST, MPI_LONG, k % 2 ? left : MPI_ANY_SOURCE, 10 + k, MPI_COMM_WORLD, &r[k]);
            MPI_Isend(out, n, MPI_LONG, right, 10 + k, MPI_COMM_WORLD, &r[MANY + k]);
        }
        for (int k = MANY - 1; k >= MANY / 2; k--)
            MPI_Wait(&r[k], MPI_STATUS_IGNORE);
        MPI_Waitall(2 * MANY, r, MPI_STATUSES_IGNORE);
        MPI_Send(out, n, MPI_LONG, right, 2, MPI_COMM_WORLD);
        MPI_Wait(&early, MPI_STATUS_IGNORE);
        MPI_Irecv(ahead, LARGEST, MPI_LONG, left, 2, MPI_COMM_WORLD, &early);
        MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
        for (flag = 0; !flag;)
            MPI_Test(&collective, &flag, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, n, MPI_LONG, right, 3, in[0], LARGEST, MPI_LONG, left, 3, MPI_COMM_WORLD, &status);
        MPI_Message message;
        MPI_Isend(out, n, MPI_LONG, right, 4, MPI_COMM_WORLD, &r[0]);
        MPI_Mprobe(left, 4, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(in[0], LARGEST, MPI_LONG, &message, &status);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
        MPI_Put(out, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(right, win);
        if (i % 5 == 0)
            MPI_Win_fence(0, win);
        if (i % 7 == 0) {
            MPI_Comm dup;
            MPI_Comm_dup(MPI_COMM_WORLD, &dup);
            MPI_Barrier(dup);
            MPI_Comm_free(&dup);
        }
    }
    MPI_Send(out, 1, MPI_LONG, right, 2, MPI_COMM_WORLD);
    MPI_Wait(&early, MPI_STATUS_IGNORE);
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    MPI_Win_free(&win);
    if (rank == 0)
        printf("rounds %ld\n", rounds);
    MPI_Finalize();
    return 0;
}
