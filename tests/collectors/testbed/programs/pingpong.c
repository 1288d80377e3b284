/* pingpong A B BYTES...: half the round trip of each size between ranks A and B, in nanoseconds. The first round trip
 * of a size only brings the two together. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int a = atoi(argv[1]), b = atoi(argv[2]);
    for (int i = 3; i < argc && (rank == a || rank == b); i++) {
        const int bytes = atoi(argv[i]), peer = rank == a ? b : a;
        char* data = calloc((size_t)bytes + 1, 1);
        double start = 0;
        for (int round = 0; round < 2; round++) {
            start = MPI_Wtime();
            if (rank == a)
                MPI_Send(data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == b)
                MPI_Send(data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        }
        if (rank == a)
            printf("%.6f\n", (MPI_Wtime() - start) / 2 * 1e9);
        free(data);
    }
    MPI_Finalize();
    return 0;
}
