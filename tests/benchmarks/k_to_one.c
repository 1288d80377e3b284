/* K ranks send synchronous messages to rank 0, which takes them as they are there: each sender has one message in
 * flight. By tag K = 1 ... ranks - 1; the argument is how often each size. */
#include <mpi.h>
#include <stdlib.h>

static const int SIZES[] = {64, 1024, 4096, 16384, 65536, 262144, 1 << 20};
enum { MESSAGES = 20 };

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char* buffer = calloc(1, 1 << 20);
    for (int repeat = atoi(argv[1]); repeat > 0; repeat--)
        for (int i = 0; i < (int)(sizeof SIZES / sizeof *SIZES); i++)
            for (int k = 1; k < ranks; k++) {
                MPI_Barrier(MPI_COMM_WORLD);
                for (int m = 0; rank == 0 && m < k * MESSAGES; m++)
                    MPI_Recv(buffer, SIZES[i], MPI_BYTE, MPI_ANY_SOURCE, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                for (int m = 0; rank > 0 && rank <= k && m < MESSAGES; m++)
                    MPI_Ssend(buffer, SIZES[i], MPI_BYTE, 0, k, MPI_COMM_WORLD);
            }
    free(buffer);
    MPI_Finalize();
    return 0;
}
