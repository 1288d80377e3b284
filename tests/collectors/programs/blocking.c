/* Two ranks: every blocking mode of point-to-point, wildcards, MPI_PROC_NULL. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank;
    char a[256] = {0}, b[256];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int room = 1000;
        char* buffer = malloc(room);
        MPI_Send(a, 3, MPI_INT, 1, 10, MPI_COMM_WORLD);
        MPI_Ssend(a, 5, MPI_CHAR, 1, 11, MPI_COMM_WORLD);
        MPI_Recv(b, 0, MPI_CHAR, 1, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* its Recv is posted */
        MPI_Rsend(a, 7, MPI_CHAR, 1, 13, MPI_COMM_WORLD);
        MPI_Buffer_attach(buffer, room);
        MPI_Bsend(a, 9, MPI_CHAR, 1, 14, MPI_COMM_WORLD);
        MPI_Buffer_detach(&buffer, &room);
        MPI_Send(a, 100, MPI_CHAR, MPI_PROC_NULL, 15, MPI_COMM_WORLD);
        free(buffer);
    } else {
        MPI_Request request;
        MPI_Irecv(b, 7, MPI_CHAR, 0, 13, MPI_COMM_WORLD, &request);
        MPI_Recv(b, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(b, 64, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Send(a, 0, MPI_CHAR, 0, 12, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Probe(MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, &status);
        MPI_Recv(b, 64, MPI_CHAR, status.MPI_SOURCE, 14, MPI_COMM_WORLD, &status);
        MPI_Recv(b, 64, MPI_CHAR, MPI_PROC_NULL, 15, MPI_COMM_WORLD, &status);
    }
    MPI_Sendrecv(a, 4 + rank, MPI_CHAR, 1 - rank, 20, b, 64, MPI_CHAR, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &status);
    MPI_Sendrecv_replace(a, 8, MPI_CHAR, 1 - rank, 21, 1 - rank, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(a, 1, MPI_CHAR, rank ? MPI_PROC_NULL : 1, 22, b, 64, MPI_CHAR, rank ? 0 : MPI_PROC_NULL, 22,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
