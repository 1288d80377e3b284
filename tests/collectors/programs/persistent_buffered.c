/* Two ranks: rank 0 starts a persistent buffered send of 1 MiB eight times while rank 1 sleeps, so that a start finds
 * the send before it in progress. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 8, BYTES = 1 << 20 };

int main(int argc, char** argv) {
    int rank, size = ROUNDS * (BYTES + MPI_BSEND_OVERHEAD);
    char *data = calloc(BYTES, 1), *buffer = malloc(size);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Buffer_attach(buffer, size);
        MPI_Bsend_init(data, BYTES, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &request);
        for (int i = 0; i < ROUNDS; i++) {
            if (i % 2)
                MPI_Start(&request);
            else
                MPI_Startall(1, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
        MPI_Buffer_detach(&buffer, &size);
    } else {
        sleep(1);
        for (int i = 0; i < ROUNDS; i++)
            MPI_Recv(data, BYTES, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
