/* One rank or more, each for itself alone: messages and accesses to itself, of five bytes and of none, and collective
 * operations without data. And a send whose request is freed. */
#include <mpi.h>

int main(int argc, char** argv) {
    char from[8] = "12345", to[8] = "";
    int rank, none[64] = {0}, size;
    MPI_Request r[2];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 64)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int bytes = 5; bytes >= 0; bytes -= 5) {
        MPI_Isend(from, bytes, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Recv(to, bytes, MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Irecv(to, bytes, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &r[1]);
        MPI_Send(from, bytes, MPI_BYTE, rank, 2, MPI_COMM_WORLD);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        MPI_Sendrecv(from, bytes, MPI_BYTE, rank, 3, to, bytes, MPI_BYTE, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(from, bytes, MPI_BYTE, 0, 4, to, bytes, MPI_BYTE, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    MPI_Isend(from, 5, MPI_BYTE, rank, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Request_free(&r[0]);
    MPI_Recv(to, 5, MPI_BYTE, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_create(to, sizeof to, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int bytes = 5; bytes >= 0; bytes -= 5) {
        MPI_Put(from, bytes, MPI_BYTE, rank, 0, bytes, MPI_BYTE, win);
        MPI_Win_flush(rank, win);
        MPI_Get(from, bytes, MPI_BYTE, rank, 0, bytes, MPI_BYTE, win);
        MPI_Win_flush(rank, win);
        MPI_Accumulate(from, bytes, MPI_BYTE, rank, 0, bytes, MPI_BYTE, MPI_REPLACE, win);
        MPI_Win_flush(rank, win);
    }
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    MPI_Bcast(from, 0, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(from, to, 0, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    MPI_Alltoallv(from, none, none, MPI_BYTE, to, none, none, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Gatherv(from, 0, MPI_BYTE, to, none, none, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
