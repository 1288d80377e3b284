/* Rank 0 has a question for each of three servers, 5 ms each, and waits for each answer before the next question. */
#include "pair.h"

REGION static void look_up(void) {
    pair_sleep(5);
}

REGION static void server(void) {
    int question;
    MPI_Recv(&question, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    look_up();
    MPI_Send(&question, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

REGION static void query_all(void) {
    int answer, question = 0;
    for (int to = 1; to < ranks; ++to) {
        MPI_Send(&question, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        if (!IS_FIXED)
            MPI_Recv(&answer, 1, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int from = 1; IS_FIXED && from < ranks; ++from)
        MPI_Recv(&answer, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    for (int step = 0; step < 20; ++step) {
        if (rank == 0) {
            pair_sleep(5);
            query_all();
        } else
            server();
    }
    pair_end();
    return 0;
}
