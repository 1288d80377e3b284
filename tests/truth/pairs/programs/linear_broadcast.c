/* The root compresses and sends its model to each of seven ranks itself, 3 ms each; in a tree those that have it pass
 * it on. */
#include "pair.h"
#define COUNT 1000

static double model[COUNT];

REGION static void compress(void) {
    pair_sleep(3);
}

REGION static void send_to(int to) {
    compress();
    MPI_Send(model, COUNT, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
}

REGION static void distribute_model(void) {
    if (rank > 0)
        MPI_Recv(model, COUNT, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!IS_FIXED) {
        for (int to = 1; rank == 0 && to < ranks; ++to)
            send_to(to);
        return;
    }
    int first = 1;
    while (first <= rank)
        first *= 2;
    for (; rank + first < ranks; first *= 2)
        send_to(rank + first);
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    for (int step = 0; step < 12; ++step) {
        distribute_model();
        pair_sleep(5);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pair_end();
    return 0;
}
