/* Layered 3-D FFT: x and y on the own planes, a transpose over all ranks, then z.
 *
 * Paper: log_nP and log_3P (Cameron, Ge & Sun) section 4.3.4, Fig. 12; grids of the NAS Parallel Benchmark FT, scaled
 * down by --scale in each direction. The three versions of the transpose are in transpose.h. Three checks: every
 * transposed value is in its place bit by bit, the energy is conserved (Parseval), and four coefficients equal the sums
 * that define them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "../common/app.h"
#include "../common/checksum.h"
#include "../common/memory.h"
#include "../common/team_mpi.h"
#include "../logpost_compute.h"
#include "local_fft.h"
#include "transpose.h"

#define SAMPLES 4 /* coefficients that are checked */

struct settings {
    int version, exchange, grid;
    int64_t scale, iterations;
    int64_t nx, ny, nz;
};

/* NAS Parallel Benchmark FT, classes S to C. */
static const int64_t GRIDS[][3] = {{64, 64, 64}, {128, 128, 32}, {256, 256, 128}, {512, 256, 256}, {512, 512, 512}};

static double complex initial(int64_t iteration, int64_t i) {
    return lp_uniform((uint64_t)iteration, (uint64_t)i, 1) - 0.5 +
           I * (lp_uniform((uint64_t)iteration, (uint64_t)i, 2) - 0.5);
}

static double flops(const struct settings* s, int64_t length, int ranks) {
    return 5 * log2((double)length) * (double)(s->nx * s->ny * s->nz) / ranks; /* the usual count of radix 2 */
}

static uint64_t element_sum(uint64_t position, double complex x) {
    return lp_checksum_term(2 * position, creal(x)) + lp_checksum_term(2 * position + 1, cimag(x));
}

/* The coefficients to check: sample k of the iteration, as index into the whole grid. */
static void sample(const struct settings* s, int64_t iteration, int k, int64_t at[3]) {
    at[0] = lp_below(11, (uint64_t)iteration, 3 * (uint64_t)k, s->nx);
    at[1] = lp_below(11, (uint64_t)iteration, 3 * (uint64_t)k + 1, s->ny);
    at[2] = lp_below(11, (uint64_t)iteration, 3 * (uint64_t)k + 2, s->nz);
}

static int run(const struct settings* s, const struct app* app) {
    const int64_t n = s->nx * s->ny, planes = s->nz / app->ranks, columns = n / app->ranks;
    const int64_t first_plane = app->rank * planes, first_column = app->rank * columns;
    double complex* slab = LP_NEW(double complex, n* planes);
    double complex* column = LP_NEW(double complex, n* planes);
    struct fft_plan x, y, z;
    struct transpose transpose;
    fft_plan_open(&x, s->nx);
    fft_plan_open(&y, s->ny);
    fft_plan_open(&z, s->nz);
    transpose_open(&transpose, (enum version)s->version, (enum exchange)s->exchange, n, s->nz, team_comm(&app->team));

    double total_s = 0, worst_energy = 0, worst_coefficient = 0;
    int displaced = 0;
    for (int64_t iteration = 0; iteration < s->iterations; iteration++) {
        double complex expected[SAMPLES] = {0};
        double energy[2] = {0, 0}; /* before, after */
        for (int64_t i = 0; i < n * planes; i++)
            slab[i] = initial(iteration, first_plane * n + i);
        for (int64_t i = 0; i < n * planes; i++)
            energy[0] += creal(slab[i] * conj(slab[i]));
        for (int k = 0; k < SAMPLES; k++) {
            int64_t at[3];
            sample(s, iteration, k, at);
            for (int64_t i = 0; i < n * planes; i++) {
                double turns = (double)(i % s->nx * at[0] % s->nx) / (double)s->nx +
                               (double)(i / s->nx % s->ny * at[1] % s->ny) / (double)s->ny +
                               (double)((first_plane + i / n) * at[2] % s->nz) / (double)s->nz;
                expected[k] += slab[i] * (cos(TWO_PI * turns) - I * sin(TWO_PI * turns));
            }
        }
        MPI_Barrier(team_comm(&app->team));
        double start = MPI_Wtime();
        for (int64_t plane = 0; plane < planes; plane++) {
            for (int64_t row = 0; row < s->ny; row++)
                fft_line(&x, slab + plane * n + row * s->nx, 1);
            for (int64_t i = 0; i < s->nx; i++)
                fft_line(&y, slab + plane * n + i, s->nx);
        }
        logpost_account_flops(flops(s, s->nx, app->ranks) + flops(s, s->ny, app->ranks));
        total_s += MPI_Wtime() - start;

        uint64_t places[2] = {0, 0}; /* before, after */
        for (int64_t i = 0; i < n * planes; i++)
            places[0] += element_sum((uint64_t)((i % n) * s->nz + first_plane + i / n), slab[i]);
        MPI_Barrier(team_comm(&app->team));
        start = MPI_Wtime();
        transpose_run(&transpose, slab, column);
        total_s += MPI_Wtime() - start;
        for (int64_t i = 0; i < n * planes; i++)
            places[1] += element_sum((uint64_t)(first_column * s->nz + i), column[i]);

        start = MPI_Wtime();
        for (int64_t c = 0; c < columns; c++)
            fft_line(&z, column + c * s->nz, 1);
        logpost_account_flops(flops(s, s->nz, app->ranks));
        total_s += MPI_Wtime() - start;

        for (int64_t i = 0; i < n * planes; i++)
            energy[1] += creal(column[i] * conj(column[i]));
        MPI_Allreduce(MPI_IN_PLACE, places, 2, MPI_UINT64_T, MPI_SUM, team_comm(&app->team));
        MPI_Allreduce(MPI_IN_PLACE, energy, 2, MPI_DOUBLE, MPI_SUM, team_comm(&app->team));
        MPI_Allreduce(MPI_IN_PLACE, expected, SAMPLES, MPI_C_DOUBLE_COMPLEX, MPI_SUM, team_comm(&app->team));
        displaced += places[0] != places[1];
        const double points = (double)(n * s->nz);
        worst_energy = fmax(worst_energy, fabs(energy[1] / (points * energy[0]) - 1));
        for (int k = 0; k < SAMPLES; k++) {
            int64_t at[3];
            sample(s, iteration, k, at);
            int64_t c = at[1] * s->nx + at[0] - first_column;
            if (c >= 0 && c < columns) /* relative to the size of a typical coefficient */
                worst_coefficient =
                    fmax(worst_coefficient, cabs(column[c * s->nz + at[2]] - expected[k]) / sqrt(points * energy[0]));
        }
    }
    struct spread_of total = app_spread(app, total_s), packing = app_spread(app, transpose.pack_s),
                     exchange = app_spread(app, transpose.exchange_s);
    if (app->rank == 0) {
        printf("fft3d: %d ranks, grid %" PRId64 " x %" PRId64 " x %" PRId64 ", %" PRId64
               " bytes to each rank per transpose\n",
               app->ranks, s->nx, s->ny, s->nz, columns * planes * (int64_t)sizeof(double complex));
        printf("fft3d: total_s %.6f, mean of ranks: pack_s %.6f, exchange_s %.6f\n", total.largest, packing.mean,
               exchange.mean);
    }
    /* Rounding grows with the square root of log2(points) at most; 1e-12 is far above it and far below any error. */
    int status = app_verdict(app, !displaced && worst_energy < 1e-12 && worst_coefficient < 1e-12,
                             "%d transposes displaced or changed values, energy off by %.2g, coefficients by %.2g",
                             displaced, worst_energy, worst_coefficient);
    transpose_close(&transpose);
    fft_plan_close(&x);
    fft_plan_close(&y);
    fft_plan_close(&z);
    free(slab);
    free(column);
    return status;
}

int main(int argc, char** argv) {
    struct app app;
    struct settings s = {.scale = 1, .iterations = 10};
    const struct lp_option options[] = {
        {"version", LP_CHOICE, &s.version, "ddt|pack|opt", 0, 0,
         "of the transpose: datatypes, packing, packing in tiles"},
        {"exchange", LP_CHOICE, &s.exchange, "messages|collective", 0, 0,
         "MPI_Isend and MPI_Irecv, or MPI_Alltoall (ddt: MPI_Alltoallw)"},
        {"grid", LP_CHOICE, &s.grid, "S|W|A|B|C", 0, 0, "class of NAS FT (paper: B on 4 and 8, C on 16 processors)"},
        {"scale", LP_INTEGER, &s.scale, NULL, 1, 64, "divides the grid in each direction; a power of two"},
        {"iterations", LP_INTEGER, &s.iterations, NULL, 1, 1e6, "transforms, each of new data"},
    };
    enum lp_parse_result parsed = app_open(&app, argc, argv, "fft3d", "transpose of a 3-D FFT (log3P 4.3.4, Fig. 12)",
                                           options, (int)(sizeof options / sizeof *options));
    if (parsed != LP_RUN)
        return app_close(&app, parsed == LP_BAD_USAGE ? 2 : 0);
    s.nx = GRIDS[s.grid][0] / s.scale;
    s.ny = GRIDS[s.grid][1] / s.scale;
    s.nz = GRIDS[s.grid][2] / s.scale;
    if ((s.scale & (s.scale - 1)) != 0 || s.nz < 2 || s.nz % app.ranks != 0 || s.nx * s.ny % app.ranks != 0)
        return app_close(&app, app_refuse(&app,
                                          "grid %" PRId64 " x %" PRId64 " x %" PRId64 " on %d ranks: --scale must be a "
                                          "power of two, and the number of ranks divide nz and nx ny",
                                          s.nx, s.ny, s.nz, app.ranks));
    if (s.nx * s.ny * (int64_t)sizeof(double complex) > INT32_MAX)
        return app_close(&app, app_refuse(&app, "a plane has more than 2 GiB; use a larger --scale"));
    return app_close(&app, run(&s, &app));
}
