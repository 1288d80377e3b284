/* Prints its arguments, one a line. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; rank == 0 && i < argc; i++)
        printf("%s\n", argv[i]);
    MPI_Finalize();
    return 0;
}
