/* Rank 0 enters each operation that makes or releases a handle 0.1 s after the others. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static void late(int rank) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        usleep(100000);
}

int main(int argc, char** argv) {
    int rank, ranks, left, right, zero = 0, one = 1;
    double* memory;
    MPI_Comm comm, half, inter, merged;
    MPI_Group group;
    MPI_Request request;
    MPI_Win window, created;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    late(rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    late(rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    late(rank);
    MPI_Comm_idup(MPI_COMM_WORLD, &merged, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    late(rank);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &zero, 0, &comm);
    late(rank);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
    late(rank);
    MPI_Intercomm_merge(inter, 0, &merged);
    late(rank);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    late(rank);
    MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    late(rank);
    MPI_Win_free(&created);
    late(rank);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    late(rank);
    MPI_File_close(&file);
    MPI_Win_free(&window);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    late(rank);
    MPI_Comm_create(MPI_COMM_WORLD, group, &merged);
    late(rank);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &merged);
    late(rank);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &merged);
    late(rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &merged);
    late(rank);
    MPI_Cart_sub(comm, &one, &merged);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    late(rank);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &one, 1, &right, &one, MPI_INFO_NULL, 0, &merged);
    late(rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    MPI_Win_free(&created);
    late(rank);
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_free(&window);
    return MPI_Finalize();
}
