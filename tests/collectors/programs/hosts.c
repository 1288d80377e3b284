/* Ranks 0 and 1, on two hosts, play ping-pong and say where they are and what their clock says. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char** argv) {
    int rank, length, ball = 0;
    char name[MPI_MAX_PROCESSOR_NAME];
    struct timespec now;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(name, &length);
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    printf("%d %s %lld\n", rank, name, (long long)now.tv_sec);
    for (int i = 0; i < 100; i++) {
        if (rank == 0)
            MPI_Send(&ball, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&ball, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&ball, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
