/* Two ranks, so many rounds: three persistent collectives, of which no two have as many bytes, started in another order
 * by each rank, with a nonblocking one somewhere between them, and the third made anew every fifth round at first. With
 * "gaps" recording is off in a third of the rounds, in others on each rank. */
#include "persistent.h"

#include <stdlib.h>
#include <string.h>

#ifndef NO_PERSISTENT_COLLECTIVES

enum { THREE = 3, ORDERS = 6 };
static const int orders[ORDERS][THREE] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

int main(int argc, char** argv) {
    const long rounds = argc > 1 ? atol(argv[1]) : 12;
    const int gaps = argc > 2 && !strcmp(argv[2], "gaps");
    int rank;
    long data[THREE][8] = {{0}}, sum[8], many = 0, one = 1;
    MPI_Request r[THREE];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast_init(data[0], 1, MPI_LONG, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Bcast_init(data[1], 2, MPI_LONG, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Allreduce_init(data[2], sum, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
    for (long i = 0; i < rounds; i++) {
        const int* order = orders[rank ? (i * 5 + 3) % ORDERS : i % ORDERS];
        if (gaps)
            MPI_Pcontrol((i / 4 + rank) % 3 != 0);
        if (i && i < 50 && i % 5 == 0) {
            MPI_Request_free(&r[2]);
            MPI_Allreduce_init(data[2], sum, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
        }
        if (!rank)
            data[0][0] = data[1][0] = i;
        MPI_Request started[THREE + 1]; /* MPICH 4.0 waits for an inactive one for ever */
        int n = 0;
        for (int k = 0; k < THREE; k++) {
            if (k == (rank + i) % THREE)
                MPI_Iallreduce(&one, &many, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &started[n++]);
            if (order[k] != 1 || i % 2) { /* the second one every other round */
                started[n] = r[order[k]];
                MPI_Start(&started[n++]);
            }
        }
        MPI_Waitall(n, started, MPI_STATUSES_IGNORE);
        if (data[0][0] != i || many != 2)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (gaps)
        MPI_Pcontrol(1);
    for (int k = 0; k < THREE; k++)
        MPI_Request_free(&r[k]);
    MPI_Finalize();
    if (rank == 0)
        printf("rounds %ld\n", rounds);
    return 0;
}
#endif
