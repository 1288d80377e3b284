/* Rank 0, which is not the root, enters the spawning of a child 0.2 s after the others; the child is this program. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&other);
    if (other == MPI_COMM_NULL) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            usleep(200000);
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    }
    MPI_Comm_disconnect(&other);
    return MPI_Finalize();
}
