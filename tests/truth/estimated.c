/* Traces that do not identify every value of a machine: ping-pongs of one size (argument 1), two sizes (2), and
 * receives that find three messages each, one after another (3) or completed by one call (4). */
#include <mpi.h>
#include <stdlib.h>

#include "logpost_compute.h"

enum { ROUNDS = 60, SMALL = 4096, LARGE = 16384, LATE = 3 };

static char data[LATE + 1][LARGE];

static void ping_pong(int rank, int bytes) {
    int first = rank % 2 == 0, other = first ? rank + 1 : rank - 1;
    for (int turn = 0; turn < 2; turn++)
        if (turn == first)
            MPI_Recv(data[0], bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(data[0], bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
}

static void found(int rank, int bytes, int concurrent) {
    MPI_Request requests[LATE];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank) {
        MPI_Send(data[0], bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        return;
    }
    logpost_compute_seconds(100e-6);
    for (int k = 0; k < LATE; k++)
        if (concurrent)
            MPI_Irecv(data[k], bytes, MPI_BYTE, k + 1, 0, MPI_COMM_WORLD, &requests[k]);
        else
            MPI_Recv(data[k], bytes, MPI_BYTE, k + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (concurrent)
        MPI_Waitall(LATE, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
    int rank, how = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++)
        if (how <= 2)
            ping_pong(rank, how == 2 && i % 2 ? LARGE : SMALL);
        else
            found(rank, i % 2 ? LARGE : SMALL, how == 4);
    MPI_Finalize();
    return 0;
}
