/* Two ranks: one message per kind of datatype, tag = number of the type. */
#include <mpi.h>

static double a[4096], b[4096];

int main(int argc, char** argv) {
    int rank, n = 0;
    MPI_Datatype t[16], row;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int lengths[3] = {2, 2, 2}, at[3] = {0, 5, 10}, uneven[3] = {1, 3, 2}, anywhere[3] = {0, 4, 20};
    MPI_Aint bytes[3] = {0, 40, 80};
    int sizes[2] = {8, 10}, subsizes[2] = {3, 4}, starts[2] = {2, 5};
    int whole[1] = {40}, kind[1] = {MPI_DISTRIBUTE_CYCLIC}, block[1] = {2}, procs[1] = {2};
    MPI_Datatype inner[2] = {MPI_INT, MPI_DOUBLE};
    int ones[2] = {1, 1};
    MPI_Aint where[2] = {0, 8};
    MPI_Type_vector(16, 2, 8, MPI_DOUBLE, &t[n++]);                                         /* 0 */
    MPI_Type_contiguous(7, MPI_DOUBLE, &t[n++]);                                            /* 1: contiguous */
    MPI_Type_create_hvector(4, 3, 100, MPI_INT, &t[n++]);                                   /* 2 */
    MPI_Type_indexed(3, lengths, at, MPI_DOUBLE, &t[n++]);                                  /* 3: regular after all */
    MPI_Type_indexed(3, uneven, anywhere, MPI_DOUBLE, &t[n++]);                             /* 4: irregular */
    MPI_Type_create_indexed_block(3, 2, at, MPI_DOUBLE, &t[n++]);                           /* 5 */
    MPI_Type_create_hindexed(3, lengths, bytes, MPI_DOUBLE, &t[n++]);                       /* 6 */
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &t[n++]); /* 7 */
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE, &t[n++]); /* 8 */
    MPI_Type_create_darray(2, 1, 1, whole, kind, block, procs, MPI_ORDER_C, MPI_DOUBLE, &t[n++]); /* 9 */
    MPI_Type_create_struct(2, ones, where, inner, &t[n++]); /* 10: an int, a hole, a double */
    MPI_Type_create_resized(MPI_DOUBLE, 0, 32, &t[n++]);    /* 11 */
    MPI_Type_contiguous(5, MPI_DOUBLE, &row);
    MPI_Type_vector(4, 1, 2, row, &t[n++]);        /* 12: vector of contiguous */
    MPI_Type_vector(6, 3, 3, MPI_DOUBLE, &t[n++]); /* 13: touching blocks, contiguous */
    MPI_Type_dup(t[0], &t[n++]);                   /* 14 */
    for (int i = 0; i < n; i++) {
        MPI_Type_commit(&t[i]);
        if (rank == 0)
            MPI_Send(a, 1, t[i], 1, i, MPI_COMM_WORLD);
        else
            MPI_Recv(b, 1, t[i], 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        MPI_Send(a, 16, MPI_DOUBLE, 1, 50, MPI_COMM_WORLD);
    else
        MPI_Recv(b, 1, t[12], 0, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* only one side is strided */
    for (int i = 0; i < n; i++)
        MPI_Type_free(&t[i]);
    MPI_Type_vector(9, 1, 4, MPI_DOUBLE, &t[0]); /* perhaps at the handle of a freed type */
    MPI_Type_commit(&t[0]);
    if (rank == 0)
        MPI_Send(a, 2, t[0], 1, 60, MPI_COMM_WORLD);
    else
        MPI_Recv(b, 2, t[0], 0, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
