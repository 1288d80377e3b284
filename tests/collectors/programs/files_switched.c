/* A file that is opened while recording is off, and operations on it of which recording misses some ranks' part. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, data[16] = {0};
    MPI_File first, second;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Pcontrol(0);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &first);
    MPI_Pcontrol(1);
    MPI_File_set_view(first, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    if (rank == 1)
        MPI_Pcontrol(0);
    MPI_File_write_at_all(first, (MPI_Offset)(rank * sizeof data), data, 16, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &second);
    if (rank == 1)
        MPI_Pcontrol(1);
    MPI_File_set_size(second, 4096);
    MPI_File_sync(first);
    MPI_File_close(&first);
    MPI_Pcontrol(0);
    MPI_File_close(&second);
    MPI_Pcontrol(1);
    return MPI_Finalize();
}
