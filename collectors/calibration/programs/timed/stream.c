#include "stream.h"

#include <math.h>

enum { DATA = 1, DONE = 2 };

double cal_streams(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_stream* s = what;
    int rank;
    MPI_Comm_rank(group, &rank);
    const bool sender = rank < s->pairs;
    const int partner = sender ? rank + s->pairs : rank - s->pairs;
    MPI_Barrier(group);
    double start = cal_now();
    for (int r = 0; r < repeat; r++) {
        for (int i = 0; i < s->window; i++) {
            char* part = s->memory + (int64_t)i * s->bytes;
            if (sender)
                MPI_Isend(part, s->bytes, MPI_BYTE, partner, DATA, group, &s->requests[i]);
            else
                MPI_Irecv(part, s->bytes, MPI_BYTE, partner, DATA, group, &s->requests[i]);
        }
        MPI_Waitall(s->window, s->requests, MPI_STATUSES_IGNORE);
    }
    if (sender)
        MPI_Recv(NULL, 0, MPI_BYTE, partner, DONE, group, MPI_STATUS_IGNORE);
    else
        MPI_Send(NULL, 0, MPI_BYTE, partner, DONE, group);
    return cal_since(c, start) / repeat / s->window;
}

int cal_window(double bytes, double window_bytes, double most) {
    return (int)fmax(CAL_FEWEST_IN_WINDOW, fmin(most, window_bytes / fmax(bytes, 1)));
}
