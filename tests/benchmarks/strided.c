/* The same bytes with gaps and without, one after the other, through every kind of operation: 20 layouts of five sizes
 * and four blocks, every 8th block. Two ranks; the argument is how often. */
#include <mpi.h>
#include <stdlib.h>

enum { GAP = 8, MOST = 64 << 10 };
static const int SIZES[] = {512, 2048, 8192, 32768, MOST};
static const int BLOCKS[] = {8, 32, 128, 256};

static int rank;
static double *from, *to, *memory;
static MPI_Win window;

/* Of `count` elements; both ranks enter after a barrier. */
static void operations(int count, MPI_Datatype type) {
    const int other = 1 - rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int sender = 0; sender < 2; sender++)
        if (rank == sender)
            MPI_Send(from, count, type, other, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(to, count, type, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(from, count, type, other, 1, to, count, type, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(from, count, type, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Alltoall(from, count, type, to, count, type, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Put(from, count, type, 1, 0, count, type, window);
        MPI_Win_flush(1, window);
        MPI_Get(from, count, type, 1, 0, count, type, window);
        MPI_Win_flush(1, window);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const size_t room = 2 * (size_t)MOST * GAP;
    from = calloc(1, room);
    to = calloc(1, room);
    MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < (int)(sizeof SIZES / sizeof *SIZES); i++)
        for (int k = 0; k < (int)(sizeof BLOCKS / sizeof *BLOCKS); k++) {
            MPI_Datatype type;
            const int doubles = BLOCKS[k] / 8;
            MPI_Type_vector(SIZES[i] / BLOCKS[k], doubles, GAP * doubles, MPI_DOUBLE, &type);
            MPI_Type_commit(&type);
            for (int repeat = atoi(argv[1]); repeat > 0; repeat--) {
                operations(1, type);
                operations(SIZES[i] / 8, MPI_DOUBLE);
            }
            MPI_Type_free(&type);
        }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    free(to);
    free(from);
    MPI_Finalize();
    return 0;
}
