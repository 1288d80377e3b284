/* Neighbourhood collectives of a ring: blocking, nonblocking, and of MPI-4 persistent and with a large count. */
#include <mpi.h>

int main(int argc, char** argv) {
    int size, periodic = 1, x[2] = {1, 2}, y[2], z[2];
    MPI_Comm ring;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_allgather(x, 1, MPI_INT, y, 1, MPI_INT, ring);
    for (int i = 0; i < 2; i++) {
        MPI_Ineighbor_alltoall(x, 1, MPI_INT, y, 1, MPI_INT, ring, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
#if MPI_VERSION >= 4
    MPI_Neighbor_alltoall_c(x, 1, MPI_INT, y, 1, MPI_INT, ring);
    MPI_Neighbor_alltoall_init(x, 1, MPI_INT, z, 1, MPI_INT, ring, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
#endif
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
