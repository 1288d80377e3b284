/* Collective operations of an inter-communicator in which one group gives and the other gets, the last rank late; then
 * some with a root in the second group. */
#include <mpi.h>
#include <unistd.h>

enum { COUNT = 4, MOST = 64, ROUNDS = 3, LATE_US = 20000 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int gets = rank >= size / 2;
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, gets, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, gets ? 0 : size / 2, 7, &inter);
    int given[MOST] = {rank}, got[MOST];
    int give = gets ? 0 : COUNT, get = gets ? COUNT : 0;
    for (int i = 0; i < ROUNDS; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1)
            usleep(LATE_US);
        MPI_Allgather(given, give, MPI_INT, got, get, MPI_INT, inter);
        MPI_Request request;
        MPI_Iallgather(given, give, MPI_INT, got, get, MPI_INT, inter, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Alltoall(given, give, MPI_INT, got, get, MPI_INT, inter);
    }
    int root = rank == size - 1 ? MPI_ROOT : gets ? MPI_PROC_NULL : size - size / 2 - 1;
    MPI_Bcast(given, COUNT, MPI_INT, root, inter);
    /* Only the root has lists of counts: no rank may look at those of others. */
    static const int counts[MOST] = {COUNT, COUNT}, at[MOST] = {0, COUNT};
    int is_root = root == MPI_ROOT;
    MPI_Gatherv(given, COUNT, MPI_INT, got, is_root ? counts : 0, is_root ? at : 0, MPI_INT, root, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
