/* Eager or rendezvous: the time of a send whose receive is posted late, by message size.
 *
 * The receiver says that it is there, computes for a while without calling MPI, and only then receives. An eager send
 * returns at once, a rendezvous waits for the delay. From the sizes 1, 2, 4, … the first waiting one is found, and
 * between it and the one before it a bisection goes on until two neighbouring sizes differ. All sizes that were tried
 * are written. log_nP and log_3P 3.1: "short", "long" (eager) and "very long" (handshake) messages of MPICH.
 *
 * The while must be long beside the copying, and grows with it so that small messages on a slow network need not wait
 * as long as large ones: it is --least-delay-s for no bytes, --delay-s for --largest, and linear between.
 *
 *   --largest N    largest size that is tried
 *   --tries N      sends at each size; the median decides */
#include <stdlib.h>

#include "calibration.h"

enum { DATA = 1, READY = 2, OTHER = 3, LIMIT = 200, MORE = 5 };

struct late {
    int64_t bytes, largest;
    double delay_s, least_delay_s, longest_delay_s; /* of this size, of none, of the largest */
    bool silent;
    char* buffer;
    int tries;
};

static void compute_late(const struct cal* c, MPI_Comm group, const struct late* l) {
    enum { LOOKS = 50 };
    for (int i = 0; i < LOOKS; i++) {
        int here;
        cal_compute(c, l->delay_s / LOOKS);
        if (!l->silent)
            MPI_Iprobe(0, OTHER, group, &here, MPI_STATUS_IGNORE);
    }
}

static double wait_of_send(const struct cal* c, MPI_Comm group, const struct late* l, int rank) {
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
 * now and then) there are five times as many. Rank 0 decides. */
static bool waits(struct cal* c, const struct cal_pair* pair, struct late* l, int64_t bytes, int round) {
    double waited[MORE * LIMIT];
    const int tries = l->tries;
    int rank, answer = 0, again = 0, n = tries;
    struct cal_result r;
    char keys[64];
    MPI_Comm_rank(pair->comm, &rank);
    l->bytes = bytes;
    l->delay_s = l->least_delay_s + (l->longest_delay_s - l->least_delay_s) * (double)bytes / (double)l->largest;
    for (int i = 0; i < tries; i++)
        waited[i] = wait_of_send(c, pair->comm, l, rank);
    if (rank == 0) {
        int above = count_above(waited, tries, l->delay_s / 2);
        again = above > 0 && above < tries;
    }
    MPI_Bcast(&again, 1, MPI_INT, 0, pair->comm);
    for (; again && n < MORE * tries; n++)
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

static void bisect(struct cal* c, const struct cal_pair* pair, struct late* l, int round) {
    const int64_t largest = l->largest;
    int64_t eager = 0, waiting = 1;
    while (waiting <= largest && !waits(c, pair, l, waiting, round)) {
        eager = waiting;
        waiting = waiting < largest && 2 * waiting > largest ? largest : 2 * waiting;
    }
    if (waiting > largest)
        return; /* every size is eager */
    while (waiting - eager > 1) {
        const int64_t middle = eager + (waiting - eager) / 2;
        if (waits(c, pair, l, middle, round))
            waiting = middle;
        else
            eager = middle;
    }
}

static void visit_pair(struct cal* c, void* what, int round, const struct cal_pair* pair) {
    struct late* l = what;
    for (int silent = 0; silent < 2; silent++) {
        l->silent = silent;
        bisect(c, pair, l, round);
    }
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    struct late l = {
        .largest = (int64_t)cal_number(&c, "largest", 1 << 20),
        .longest_delay_s = cal_number(&c, "delay-s", 1e-3),
        .tries = (int)cal_number(&c, "tries", 5),
    };
    l.least_delay_s = cal_number(&c, "least-delay-s", l.longest_delay_s);
    if (l.tries < 1 || l.tries > LIMIT || l.largest < 1)
        cal_refuse(&c, "--tries must be 1 to 200 and --largest at least", "1");
    l.buffer = cal_memory(&c, l.largest);
    /* Not cal_rounds: which sizes are tried depends on the answers. */
    for (int round = 0; round < c.rounds; round++)
        cal_each_pair(&c, visit_pair, &l, round);
    free(l.buffer);
    return cal_close(&c);
}
