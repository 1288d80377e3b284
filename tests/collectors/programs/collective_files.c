/* Rank 0 enters each collective operation on a file 0.1 s after the others. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, ranks;

static void late(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        usleep(100000);
}

int main(int argc, char** argv) {
    int data[16] = {0};
    MPI_File file, own, nothing;
    MPI_Status s;
    MPI_Offset at;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    at = (MPI_Offset)(rank * sizeof data);
    late();
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    late();
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    late();
    MPI_File_set_size(file, ranks * (MPI_Offset)sizeof data);
    late();
    MPI_File_preallocate(file, ranks * (MPI_Offset)sizeof data);
    late();
    MPI_File_set_atomicity(file, 1);
    MPI_File_set_atomicity(file, 0);
    late();
    MPI_File_write_at_all(file, at, data, 16, MPI_INT, &s);
    late();
    MPI_File_read_at_all(file, at, data, 16, MPI_INT, &s);
    MPI_File_seek(file, at, MPI_SEEK_SET);
    late();
    MPI_File_write_all(file, data, 16, MPI_INT, &s);
    MPI_File_seek(file, at, MPI_SEEK_SET);
    late();
    MPI_File_read_all(file, data, 16, MPI_INT, &s);
    late();
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    late();
    MPI_File_write_ordered(file, data, 16, MPI_INT, &s);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    late();
    MPI_File_read_ordered(file, data, 16, MPI_INT, &s);
    late();
    MPI_File_write_at_all_begin(file, at, data, 16, MPI_INT);
    MPI_File_write_at_all_end(file, data, &s);
    late();
    MPI_File_sync(file);
    /* Of no other rank. */
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &own);
    MPI_File_read_at_all(own, 0, data, 16, MPI_INT, &s);
    MPI_File_close(&own);
    /* Wrong on purpose: errors of files are returned. */
    nothing = MPI_FILE_NULL;
    MPI_File_sync(nothing);
    MPI_File_close(&nothing);
    if (MPI_File_open(MPI_COMM_WORLD, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &nothing) == MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    late();
    MPI_File_close(&file);
    return MPI_Finalize();
}
