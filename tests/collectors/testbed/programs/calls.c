/* Durations of calls in nanoseconds, of two ranks that do not make each other wait. */
#include <mpi.h>
#include <stdio.h>

#include "logpost_compute.h"

static double last;
static void lap(const char* name) {
    printf("%s %.3f\n", name, (MPI_Wtime() - last) * 1e9);
}

int main(int argc, char** argv) {
    int rank, flag = 0, index = 0;
    static char data[8][100];
    MPI_Request requests[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        last = MPI_Wtime();
        MPI_Send(data[0], 100, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        lap("send");
        logpost_compute_seconds(1e-4);
        last = MPI_Wtime();
        MPI_Isend(data[0], 100, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
        lap("isend");
        last = MPI_Wtime();
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        lap("wait_send");
        for (int i = 0; i < 5; i++) {
            logpost_compute_seconds(1e-4);
            MPI_Send(data[0], 100, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        }
    } else if (rank == 1) {
        for (int i = 0; i < 7; i++)
            MPI_Irecv(data[i], 100, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
        logpost_compute_seconds(1e-2);
        last = MPI_Wtime();
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        lap("wait");
        last = MPI_Wtime();
        MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
        lap("test");
        last = MPI_Wtime();
        MPI_Waitany(5, requests + 2, &index, MPI_STATUS_IGNORE);
        lap("waitany");
        last = MPI_Wtime();
        MPI_Waitall(5, requests + 2, MPI_STATUSES_IGNORE);
        lap("waitall");
    }
    MPI_Finalize();
    return 0;
}
