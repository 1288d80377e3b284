/* Rank 0 puts and gets through windows of memory that MPI allocates (a), that it is given (c), or both. */
#include <mpi.h>
#include <string.h>

enum { BYTES = 4096 };
static char memory[BYTES], buffer[BYTES];

static void transfer(int rank, MPI_Win window) {
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        MPI_Put(buffer, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, window);
        MPI_Win_flush(1, window);
        MPI_Get(buffer, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, window);
        MPI_Win_unlock(1, window);
    }
    MPI_Win_free(&window);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    void* allocated;
    MPI_Win window;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strchr(argv[1], 'a')) {
        MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &window);
        transfer(rank, window);
    }
    if (strchr(argv[1], 'c')) {
        MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        transfer(rank, window);
    }
    MPI_Finalize();
    return 0;
}
