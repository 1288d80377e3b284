/* Two ranks, MPI-4: large-count forms, persistent collectives, combined nonblocking, partitioned. */
#include <mpi.h>

static int a[16], b[16];

int main(int argc, char** argv) {
    int rank, flag;
    MPI_Count counts[2] = {1, 2};
    MPI_Aint displs[2] = {0, 4};
    MPI_Request r[2];
    MPI_Datatype t;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    MPI_Type_vector_c(4, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Isend_c(a, 3, MPI_INT, peer, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv_c(b, 16, MPI_INT, peer, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Sendrecv_c(a, 1, t, peer, 2, b, 4, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allgatherv_c(a, rank + 1, MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Bcast_c(a, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Isendrecv(a, 5, MPI_INT, peer, 3, b, 5, MPI_INT, peer, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Allreduce_init(a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&r[0]);
    if (rank == 0) {
        MPI_Psend_init(a, 4, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
        MPI_Start(&r[0]);
        MPI_Pready_range(0, 3, r[0]);
    } else {
        MPI_Precv_init(b, 4, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
        MPI_Start(&r[0]);
        MPI_Parrived(r[0], 0, &flag);
    }
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Type_free(&t);
    MPI_Finalize();
    return 0;
}
