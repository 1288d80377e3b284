/* EM3D with one-sided puts in OpenSHMEM: the paper's shared memory has no closer relative on today's machines (SENS
 * section 4.1, "EM3D with Shared Memory": barriers between phases, no receiving code). Each value goes straight to its
 * place among the other processing element's ghosts; options as in em3d.c. */
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../common/memory.h"
#include "../../common/options.h"
#include "../../common/processor.h"
#include "../graph.h"
#include "../schedule.h"

struct phase {
    struct half_graph half;
    struct schedule out;
    double* staging;
    double* ghosts;      /* symmetric */
    int64_t* put_offset; /* where the own values begin among each other element's ghosts */
    double* sources;     /* own values, then the ghosts as the update wants them */
};

struct settings {
    struct graph_options graph;
    int order, spread;
    int64_t iterations, block;
    double cycle_ns, send_cycles, edge_cycles;
};

/* Symmetric objects: reductions and addresses must be the same on all elements. */
static uint64_t all_checksums, my_checksum;
static double all_times[2], my_times[2];

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void phase_open(struct phase* p, const struct settings* s, enum field target, int me, int npes) {
    graph_build(&p->half, &s->graph, target, me, npes);
    p->out = schedule_build(p->half.send_start, npes, s->block);
    schedule_order(&p->out, (enum order)s->order, (enum spread)s->spread, me, npes, (uint64_t)s->graph.seed);
    p->staging = LP_NEW(double, p->half.send_start[npes]);
    p->put_offset = LP_NEW(int64_t, npes);
    p->sources = LP_NEW(double, p->half.n_sources + p->half.n_ghosts);

    /* Every element tells every other where its values go, and all take the largest ghost area (symmetric heap). */
    int64_t* starts = shmem_malloc((size_t)(npes + 1) * sizeof *starts);
    for (int pe = 0; pe < npes; pe++)
        starts[pe] = p->half.recv_start[pe];
    starts[npes] = p->half.n_ghosts;
    shmem_barrier_all();
    int64_t largest = 1;
    for (int pe = 0; pe < npes; pe++) {
        int64_t ghosts;
        shmem_getmem(&p->put_offset[pe], &starts[me], sizeof ghosts, pe);
        shmem_getmem(&ghosts, &starts[npes], sizeof ghosts, pe);
        if (ghosts > largest)
            largest = ghosts;
    }
    shmem_barrier_all();
    shmem_free(starts);
    p->ghosts = shmem_malloc((size_t)largest * sizeof *p->ghosts);
}

static void phase_close(struct phase* p) {
    shmem_free(p->ghosts);
    graph_free(&p->half);
    free(p->out.blocks);
    free(p->staging);
    free(p->put_offset);
    free(p->sources);
}

static void put_values(struct phase* p, const struct settings* s, const double* own, struct processor* processor) {
    for (int64_t i = 0; i < p->out.n; i++) {
        const struct block* b = &p->out.blocks[i];
        double* values = p->staging + b->first;
        for (int32_t k = 0; k < b->count; k++)
            values[k] = own[p->half.send_source[b->first + k]];
        processor_busy(processor, s->send_cycles);
        shmem_putmem_nbi(p->ghosts + p->put_offset[b->peer] + (int64_t)b->tag * s->block, values,
                         (size_t)b->count * sizeof(double), b->peer);
    }
    shmem_quiet();
}

static int run(const struct settings* s, int me, int npes) {
    struct phase phase[2];
    double* own[2];
    struct processor processor;
    processor_open(&processor, s->cycle_ns);
    for (int f = 0; f < 2; f++) {
        phase_open(&phase[f], s, (enum field)f, me, npes);
        own[f] = LP_NEW(double, phase[f].half.n_targets);
        for (int64_t i = 0; i < phase[f].half.n_targets; i++)
            own[f][i] = graph_initial(&s->graph, (enum field)f, phase[f].half.first_target + i);
    }
    shmem_barrier_all();
    double start = now_s(), exchange_s = 0;
    for (int64_t iteration = 0; iteration < s->iterations; iteration++) {
        for (int f = 0; f < 2; f++) {
            struct phase* p = &phase[f];
            double phase_start = now_s();
            put_values(p, s, own[1 - f], &processor);
            exchange_s += now_s() - phase_start;
            shmem_barrier_all(); /* all values are there */
            memcpy(p->sources, own[1 - f], (size_t)p->half.n_sources * sizeof(double));
            memcpy(p->sources + p->half.n_sources, p->ghosts, (size_t)p->half.n_ghosts * sizeof(double));
            graph_update(&p->half, p->sources, own[f]);
            processor_busy(&processor, s->edge_cycles * (double)p->half.in_start[p->half.n_targets]);
            shmem_barrier_all(); /* all have read them */
        }
    }
    my_times[0] = now_s() - start;
    my_times[1] = exchange_s;
    my_checksum = 0;
    for (int f = 0; f < 2; f++)
        my_checksum += graph_checksum((enum field)f, phase[f].half.first_target, phase[f].half.n_targets, own[f]);
    int status = 0;
    shmem_barrier_all();
    /* Gets instead of a reduction: OpenSHMEM 1.4 has none for unsigned 64-bit sums without work arrays. */
    if (me == 0) {
        uint64_t expected = graph_serial_checksum(&s->graph, s->iterations);
        for (int pe = 0; pe < npes; pe++) {
            uint64_t sum;
            double times[2];
            shmem_getmem(&sum, &my_checksum, sizeof sum, pe);
            shmem_getmem(times, my_times, sizeof times, pe);
            all_checksums += sum;
            all_times[1] += times[1] / npes;
        }
        printf("em3d: %d elements, checksum %016" PRIx64 "\n", npes, all_checksums);
        printf("em3d: total_s %.6f, mean of elements: exchange_s %.6f\n", my_times[0], all_times[1]);
        status = all_checksums != expected;
        if (status)
            fprintf(stderr, "em3d: wrong result: checksum %016" PRIx64 ", serially %016" PRIx64 "\n", all_checksums,
                    expected);
    }
    shmem_barrier_all();
    for (int f = 0; f < 2; f++) {
        phase_close(&phase[f]);
        free(own[f]);
    }
    return status;
}

int main(int argc, char** argv) {
    shmem_init();
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    struct settings s = {
        .graph = {.nodes = 0, .degree = 32, .nonlocal = 1, .span = 15, .parts = 0, .seed = 1},
        .order = ORDER_ORIGINAL,
        .spread = SPREAD_RANDOM,
        .iterations = 20,
        .block = 10,
        .cycle_ns = 1000,
        .send_cycles = 15,
        .edge_cycles = 10,
    };
    const struct lp_option options[] = {
        {"order", LP_CHOICE, &s.order, "original|improved", 0, 0, "order of the puts: with or without the hot spot"},
        {"spread", LP_CHOICE, &s.spread, "random|staggered", 0, 0, "what the improved order is"},
        {"nodes", LP_INTEGER, &s.graph.nodes, NULL, 0, 2e9, "E and H nodes together; 0: 100 per part"},
        {"degree", LP_INTEGER, &s.graph.degree, NULL, 1, 1e6, "edges out of each node"},
        {"nonlocal", LP_REAL, &s.graph.nonlocal, NULL, 0, 1, "share of edges that leave their part"},
        {"span", LP_INTEGER, &s.graph.span, NULL, 1, 1e9, "how many parts away such an edge may end"},
        {"parts", LP_INTEGER, &s.graph.parts, NULL, 0, 1e6, "parts of the graph; 0: one per element"},
        {"iterations", LP_INTEGER, &s.iterations, NULL, 1, 1e9, "updates of E and H"},
        {"block", LP_INTEGER, &s.block, NULL, 1, 1e8, "values per put"},
        {"cycle-ns", LP_REAL, &s.cycle_ns, NULL, 0, 1e9, "cycle of the emulated processor; 0: none"},
        {"send-cycles", LP_REAL, &s.send_cycles, NULL, 0, 1e9, "its o_s per put"},
        {"edge-cycles", LP_REAL, &s.edge_cycles, NULL, 0, 1e9, "its work per edge"},
        {"seed", LP_INTEGER, &s.graph.seed, NULL, 0, 1e15, "of the graph and the random order"},
    };
    enum lp_parse_result parsed =
        lp_parse(argc, argv, "em3d_shmem", "EM3D with OpenSHMEM puts (SENS 4.1)", options,
                 (int)(sizeof options / sizeof *options), me == 0 ? stdout : NULL, me == 0 ? stderr : NULL);
    int status = parsed == LP_BAD_USAGE ? 2 : 0;
    if (parsed == LP_RUN) {
        if (s.graph.parts == 0)
            s.graph.parts = npes;
        if (s.graph.nodes == 0)
            s.graph.nodes = 100 * s.graph.parts;
        if (s.graph.nodes % 2 != 0 || s.graph.nodes / 2 < s.graph.parts || s.graph.parts < npes) {
            if (me == 0)
                fprintf(stderr,
                        "em3d_shmem: --nodes must be even, at least 2 per part, and --parts at least the "
                        "number of elements\n");
            status = 2;
        } else {
            status = run(&s, me, npes);
        }
    }
    shmem_finalize();
    return status;
}
