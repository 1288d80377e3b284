/* Rank 0 waits for the results of all workers before it merges the first; MPI_Waitany merges those that are there while
 * the others compute. */
#include "pair.h"

REGION static void merge(void) {
    pair_sleep(4);
}

REGION static void compute(void) {
    pair_sleep(4 * rank);
}

REGION static void collect(void) {
    static double results[64][100];
    MPI_Request requests[64];
    for (int from = 1; from < ranks; ++from)
        MPI_Irecv(results[from], 100, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, requests + from - 1);
    if (!IS_FIXED)
        MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
    for (int done = 0, which; done < ranks - 1; ++done) {
        if (IS_FIXED)
            MPI_Waitany(ranks - 1, requests, &which, MPI_STATUS_IGNORE);
        merge();
    }
}

int main(int argc, char** argv) {
    static double result[100];
    pair_begin(&argc, &argv);
    for (int step = 0; step < 15; ++step) {
        if (rank == 0)
            collect();
        else {
            compute();
            MPI_Send(result, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
        MPI_Bcast(result, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    pair_end();
    return 0;
}
