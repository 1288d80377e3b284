/* One-sided transfers between the two ranks of a pair. */
#include "transfer.h"

#include <string.h>

enum { READY = 3, DONE = 4, LINE = 64 /* bytes of a cache's line; of longer ones each is read more than once */ };

static void transfer(const struct cal_transfer* t) {
    if (t->get)
        MPI_Get(t->buffer, t->bytes, MPI_BYTE, 1, 0, t->bytes, MPI_BYTE, t->window);
    else
        MPI_Put(t->buffer, t->bytes, MPI_BYTE, 1, 0, t->bytes, MPI_BYTE, t->window);
    MPI_Win_flush(1, t->window);
}

/* Each rank's part of what precedes: the data are written, or those of the put before are read. */
static void prepare(const struct cal_transfer* t, int rank, int value) {
    if (rank == 0 && !t->get)
        memset(t->buffer, value, (size_t)t->bytes);
    if (rank == 1 && t->get)
        memset(t->memory, value, (size_t)t->bytes);
    for (int i = 0; rank == 1 && !t->get && i < t->bytes; i += LINE)
        (void)*(const volatile char*)(t->memory + i);
}

double cal_one_transfer(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_transfer* t = what;
    double total = 0;
    int rank;
    MPI_Comm_rank(group, &rank);
    for (int r = 0; r < repeat; r++) {
        prepare(t, rank, r);
        if (rank == 0) {
            MPI_Recv(NULL, 0, MPI_BYTE, 1, READY, group, MPI_STATUS_IGNORE);
            double start = cal_now();
            transfer(t);
            total += cal_since(c, start);
            MPI_Send(NULL, 0, MPI_BYTE, 1, DONE, group);
        } else {
            MPI_Send(NULL, 0, MPI_BYTE, 0, READY, group);
            MPI_Recv(NULL, 0, MPI_BYTE, 0, DONE, group, MPI_STATUS_IGNORE);
        }
    }
    return total / repeat;
}
