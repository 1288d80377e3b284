/* Rank 0 sends 100 messages to rank 1, and writes what an adapter would count then into the file that the first
 * argument names. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    char data[1000] = {0};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100 && rank == 0; i++)
        MPI_Send(data, sizeof data, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 100 && rank == 1; i++)
        MPI_Recv(data, sizeof data, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 && argc > 2) {
        FILE* counter = fopen(argv[1], "w");
        fprintf(counter, "%s\n", argv[2]);
        fclose(counter);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
