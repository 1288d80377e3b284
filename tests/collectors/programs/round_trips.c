/* Two ranks: 180 blocking round trips of nine sizes, 0 B to 256 KiB; main is the only region. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    static const int sizes[9] = {0, 8, 64, 512, 4096, 16384, 32768, 65536, 262144};
    char* buffer = calloc(262144, 1);
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 180; ++i) {
        const int size = sizes[i % 9];
        if (rank == 0) {
            MPI_Send(buffer, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    free(buffer);
    return 0;
}
