/* So many rounds around the ranks: each receives from its left neighbour before it sends on to its right one, with a
 * request, then all meet. How it ends: "finalize", "abort", "exec", "kill", or "hang" in a deadlock of ranks 0 and 1.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, size;
    const long rounds = argc > 1 ? atol(argv[1]) : 1000;
    const char* end = argc > 2 ? argv[2] : "finalize";
    const int pause_us = argc > 3 ? atoi(argv[3]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (long i = 0; i < rounds; i++) {
        long from = -1;
        MPI_Request request;
        MPI_Irecv(&from, 1, MPI_LONG, left, 5, MPI_COMM_WORLD, &request);
        MPI_Send(&i, 1, MPI_LONG, right, 5, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (from != i)
            MPI_Abort(MPI_COMM_WORLD, 9);
        if (i % 4 == 3)
            MPI_Barrier(MPI_COMM_WORLD);
        if (pause_us)
            usleep((useconds_t)pause_us);
    }
    if (!strcmp(end, "hang") && rank < 2) {
        int never;
        MPI_Recv(&never, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!strcmp(end, "abort") && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(end, "kill"))
        raise(SIGKILL);
    if (!strcmp(end, "exec"))
        execl("/bin/true", "true", (char*)0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("rounds %ld\n", rounds);
    MPI_Finalize();
    return 0;
}
