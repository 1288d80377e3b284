/* MPI_Ssend keeps sender and receiver in step although their work alternates; MPI_Send lets the receiver's long steps
 * and the sender's long steps overlap. One number: Open MPI returns from the send of a larger message within a node
 * once the receiver's library has taken it. */
#include "pair.h"

static double data[1];

REGION static void produce(int step) {
    pair_sleep(step % 2 ? 4 : 20);
}

REGION static void consume(int step) {
    pair_sleep(step % 2 ? 4 : 20);
}

REGION static void stream(int step) {
    if (rank == 0) {
        produce(step);
        if (IS_FIXED)
            MPI_Send(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Ssend(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        consume(step);
    }
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    for (int step = 0; step < 30; ++step)
        stream(step);
    pair_end();
    return 0;
}
