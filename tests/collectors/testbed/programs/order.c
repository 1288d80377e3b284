/* Nonblocking sends of changing sizes, all with one tag: they must be received in the order in which they were sent,
 * whichever of them waited for its receiver. Then overheads: what a call costs when nothing is waited for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "logpost_compute.h"

#define MESSAGES 40
#define LARGEST 2000

int main(int argc, char** argv) {
    int rank, wrong = 0;
    static int data[MESSAGES][LARGEST / 4];
    MPI_Request requests[MESSAGES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MESSAGES; i++)
        data[i][0] = rank == 0 ? i : -1;
    if (rank == 0) {
        for (int i = 0; i < MESSAGES; i++)
            MPI_Isend(data[i], i % 3 ? 4 : LARGEST, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        logpost_compute_seconds(1e-3);
        for (int i = 0; i < MESSAGES; i++) {
            const double before = MPI_Wtime();
            MPI_Recv(data[i], LARGEST, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += data[i][0] != i;
            if (i == 1)
                printf("receive %.3f\n", (MPI_Wtime() - before) * 1e9);
        }
        printf("wrong %d\n", wrong);
    }
    MPI_Finalize();
    return wrong;
}
