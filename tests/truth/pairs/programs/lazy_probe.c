/* A server looks for requests by MPI_Iprobe between blocks of 8 ms of its work; its client waits for the answer. Blocks
 * of 1 ms let it answer early. */
#include "pair.h"
#define WORK_MS 160

REGION static void background(double ms) {
    pair_sleep(ms);
}

REGION static void serve_pending(int* served) {
    int flag, request;
    MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (!flag)
        return;
    MPI_Recv(&request, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&request, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    ++*served;
}

REGION static void client(void) {
    int request = 0;
    for (int i = 0; i < 40; ++i) {
        pair_sleep(2);
        MPI_Send(&request, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&request, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv) {
    const double block = IS_FIXED ? 1 : 8;
    int served = 0;
    pair_begin(&argc, &argv);
    if (rank == 1)
        client();
    else
        for (double done = 0; done < WORK_MS || served < 40; done += block) {
            background(block);
            serve_pending(&served);
        }
    pair_end();
    return 0;
}
