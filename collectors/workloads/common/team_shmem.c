/* Every collective result is made from one exchange: each element shows its part in symmetric memory, and the others
 * get it. OpenSHMEM 1.4 has reductions of doubles and of 64-bit words only with work arrays, and none of unsigned ones.
 */
#include <shmem.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "team.h"

static int all_elements;

struct team team_open(int argc, char** argv, const char* name) {
    (void)argc;
    (void)argv;
    (void)name;
    shmem_init();
    return (struct team){shmem_my_pe(), shmem_n_pes(), &all_elements};
}

void team_close(struct team* team) {
    (void)team;
    shmem_finalize();
}

struct team team_again(const struct team* team, const char* name) {
    (void)name;
    return *team;
}

void team_drop(struct team* team) {
    (void)team;
}

struct team team_alone(void) {
    return (struct team){0, 1, NULL};
}

double team_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void team_barrier(const struct team* team) {
    if (team->group)
        shmem_barrier_all();
}

/* `words[rank]` 8-byte words of each element, one element's after the other's; `most` of them at the most. */
static void gather(const struct team* team, const void* mine, const int* words, int most, void* all) {
    char* to = all;
    if (!team->group) {
        memcpy(all, mine, (size_t)words[0] * 8);
        return;
    }
    char* shown = shmem_malloc((size_t)(most > 0 ? most : 1) * 8);
    memcpy(shown, mine, (size_t)words[team->rank] * 8);
    shmem_barrier_all();
    for (int pe = 0; pe < team->ranks; to += (size_t)words[pe++] * 8)
        if (words[pe] > 0)
            shmem_getmem(to, shown, (size_t)words[pe] * 8, pe);
    shmem_barrier_all(); /* no rank frees what another one still reads */
    shmem_free(shown);
}

void team_gather(const struct team* team, const double* mine, const int* doubles, double* all) {
    int most = 0;
    for (int pe = 0; pe < team->ranks; pe++)
        most = doubles[pe] > most ? doubles[pe] : most;
    gather(team, mine, doubles, most, all);
}

static void* gather_equal(const struct team* team, const void* mine, int n) {
    void* all = lp_allocate((int64_t)team->ranks * n, 8);
    int* words = LP_NEW(int, team->ranks);
    for (int pe = 0; pe < team->ranks; pe++)
        words[pe] = n;
    gather(team, mine, words, n, all);
    free(words);
    return all;
}

void team_gather_words(const struct team* team, const int64_t* mine, int n, int64_t* all) {
    void* gathered = gather_equal(team, mine, n);
    memcpy(all, gathered, (size_t)n * (size_t)team->ranks * 8);
    free(gathered);
}

void team_sum(const struct team* team, double* values, int n) {
    double* all = gather_equal(team, values, n);
    memset(values, 0, (size_t)n * sizeof *values);
    for (int k = 0; k < n * team->ranks; k++)
        values[k % n] += all[k];
    free(all);
}

void team_sum_words(const struct team* team, uint64_t* values, int n) {
    uint64_t* all = gather_equal(team, values, n);
    memset(values, 0, (size_t)n * sizeof *values);
    for (int k = 0; k < n * team->ranks; k++)
        values[k % n] += all[k];
    free(all);
}

double team_largest(const struct team* team, double value) {
    double* all = gather_equal(team, &value, 1);
    for (int pe = 0; pe < team->ranks; pe++)
        value = all[pe] > value ? all[pe] : value;
    free(all);
    return value;
}

int team_lowest(const struct team* team, int value) {
    return (int)-team_largest(team, -value);
}
