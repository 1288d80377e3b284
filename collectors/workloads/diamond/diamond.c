/* Diamond DAG: comparison of two DNA chains by dynamic programming, an n x n grid of tasks.
 *
 * Paper: LoGPC (Moritz & Frank) section 5.2, Fig. 7-9, equation 15. The grid is split into one horizontal stripe per
 * process, a stripe into b blocks. A block needs the top row of the block below, n/b values, from the process with the
 * stripe below, and sends its own top row upwards. A task is two additions and one multiplication, and takes 100 cycles
 * in the paper (--task-cycles); --value-cycles is alpha, the cost of aggregating one value (not printed there).
 *   --bytes    data per message; the paper's version of the program in which it varies from 16 to 320 kB.
 *   --mapping  stripe s on process s (default), on a random process, or along a snake through a mesh of --mesh-width
 *              columns, so that neighbouring stripes are neighbouring processors (perfect).
 * On real MPI the emulated processor has Alewife's 50 ns per cycle. Every rank compares its top row with a serial run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../common/app.h"
#include "../common/memory.h"
#include "../common/processor.h"
#include "../common/random.h"
#include "../common/team_mpi.h"

enum mapping { MAPPING_DEFAULT = 0, MAPPING_RANDOM = 1, MAPPING_PERFECT = 2 };

struct settings {
    int64_t n, blocks, bytes, mesh_width, repeat, seed;
    int mapping;
    double cycle_ns, task_cycles, value_cycles;
};

/* How well the i-th base of one chain fits the j-th of the other. */
static double score(const struct settings* s, int64_t i, int64_t j) {
    const uint64_t seed = (uint64_t)s->seed;
    return (lp_random(seed, 1, (uint64_t)i) & 3) == (lp_random(seed, 2, (uint64_t)j) & 3) ? 1.0 : -0.25;
}

/* Tasks of rows first..end-1, columns left..right-1. `row` holds the row below on entry, the last row on return; `side`
 * the column to the left on entry, the last column on return. */
static void compute(const struct settings* s, int64_t first, int64_t end, int64_t left, int64_t right, double* row,
                    double* side) {
    for (int64_t i = first; i < end; i++) {
        double left_value = side[i - first];
        for (int64_t j = left; j < right; j++) {
            left_value = 0.5 * (left_value + row[j]) + score(s, i, j);
            row[j] = left_value;
        }
        side[i - first] = left_value;
    }
}

static void map_stripes(const struct settings* s, int ranks, int32_t* rank_of) {
    for (int stripe = 0; stripe < ranks; stripe++) {
        int row = stripe / (int)s->mesh_width, column = stripe % (int)s->mesh_width;
        int width = (row + 1) * (int)s->mesh_width <= ranks ? (int)s->mesh_width : ranks - row * (int)s->mesh_width;
        rank_of[stripe] =
            s->mapping == MAPPING_PERFECT && row % 2 == 1 ? row * (int32_t)s->mesh_width + width - 1 - column : stripe;
    }
    if (s->mapping == MAPPING_RANDOM)
        lp_shuffle((uint64_t)s->seed, rank_of, ranks);
}

static int run(const struct settings* s, const struct app* app) {
    const int64_t n = s->n, width = n / s->blocks;
    const int64_t length = s->bytes / (int64_t)sizeof(double); /* of a message in doubles; at least `width` */
    int32_t* rank_of = LP_NEW(int32_t, app->ranks);
    int stripe = 0;
    MPI_Comm comm;
    struct processor processor;
    processor_open(&processor, s->cycle_ns);
    MPI_Comm_dup(team_comm(&app->team), &comm);
    MPI_Comm_set_name(comm, "diamond stripes");
    map_stripes(s, app->ranks, rank_of);
    while (rank_of[stripe] != app->rank)
        stripe++;
    const int64_t first = stripe * n / app->ranks, end = (stripe + 1) * n / app->ranks;
    double* row = LP_NEW(double, n);
    double* side = LP_NEW(double, end - first);
    double* message = LP_NEW(double, length);

    double makespan_s = 0, wait_s = 0;
    int64_t damaged = 0;
    for (int64_t repetition = 0; repetition < s->repeat; repetition++) {
        memset(row, 0, (size_t)n * sizeof(double));
        memset(side, 0, (size_t)(end - first) * sizeof(double));
        MPI_Barrier(team_comm(&app->team));
        double start = MPI_Wtime();
        for (int64_t block = 0; block < s->blocks; block++) {
            const int64_t left = block * width;
            if (stripe > 0) {
                double waiting = MPI_Wtime();
                MPI_Recv(message, (int)length, MPI_DOUBLE, rank_of[stripe - 1], 0, comm, MPI_STATUS_IGNORE);
                wait_s += MPI_Wtime() - waiting;
                memcpy(row + left, message, (size_t)width * sizeof(double));
                for (int64_t k = width; k < length; k++)
                    damaged += message[k] != (double)(block + k);
            }
            compute(s, first, end, left, left + width, row, side);
            processor_busy(&processor,
                           s->task_cycles * (double)((end - first) * width) + s->value_cycles * (double)width);
            if (stripe + 1 < app->ranks) {
                memcpy(message, row + left, (size_t)width * sizeof(double));
                for (int64_t k = width; k < length; k++)
                    message[k] = (double)(block + k);
                MPI_Send(message, (int)length, MPI_DOUBLE, rank_of[stripe + 1], 0, comm);
            }
        }
        double mine_s = MPI_Wtime() - start, last_s;
        MPI_Allreduce(&mine_s, &last_s, 1, MPI_DOUBLE, MPI_MAX, team_comm(&app->team));
        makespan_s += last_s;
    }

    double* serial = LP_NEW(double, n);
    double* serial_side = LP_NEW(double, end);
    int64_t wrong = 0;
    compute(s, 0, end, 0, n, serial, serial_side);
    for (int64_t j = 0; j < n; j++)
        wrong += serial[j] != row[j];
    struct spread_of waiting = app_spread(app, wait_s);
    if (app->rank == 0)
        printf("diamond: %d ranks, n %" PRId64 ", %" PRId64 " blocks, %" PRId64
               " bytes a message, makespan_s %.6f, mean of ranks: receive_s %.6f\n",
               app->ranks, n, s->blocks, s->bytes, makespan_s / (double)s->repeat, waiting.mean / (double)s->repeat);
    int status = app_verdict(app, wrong == 0 && damaged == 0,
                             "%" PRId64 " of %" PRId64 " values of stripe %d wrong, %" PRId64 " damaged otherwise",
                             wrong, n, stripe, damaged);
    free(serial);
    free(serial_side);
    free(message);
    free(row);
    free(side);
    free(rank_of);
    MPI_Comm_free(&comm);
    return status;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {
        .n = 1024, .blocks = 64, .mesh_width = 8, .repeat = 1, .seed = 1, .cycle_ns = 50, .task_cycles = 100};
    const struct lp_option options[] = {
        {"n", LP_INTEGER, &s.n, NULL, 1, 1e6, "tasks in each direction (LoGPC: 1,024)"},
        {"blocks", LP_INTEGER, &s.blocks, NULL, 1, 1e6, "per stripe, a divisor of n (LoGPC: 64)"},
        {"bytes", LP_INTEGER, &s.bytes, NULL, 0, 1e9,
         "of a message (LoGPC: 16,000 to 320,000); 0: the n/b values alone"},
        {"mapping", LP_CHOICE, &s.mapping, "default|random|perfect", 0, 0, "of stripes to processes"},
        {"mesh-width", LP_INTEGER, &s.mesh_width, NULL, 1, 1e6,
         "columns of the mesh, for the perfect mapping (Alewife: 8)"},
        {"repeat", LP_INTEGER, &s.repeat, NULL, 1, 1e6, "evaluations of the grid"},
        {"cycle-ns", LP_REAL, &s.cycle_ns, NULL, 0, 1e9, "cycle of the emulated processor (Alewife 50 ns); 0: none"},
        {"task-cycles", LP_REAL, &s.task_cycles, NULL, 0, 1e9, "its time for a task (LoGPC: 100)"},
        {"value-cycles", LP_REAL, &s.value_cycles, NULL, 0, 1e9,
         "its time to aggregate a value (alpha of equation 15)"},
        {"seed", LP_INTEGER, &s.seed, NULL, 0, 1e15, "of the chains and the random mapping"},
    };
    enum lp_parse_result parsed = app_open(&app, argc, argv, "diamond", "Diamond DAG in stripes (LoGPC 5.2, Fig. 9)",
                                           options, (int)(sizeof options / sizeof *options));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    if (s.n % s.blocks != 0 || s.n < app.ranks)
        return app_close(&app,
                         app_refuse(&app, "n %" PRId64 ": --blocks must divide it, and the ranks not exceed it", s.n));
    const int64_t least = s.n / s.blocks * (int64_t)sizeof(double);
    if (s.bytes == 0)
        s.bytes = least;
    if (s.bytes < least || s.bytes % (int64_t)sizeof(double) != 0)
        return app_close(&app, app_refuse(&app,
                                          "--bytes %" PRId64 ": a message has at least n/b = %" PRId64
                                          " bytes of values, and a multiple of 8",
                                          s.bytes, least));
    return app_close(&app, run(&s, &app));
}
