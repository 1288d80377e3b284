/* Sends whose receive is posted late. */
#include "late.h"

enum { DATA = 1, READY = 2, OTHER = 3, MORE = 5 };

static void compute_late(const struct cal* c, MPI_Comm group, const struct cal_late* l) {
    enum { LOOKS = 50 };
    for (int i = 0; i < LOOKS; i++) {
        int here;
        cal_compute(c, l->delay_s / LOOKS);
        if (!l->silent)
            MPI_Iprobe(0, OTHER, group, &here, MPI_STATUS_IGNORE);
    }
}

static double wait_of_send(const struct cal* c, MPI_Comm group, const struct cal_late* l, int rank) {
    double waited = 0;
    if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, 1, READY, group, MPI_STATUS_IGNORE);
        double start = cal_now();
        MPI_Send(l->buffer, (int)l->bytes, MPI_BYTE, 1, DATA, group);
        waited = cal_since(c, start);
    } else {
        MPI_Send(NULL, 0, MPI_BYTE, 0, READY, group);
        compute_late(c, group, l);
        MPI_Recv(l->buffer, (int)l->bytes, MPI_BYTE, 0, DATA, group, MPI_STATUS_IGNORE);
    }
    return waited;
}

static int count_above(const double* waited, int n, double limit) {
    int above = 0;
    for (int i = 0; i < n; i++)
        above += waited[i] > limit;
    return above;
}

/* Whether a send of the size waits, by the majority; where the first tries don't agree (somebody else has the processor
 * now and then) there are five times as many. Rank 0 decides. No answer (false) when the time is over. */
static bool waits(struct cal* c, const struct cal_pair* pair, struct cal_late* l, int64_t bytes, int round) {
    double waited[MORE * CAL_MOST_TRIES];
    const int tries = l->tries;
    int rank, answer = 0, again = 0, n = tries;
    struct cal_result r;
    char keys[64];
    MPI_Comm_rank(pair->comm, &rank);
    l->bytes = bytes;
    l->delay_s = l->least_delay_s + (l->longest_delay_s - l->least_delay_s) * (double)bytes / (double)l->largest;
    for (int i = 0; i < tries && cal_may_continue(c, pair->comm); i++)
        waited[i] = wait_of_send(c, pair->comm, l, rank);
    if (c->over)
        return false;
    if (rank == 0) {
        int above = count_above(waited, tries, l->delay_s / 2);
        again = above > 0 && above < tries;
    }
    MPI_Bcast(&again, 1, MPI_INT, 0, pair->comm);
    for (; again && n < MORE * tries && cal_may_continue(c, pair->comm); n++)
        waited[n] = wait_of_send(c, pair->comm, l, rank);
    if (rank == 0) {
        cal_statistics(waited, n, c->accuracy, &r);
        r.batches = r.repeat = 1;
        answer = r.median_s > l->delay_s / 2;
        snprintf(keys, sizeof keys, "\"delay_s\": %.9g", l->delay_s);
        cal_emit(c, &r, round, l->silent ? "silent_receiver" : "protocol", pair->locality, bytes, keys);
    }
    MPI_Bcast(&answer, 1, MPI_INT, 0, pair->comm);
    return answer != 0;
}

int64_t cal_bisect(struct cal* c, const struct cal_pair* pair, struct cal_late* l, int round) {
    const int64_t largest = l->largest;
    int64_t eager = 0, waiting = 1;
    while (waiting <= largest && !waits(c, pair, l, waiting, round)) {
        eager = waiting;
        waiting = waiting < largest && 2 * waiting > largest ? largest : 2 * waiting;
    }
    if (waiting > largest)
        return -1; /* every size is eager */
    while (waiting - eager > 1) {
        const int64_t middle = eager + (waiting - eager) / 2;
        if (waits(c, pair, l, middle, round))
            waiting = middle;
        else
            eager = middle;
    }
    return c->over ? -1 : eager;
}
