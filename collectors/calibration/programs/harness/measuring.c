/* A visit to a point: as many samples as its accuracy needs and its time allows. */
#include "parts.h"

#include <math.h>
#include <string.h>

/* Share of the remaining time that a visit may take; rank 0's counts. */
static double slice_of_time(const struct cal* c) {
    double left = c->budget_s - (cal_now() - c->started_s);
    return left > 0 ? left / (c->visits_left > 1 ? c->visits_left : 1) : 0;
}

/* How many repetitions make a sample, and how many samples a batch: rank 0 decides, everybody follows. */
static void plan(struct cal* c, MPI_Comm group, cal_sample* sample, void* what, int* repeat, int* batch) {
    enum { LONGEST = 128, FEWEST = 6, HOPELESS = 3 };
    int rank, both[2] = {1, HOPELESS};
    MPI_Comm_rank(group, &rank);
    double start = cal_now();
    sample(c, group, what, 1);
    /* Where one uses up several visits' time (ranks that wait for a processor) there is no time to warm up. */
    int warm = cal_now() - start < 4 * slice_of_time(c);
    MPI_Bcast(&warm, 1, MPI_INT, 0, group);
    if (warm) {
        start = cal_now();
        sample(c, group, what, 2);
        double once = (cal_now() - start) / 2;
        double times = once > 0 ? ceil(c->sample_s / once) : LONGEST;
        both[0] = times > LONGEST ? LONGEST : (int)times;
        double affordable = once > 0 ? 2 * slice_of_time(c) / (once * both[0]) : c->batch;
        both[1] = affordable >= c->batch ? c->batch : affordable < FEWEST ? FEWEST : (int)affordable;
    }
    if (both[1] > c->batch)
        both[1] = c->batch;
    MPI_Bcast(both, 2, MPI_INT, 0, group);
    *repeat = both[0];
    *batch = both[1];
}

static void timers_medians(const double* samples, int n, int timers, double* scratch, struct cal_result* r) {
    r->lowest_s = INFINITY;
    r->highest_s = 0;
    for (int t = 0; t < timers; t++) {
        for (int i = 0; i < n; i++)
            scratch[i] = samples[(size_t)i * (size_t)timers + (size_t)t];
        double median = cal_median(scratch, n);
        r->lowest_s = fmin(r->lowest_s, median);
        r->highest_s = fmax(r->highest_s, median);
    }
}

bool cal_may_continue(struct cal* c, MPI_Comm group) {
    int rank, over = c->over;
    if (over || c->until_s == 0)
        return !over;
    MPI_Comm_rank(group, &rank);
    if (rank == 0)
        over = cal_now() > c->until_s;
    MPI_Bcast(&over, 1, MPI_INT, 0, group);
    MPI_Barrier(group); /* or rank 0 would begin a sample while the others still hear that there is one */
    c->over = over;
    return !over;
}

void cal_measure(struct cal* c, MPI_Comm group, int timers, cal_sample* sample, void* what, struct cal_result* result) {
    int rank, size, repeat, batch, more = 1;
    memset(result, 0, sizeof *result);
    if (c->counting) {
        c->visits_left += 1;
        return;
    }
    if (!cal_may_continue(c, group))
        return;
    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &size);
    double start = cal_now(), slice = slice_of_time(c);
    plan(c, group, sample, what, &repeat, &batch);
    const size_t most = (size_t)batch * (size_t)c->most_batches;
    double* mine = cal_memory(c, batch * (int64_t)sizeof *mine);
    double* gathered = rank == 0 ? cal_memory(c, batch * (int64_t)size * (int64_t)sizeof *mine) : NULL;
    double* by_timer = rank == 0 ? cal_memory(c, (int64_t)most * timers * (int64_t)sizeof *mine) : NULL;
    double* kept = rank == 0 ? cal_memory(c, (int64_t)most * (int64_t)sizeof *mine) : NULL;
    double* scratch = rank == 0 ? cal_memory(c, (int64_t)(most > (size_t)timers ? most : (size_t)timers) * 8) : NULL;
    int n = 0;
    result->repeat = repeat;
    while (more) {
        for (int i = 0; i < batch && cal_may_continue(c, group); i++)
            mine[i] = sample(c, group, what, repeat);
        if (c->over)
            break;
        MPI_Gather(mine, batch, MPI_DOUBLE, gathered, batch, MPI_DOUBLE, 0, group);
        if (rank == 0) {
            for (int i = 0; i < batch; i++, n++) {
                double* row = by_timer + (size_t)n * (size_t)timers;
                for (int t = 0; t < timers; t++)
                    row[t] = gathered[(size_t)t * (size_t)batch + (size_t)i];
                memcpy(scratch, row, (size_t)timers * sizeof *row);
                kept[n] = cal_median(scratch, timers);
            }
            result->batches++;
            memcpy(scratch, kept, (size_t)n * sizeof *kept);
            cal_statistics(scratch, n, c->accuracy, result);
            double passed = cal_now() - start;
            /* Another batch only if it is likely to fit. */
            more = !result->reached && result->batches < c->most_batches &&
                   passed * (result->batches + 1) / result->batches <= slice;
        }
        MPI_Bcast(&more, 1, MPI_INT, 0, group);
    }
    if (c->over)
        memset(result, 0, sizeof *result);
    else if (rank == 0)
        timers_medians(by_timer, n, timers, scratch, result);
    c->visits_left -= 1;
    /* In the opposite order of their allocation, and NULL at ranks that have none. */
    cal_release(c, scratch);
    cal_release(c, kept);
    cal_release(c, by_timer);
    cal_release(c, gathered);
    cal_release(c, mine);
}

void cal_rounds(struct cal* c, cal_visits* visits, void* what) {
    c->counting = true;
    visits(c, what, 0);
    c->counting = false;
    c->visits_left *= c->rounds;
    for (int round = 0; round < c->rounds; round++)
        visits(c, what, round);
}
