/* For sched_getaffinity. */
#define _GNU_SOURCE

#include "calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* smpicc includes smpi_helpers.h in front of everything. */
#if defined(SMPI_HELPERS_H) || defined(SMPI_H)
#define SIMULATED 1
#include <simgrid/host.h>
#include <smpi/smpi.h>
#else
#define SIMULATED 0
#include <sched.h>
#include <unistd.h>
#endif

enum { NAME = 128, CPUS = 96 };

struct cal_place {
    char host[NAME];
    char cpus[CPUS]; /* the processors that the rank is bound to, e.g. "0-3,8" */
    int socket;      /* of these; -1 when they are of several, or unknown */
};

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* ---- clock and computation ---- */

double cal_now(void) {
    return MPI_Wtime();
}

double cal_since(const struct cal* c, double start_s) {
    double passed = cal_now() - start_s - c->clock_cost_s;
    return passed > 0 ? passed : 0;
}

#if SIMULATED
void cal_compute(const struct cal* c, double seconds) {
    (void)c;
    if (seconds > 0)
        smpi_execute_flops(seconds * sg_host_get_speed(sg_host_self()));
}

static void measure_clock(struct cal* c) {
    /* Simulated time stands still between calls (smpi/wtime:0); the resolution is that of a double. */
    c->clock_cost_s = 0;
    c->clock_resolution_s = 1e-12;
    c->spins_per_s = 0;
}
#else
/* One chain of dependent operations: its duration depends on nothing but the core's clock. Through volatile at both
 * ends, so that no compiler moves it past the clock or shares it between calls. */
static void spin(int64_t times) {
    volatile double ends = 1.0;
    double x = ends;
    for (int64_t i = 0; i < times; i++)
        x = x * 0.999999 + 1e-6;
    ends = x;
}

void cal_compute(const struct cal* c, double seconds) {
    spin((int64_t)(seconds * c->spins_per_s));
}

static void measure_clock(struct cal* c) {
    enum { TIMES = 1001, SPINS = 20000 };
    double cost[TIMES], least = 1;
    for (int i = 0; i < TIMES; i++) {
        double a = cal_now(), b = cal_now();
        cost[i] = b - a;
    }
    qsort(cost, TIMES, sizeof *cost, by_value);
    c->clock_cost_s = cost[TIMES / 2];
    c->clock_resolution_s = MPI_Wtick();
    for (int i = 0; i < TIMES; i++) {
        double a = cal_now(), b;
        while ((b = cal_now()) == a)
            ;
        if (b - a < least)
            least = b - a;
    }
    /* What can be told apart: MPI_Wtick, or the cost of looking where that is more (a clock in finer steps than that).
     */
    if (least > c->clock_resolution_s || c->clock_resolution_s <= 0)
        c->clock_resolution_s = least;
    double fastest = 1e9;
    for (int i = 0; i < 50; i++) {
        double start = cal_now();
        spin(SPINS);
        double took = cal_now() - start;
        if (took < fastest)
            fastest = took;
    }
    c->spins_per_s = SPINS / (fastest > 0 ? fastest : 1e-9);
}
#endif

/* ---- options ---- */

void cal_refuse(const struct cal* c, const char* what, const char* value) {
    if (c->rank == 0)
        fprintf(stderr, "calibration: %s: %s\n", what, value);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static const char* text_of(const struct cal* c, const char* option, const char* otherwise) {
    for (int i = 1; i + 1 < c->argc; i += 2)
        if (strncmp(c->argv[i], "--", 2) == 0 && strcmp(c->argv[i] + 2, option) == 0)
            return c->argv[i + 1];
    return otherwise;
}

static double number_in(const struct cal* c, const char* text, char** end) {
    double value = strtod(text, end);
    if (*end == text || !isfinite(value) || value < 0)
        cal_refuse(c, "not a number of at least 0", text);
    return value;
}

double cal_number(const struct cal* c, const char* option, double otherwise) {
    const char* text = text_of(c, option, NULL);
    char* end;
    if (text == NULL)
        return otherwise;
    double value = number_in(c, text, &end);
    if (*end != '\0')
        cal_refuse(c, "not a number of at least 0", text);
    return value;
}

struct cal_list cal_list(const struct cal* c, const char* option, const char* otherwise) {
    const char* text = text_of(c, option, otherwise);
    struct cal_list list = {0, cal_memory(c, (int64_t)(strlen(text) + 1) * (int64_t)sizeof(double))};
    while (*text != '\0') {
        char* end;
        list.value[list.count++] = number_in(c, text, &end);
        if (*end != ',' && *end != '\0')
            cal_refuse(c, "not a list of numbers with commas", text);
        text = *end == ',' ? end + 1 : end;
    }
    return list;
}

bool cal_wants(const struct cal* c, const char* option, const char* word, const char* otherwise) {
    const char* text = text_of(c, option, otherwise);
    const size_t length = strlen(word);
    for (const char* found = strstr(text, word); found != NULL; found = strstr(found + 1, word))
        if ((found == text || found[-1] == ',') && (found[length] == ',' || found[length] == '\0'))
            return true;
    return false;
}

void* cal_memory(const struct cal* c, int64_t bytes) {
    const size_t size = ((size_t)(bytes > 0 ? bytes : 1) + 63) / 64 * 64;
    void* memory = aligned_alloc(64, size);
    if (memory == NULL)
        cal_refuse(c, "no memory for the buffers", "ask for smaller messages");
    memset(memory, 1, size);
    return memory;
}

/* ---- places ---- */

#if SIMULATED
static void find_place(struct cal_place* place) {
    int length;
    char name[MPI_MAX_PROCESSOR_NAME];
    MPI_Get_processor_name(name, &length);
    snprintf(place->host, sizeof place->host, "%s", name);
    snprintf(place->cpus, sizeof place->cpus, "0");
    place->socket = 0;
}
#else
static int package_of(int cpu) {
    char path[96];
    int package = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    FILE* file = fopen(path, "r");
    if (file == NULL)
        return 0; /* a machine or container that does not tell has one socket as far as can be known */
    if (fscanf(file, "%d", &package) != 1)
        package = 0;
    fclose(file);
    return package;
}

static void find_place(struct cal_place* place) {
    cpu_set_t set;
    size_t used = 0;
    bool first = true;
    if (gethostname(place->host, sizeof place->host - 1) != 0)
        snprintf(place->host, sizeof place->host, "unknown");
    place->socket = -1;
    snprintf(place->cpus, sizeof place->cpus, "unknown");
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &set))
            continue;
        int last = cpu, package = package_of(cpu);
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set) && package_of(last + 1) == package)
            last++;
        if (used < sizeof place->cpus - 24)
            used += (size_t)snprintf(place->cpus + used, sizeof place->cpus - used, last > cpu ? "%s%d-%d" : "%s%d",
                                     first ? "" : ",", cpu, last);
        place->socket = first || place->socket == package ? package : -1;
        if (!first && place->socket == -1)
            break; /* of several sockets */
        first = false;
        cpu = last;
    }
}
#endif

#if SIMULATED
static bool bind(const struct cal* c) {
    (void)c;
    return false;
}
#else
/* Ranks that may run on several processors are moved by the scheduler, also onto each other's: where there are enough,
 * each takes one of those that it shares with others. Returns whether this rank is bound now and wasn't before. */
static bool bind(const struct cal* c) {
    cpu_set_t set, one;
    int before = 0, sharing = 0;
    const struct cal_place* mine = &c->places[c->rank];
    for (int i = 0; i < c->ranks; i++) {
        const bool same = strcmp(c->places[i].host, mine->host) == 0 && strcmp(c->places[i].cpus, mine->cpus) == 0;
        sharing += same;
        before += same && i < c->rank;
    }
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2 || CPU_COUNT(&set) < sharing)
        return false;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set) && before-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            return sched_setaffinity(0, sizeof one, &one) == 0;
        }
    }
    return false;
}
#endif

static void share_places(struct cal* c) {
    struct cal_place mine;
    memset(&mine, 0, sizeof mine);
    find_place(&mine);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, c->places, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
}

/* 0 same socket, 1 same node, 2 other node. */
static int distance(const struct cal_place* a, const struct cal_place* b) {
    if (strcmp(a->host, b->host) != 0)
        return 2;
    return a->socket >= 0 && a->socket == b->socket ? 0 : 1;
}

static const char* const CLASSES[] = {"same_socket", "same_node", "other_node"};

const char* cal_farthest(const struct cal* c, const int* a, const int* b, int pairs) {
    int farthest = 0;
    for (int i = 0; i < pairs; i++) {
        int d = distance(&c->places[a[i]], &c->places[b[i]]);
        farthest = d > farthest ? d : farthest;
    }
    return CLASSES[farthest];
}

static void find_pairs(struct cal* c) {
    for (int class = 0; class < 3; class++) {
        int partner = 1;
        while (partner < c->ranks && distance(&c->places[0], &c->places[partner]) != class)
            partner++;
        if (partner == c->ranks)
            continue;
        struct cal_pair* pair = &c->pairs[c->pair_count++];
        pair->locality = CLASSES[class];
        MPI_Comm_split(MPI_COMM_WORLD, c->rank == 0 || c->rank == partner ? 0 : MPI_UNDEFINED, c->rank, &pair->comm);
    }
}

/* ---- start and end ---- */

static void put_text(FILE* out, const char* text) {
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    }
    fputc('"', out);
}

static void put_host(const struct cal* c) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", date[32];
    int length;
    time_t now = time(NULL);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(c->out, "{\"family\": \"host\", \"ranks\": %d, \"hosts\": [", c->ranks);
    for (int i = 0; i < c->ranks; i++) {
        fputs(i ? ", " : "", c->out);
        put_text(c->out, c->places[i].host);
    }
    fputs("], \"cpus\": [", c->out);
    for (int i = 0; i < c->ranks; i++) {
        fputs(i ? ", " : "", c->out);
        put_text(c->out, c->places[i].cpus);
    }
    fputs("], \"sockets\": [", c->out);
    for (int i = 0; i < c->ranks; i++)
        fprintf(c->out, "%s%d", i ? ", " : "", c->places[i].socket);
    fputs("], \"mpi_library\": ", c->out);
    put_text(c->out, library);
    fprintf(c->out, ", \"clock\": \"MPI_Wtime%s\", \"clock_resolution_s\": %.4g, \"date\": \"%s\"}\n",
            SIMULATED ? " (simulated)" : "", c->clock_resolution_s, date);
}

void cal_open(struct cal* c, int argc, char** argv) {
    memset(c, 0, sizeof *c);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->ranks);
    c->argc = argc;
    c->argv = argv;
    if (argc % 2 == 0)
        cal_refuse(c, "every option has a value; the last one has none", argv[argc - 1]);
    if (c->ranks < 2)
        cal_refuse(c, "needs at least 2 ranks", "start it with mpirun -n 2");
    c->budget_s = cal_number(c, "budget-s", 10);
    c->rounds = (int)cal_number(c, "rounds", 1);
    c->batch = (int)cal_number(c, "batch", 50);
    c->accuracy = cal_number(c, "accuracy", 0.05);
    if (c->batch < 2)
        cal_refuse(c, "--batch must be at least 2", "LOGP has 50");
    c->places = cal_memory(c, c->ranks * (int64_t)sizeof *c->places);
    share_places(c);
    if (cal_number(c, "bind", 1) > 0) {
        int bound = bind(c);
        MPI_Allreduce(MPI_IN_PLACE, &bound, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (bound)
            share_places(c);
    }
    measure_clock(c);
#if !SIMULATED
    int neighbours = 0;
    for (int i = 0; i < c->ranks; i++)
        neighbours += strcmp(c->places[i].host, c->places[c->rank].host) == 0;
    c->crowded = neighbours > sysconf(_SC_NPROCESSORS_ONLN);
    MPI_Allreduce(MPI_IN_PLACE, &c->crowded, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
#endif
    find_pairs(c);
    if (c->rank == 0) {
        const char* path = text_of(c, "output", NULL);
        if (path == NULL)
            cal_refuse(c, "--output is missing", "name the file to write");
        else if ((c->out = fopen(path, "w")) == NULL)
            cal_refuse(c, "cannot write", path);
        put_host(c);
    }
    c->started_s = cal_now();
}

int cal_close(struct cal* c) {
    int failed = 0;
    if (c->rank == 0)
        failed = fclose(c->out) != 0;
    for (int i = 0; i < c->pair_count; i++)
        if (c->pairs[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&c->pairs[i].comm);
    free(c->places);
    MPI_Finalize();
    return failed;
}

void cal_rest(const struct cal* c) {
#if SIMULATED
    (void)c;
#else
    if (c->crowded) {
        MPI_Request all;
        int done = 0;
        const struct timespec nap = {0, 500000};
        MPI_Ibarrier(MPI_COMM_WORLD, &all);
        for (MPI_Test(&all, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&all, &done, MPI_STATUS_IGNORE))
            nanosleep(&nap, NULL);
    }
#endif
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- samples ---- */

static double median_of_sorted(const double* sorted, int n) {
    return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

void cal_statistics(double* samples, int n, double accuracy, struct cal_result* r) {
    double sum = 0;
    qsort(samples, (size_t)n, sizeof *samples, by_value);
    for (int i = 0; i < n; i++)
        sum += samples[i];
    r->samples = n;
    r->minimum_s = samples[0];
    r->median_s = median_of_sorted(samples, n);
    r->mean_s = sum / n;
    /* The median lies between the order statistics n/2 -+ 1.96 sqrt(n)/2 with 95 % (binomial, normal approximation). */
    int low = (int)floor(0.5 * n - 0.98 * sqrt(n)) - 1, high = (int)ceil(0.5 * n + 0.98 * sqrt(n));
    low = low < 0 ? 0 : low;
    high = high > n - 1 ? n - 1 : high;
    r->half_width_s = fmax(r->median_s - samples[low], samples[high] - r->median_s);
    r->reached = n >= 6 && r->half_width_s <= accuracy * r->median_s;
}

double cal_slice(const struct cal* c) {
    double left = c->budget_s - (cal_now() - c->started_s);
    return left > 0 ? left / (c->visits_left > 1 ? c->visits_left : 1) : 0;
}

/* How many repetitions make a sample, and how many samples a batch: rank 0 decides, everybody follows. */
static void plan(struct cal* c, MPI_Comm group, cal_sample* sample, void* what, int* repeat, int* batch) {
    enum { LONGEST = 128, FEWEST = 6, HOPELESS = 3 };
    const double target_s = 20e-6; /* a sample, beside which the clock's own tens of nanoseconds are small */
    int rank, both[2] = {1, HOPELESS};
    MPI_Comm_rank(group, &rank);
    double start = cal_now();
    sample(c, group, what, 1);
    /* Where one alone takes the time of several visits (ranks that wait for a processor) there is no time to warm up.
     */
    int warm = cal_now() - start < 4 * cal_slice(c);
    MPI_Bcast(&warm, 1, MPI_INT, 0, group);
    if (warm) {
        start = cal_now();
        sample(c, group, what, 2);
        double once = (cal_now() - start) / 2;
        double times = once > 0 ? ceil(target_s / once) : LONGEST;
        both[0] = times > LONGEST ? LONGEST : (int)times;
        double affordable = once > 0 ? 2 * cal_slice(c) / (once * both[0]) : c->batch;
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
        qsort(scratch, (size_t)n, sizeof *scratch, by_value);
        double median = median_of_sorted(scratch, n);
        r->lowest_s = fmin(r->lowest_s, median);
        r->highest_s = fmax(r->highest_s, median);
    }
}

void cal_measure(struct cal* c, MPI_Comm group, int timers, cal_sample* sample, void* what, struct cal_result* result) {
    enum { MOST_BATCHES = 40 };
    int rank, size, repeat, batch, more = 1;
    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &size);
    double start = cal_now(), slice = cal_slice(c);
    plan(c, group, sample, what, &repeat, &batch);
    const size_t most = (size_t)batch * MOST_BATCHES;
    double* mine = cal_memory(c, batch * (int64_t)sizeof *mine);
    double* gathered = rank == 0 ? cal_memory(c, batch * (int64_t)size * (int64_t)sizeof *mine) : NULL;
    double* by_timer = rank == 0 ? cal_memory(c, (int64_t)most * timers * (int64_t)sizeof *mine) : NULL;
    double* kept = rank == 0 ? cal_memory(c, (int64_t)most * (int64_t)sizeof *mine) : NULL;
    double* scratch = rank == 0 ? cal_memory(c, (int64_t)(most > (size_t)timers ? most : (size_t)timers) * 8) : NULL;
    int n = 0;
    memset(result, 0, sizeof *result);
    result->repeat = repeat;
    while (more) {
        for (int i = 0; i < batch; i++)
            mine[i] = sample(c, group, what, repeat);
        MPI_Gather(mine, batch, MPI_DOUBLE, gathered, batch, MPI_DOUBLE, 0, group);
        if (rank == 0) {
            for (int i = 0; i < batch; i++, n++) {
                double* row = by_timer + (size_t)n * (size_t)timers;
                for (int t = 0; t < timers; t++)
                    row[t] = gathered[(size_t)t * (size_t)batch + (size_t)i];
                memcpy(scratch, row, (size_t)timers * sizeof *row);
                qsort(scratch, (size_t)timers, sizeof *row, by_value);
                kept[n] = median_of_sorted(scratch, timers);
            }
            result->batches++;
            memcpy(scratch, kept, (size_t)n * sizeof *kept);
            cal_statistics(scratch, n, c->accuracy, result);
            double passed = cal_now() - start;
            /* Another batch only if it is likely to fit. */
            more = !result->reached && result->batches < MOST_BATCHES &&
                   passed * (result->batches + 1) / result->batches <= slice;
        }
        MPI_Bcast(&more, 1, MPI_INT, 0, group);
    }
    if (rank == 0)
        timers_medians(by_timer, n, timers, scratch, result);
    c->visits_left -= 1;
    free(mine);
    free(gathered);
    free(by_timer);
    free(kept);
    free(scratch);
}

void cal_emit(struct cal* c, const struct cal_result* r, int round, const char* family, const char* locality,
              int64_t bytes, const char* keys) {
    if (c->rank != 0)
        return;
    fprintf(c->out, "{\"family\": \"%s\", \"locality\": \"%s\", \"bytes\": %lld, ", family, locality, (long long)bytes);
    fprintf(c->out, "%s%s", keys, keys[0] ? ", " : "");
    fprintf(c->out, "\"minimum_s\": %.9g, \"median_s\": %.9g, \"mean_s\": %.9g, \"half_width_s\": %.4g, ", r->minimum_s,
            r->median_s, r->mean_s, r->half_width_s);
    fprintf(c->out, "\"samples\": %d, \"batches\": %d, \"reached\": %s, \"round\": %d, \"repeat\": %d}\n", r->samples,
            r->batches, r->reached ? "true" : "false", round, r->repeat);
}
