/* A large message needs the receiver inside MPI; the receiver computes for 20 ms behind its MPI_Irecv. A call of
 * MPI_Test in each of 20 slices lets the sender go. */
#include "pair.h"
#define BYTES (4 << 20)

REGION static void slice(void) {
    pair_sleep(1);
}

REGION static void receiver(char* block) {
    MPI_Request request;
    int done = 0;
    MPI_Irecv(block, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 20; ++i) {
        slice();
        if (IS_FIXED)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

REGION static void refill(void) {
    pair_sleep(15);
}

REGION static void fill(void) {
    pair_sleep(2);
}

REGION static void sender(char* block) {
    fill();
    MPI_Send(block, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    refill();
    MPI_Send(block, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    char* block = pair_memory(BYTES);
    for (int step = 0; step < 15; ++step) {
        if (rank == 0)
            sender(block);
        else {
            receiver(block);
            MPI_Recv(block, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    pair_end();
    return 0;
}
