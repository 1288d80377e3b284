#include "transpose.h"

#include <string.h>

#include "../common/memory.h"
#include "../logpost_compute.h"

#define TILE 32 /* complex doubles: 512 bytes (log3P 4.3.4, footnote 11) */

void transpose_open(struct transpose* t, enum version version, enum exchange exchange, int64_t n, int64_t nz,
                    MPI_Comm parent) {
    memset(t, 0, sizeof *t);
    t->version = version;
    t->exchange = exchange;
    MPI_Comm_dup(parent, &t->comm);
    MPI_Comm_set_name(t->comm, "fft3d transpose");
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->ranks);
    t->n = n;
    t->nz = nz;
    t->planes = nz / t->ranks;
    t->columns = n / t->ranks;
    t->requests = LP_NEW(MPI_Request, 2 * t->ranks);
    if (version == VERSION_DDT) {
        MPI_Datatype column;
        MPI_Type_vector((int)t->planes, (int)t->columns, (int)n, MPI_C_DOUBLE_COMPLEX, &t->submatrix);
        MPI_Type_vector((int)t->columns, 1, (int)nz, MPI_C_DOUBLE_COMPLEX, &column);
        MPI_Type_create_hvector((int)t->planes, 1, (MPI_Aint)sizeof(double complex), column, &t->transposed);
        MPI_Type_commit(&t->submatrix);
        MPI_Type_commit(&t->transposed);
        MPI_Type_free(&column);
    } else {
        t->out = LP_NEW(double complex, n * t->planes);
        t->in = LP_NEW(double complex, n * t->planes);
    }
}

void transpose_close(struct transpose* t) {
    if (t->version == VERSION_DDT) {
        MPI_Type_free(&t->submatrix);
        MPI_Type_free(&t->transposed);
    }
    MPI_Comm_free(&t->comm);
    free(t->out);
    free(t->in);
    free(t->requests);
}

/* out[column][plane] = slab[plane][first + column] for one destination. */
static void pack(const struct transpose* t, const double complex* slab, double complex* out) {
    for (int64_t c = 0; c < t->columns; c++)
        for (int64_t z = 0; z < t->planes; z++)
            out[c * t->planes + z] = slab[z * t->n + c];
}

static void pack_tiles(const struct transpose* t, const double complex* slab, double complex* out) {
    double complex tile[TILE][TILE];
    for (int64_t z0 = 0; z0 < t->planes; z0 += TILE) {
        const int64_t z_end = z0 + TILE < t->planes ? z0 + TILE : t->planes;
        for (int64_t c0 = 0; c0 < t->columns; c0 += TILE) {
            const int64_t c_end = c0 + TILE < t->columns ? c0 + TILE : t->columns;
            for (int64_t z = z0; z < z_end; z++)
                for (int64_t c = c0; c < c_end; c++)
                    tile[c - c0][z - z0] = slab[z * t->n + c];
            for (int64_t c = c0; c < c_end; c++)
                for (int64_t z = z0; z < z_end; z++)
                    out[c * t->planes + z] = tile[c - c0][z - z0];
        }
    }
}

static void exchange_packed(struct transpose* t) {
    const int size = (int)(t->columns * t->planes);
    if (t->exchange == EXCHANGE_COLLECTIVE) {
        MPI_Alltoall(t->out, size, MPI_C_DOUBLE_COMPLEX, t->in, size, MPI_C_DOUBLE_COMPLEX, t->comm);
        return;
    }
    for (int k = 0; k < t->ranks; k++) {
        int from = (t->rank - k + t->ranks) % t->ranks, to = (t->rank + k) % t->ranks;
        MPI_Irecv(t->in + from * (int64_t)size, size, MPI_C_DOUBLE_COMPLEX, from, 0, t->comm, &t->requests[k]);
        MPI_Isend(t->out + to * (int64_t)size, size, MPI_C_DOUBLE_COMPLEX, to, 0, t->comm, &t->requests[t->ranks + k]);
    }
    MPI_Waitall(2 * t->ranks, t->requests, MPI_STATUSES_IGNORE);
}

static void exchange_described(struct transpose* t, const double complex* slab, double complex* column) {
    if (t->exchange == EXCHANGE_COLLECTIVE) {
        int* ones = LP_NEW(int, t->ranks);
        int* send_at = LP_NEW(int, t->ranks);
        int* receive_at = LP_NEW(int, t->ranks);
        MPI_Datatype* send = LP_NEW(MPI_Datatype, t->ranks);
        MPI_Datatype* receive = LP_NEW(MPI_Datatype, t->ranks);
        for (int r = 0; r < t->ranks; r++) {
            ones[r] = 1;
            send_at[r] = (int)(r * t->columns * (int64_t)sizeof(double complex));
            receive_at[r] = (int)(r * t->planes * (int64_t)sizeof(double complex));
            send[r] = t->submatrix;
            receive[r] = t->transposed;
        }
        MPI_Alltoallw(slab, ones, send_at, send, column, ones, receive_at, receive, t->comm);
        free(ones);
        free(send_at);
        free(receive_at);
        free(send);
        free(receive);
        return;
    }
    for (int k = 0; k < t->ranks; k++) {
        int from = (t->rank - k + t->ranks) % t->ranks, to = (t->rank + k) % t->ranks;
        MPI_Irecv(column + from * t->planes, 1, t->transposed, from, 0, t->comm, &t->requests[k]);
        MPI_Isend(slab + to * t->columns, 1, t->submatrix, to, 0, t->comm, &t->requests[t->ranks + k]);
    }
    MPI_Waitall(2 * t->ranks, t->requests, MPI_STATUSES_IGNORE);
}

void transpose_run(struct transpose* t, const double complex* slab, double complex* column) {
    double start = MPI_Wtime();
    if (t->version == VERSION_DDT) {
        exchange_described(t, slab, column);
        t->exchange_s += MPI_Wtime() - start;
        return;
    }
    const int64_t size = t->columns * t->planes;
    for (int r = 0; r < t->ranks; r++) {
        if (t->version == VERSION_OPT)
            pack_tiles(t, slab + r * t->columns, t->out + r * size);
        else
            pack(t, slab + r * t->columns, t->out + r * size);
    }
    logpost_account_flops((double)(2 * t->n * t->planes));
    double packed = MPI_Wtime();
    exchange_packed(t);
    double exchanged = MPI_Wtime();
    for (int r = 0; r < t->ranks; r++)
        for (int64_t c = 0; c < t->columns; c++)
            memcpy(column + c * t->nz + r * t->planes, t->in + r * size + c * t->planes,
                   (size_t)t->planes * sizeof(double complex));
    logpost_account_flops((double)(2 * t->n * t->planes));
    t->exchange_s += exchanged - packed;
    t->pack_s += MPI_Wtime() - exchanged + packed - start;
}
