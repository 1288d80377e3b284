/* Rank 0 sends 50 messages to rank 1, and 20 more after rank 1 has switched its recording off; then rank 1 is killed.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

#include "logpost.h"

int main(int argc, char** argv) {
    int rank, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 70; i++) {
        if (i == 50 && rank == 1)
            logpost_pause();
        if (rank == 0)
            MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        else
            MPI_Recv(&number, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
