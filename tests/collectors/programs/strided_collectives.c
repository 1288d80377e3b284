/* Collective operations over data with gaps, of both ranks, of the root or of the others: 64 B in 4 blocks of 16 B,
 * every 48 B, or in 8 blocks of 8 B, every 24 B; then operations without gaps. */
#include <mpi.h>
#include <stddef.h>

static double here[64], there[256];

static MPI_Datatype vector(int blocks, int length, int stride) {
    MPI_Datatype type;
    MPI_Type_vector(blocks, length, stride, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char** argv) {
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Datatype pairs = vector(4, 2, 6), singles = vector(8, 1, 3);
    MPI_Bcast(here, 1, pairs, 0, MPI_COMM_WORLD);
    MPI_Alltoall(here, 1, pairs, there, 8, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Allgather(here, 8, MPI_DOUBLE, there, 1, singles, MPI_COMM_WORLD);
    MPI_Gather(here, 1, pairs, there, 1, singles, 1, MPI_COMM_WORLD);
    MPI_Scatter(there, 1, pairs, here, 1, singles, 1, MPI_COMM_WORLD);
    MPI_Ibcast(here, 1, singles, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast(here, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(here, there, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Type_free(&pairs);
    MPI_Type_free(&singles);
    MPI_Finalize();
    return 0;
}
