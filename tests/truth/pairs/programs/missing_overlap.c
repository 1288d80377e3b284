/* The halo of the neighbour arrives 8 ms after the receive was posted; the interior needs no halo and is computed
 * behind the wait instead of before it. */
#include "pair.h"

REGION static void interior(void) {
    pair_sleep(8);
}

REGION static void boundary(void) {
    pair_sleep(2);
}

REGION static void assemble_halo(void) {
    pair_sleep(8);
}

REGION static void solver(double* halo) {
    MPI_Request request;
    MPI_Irecv(halo, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    if (IS_FIXED)
        interior();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!IS_FIXED)
        interior();
    boundary();
    MPI_Send(halo, 1000, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
}

REGION static void halo_server(double* halo) {
    assemble_halo();
    MPI_Send(halo, 1000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(halo, 1000, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    double halo[1000] = {0};
    pair_begin(&argc, &argv);
    for (int step = 0; step < 25; ++step) {
        if (rank == 0)
            solver(halo);
        else
            halo_server(halo);
    }
    pair_end();
    return 0;
}
