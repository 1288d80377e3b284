/* Communication patterns whose network matters: halo, transpose, cg, random, pipeline.
 *
 *   traffic PATTERN BYTES ITERATIONS COMPUTE_US
 *
 * halo: six neighbours on a 3-D grid of ranks; transpose: pairwise exchange of all with all, nonblocking; cg: halo, and
 * an allreduce of 8 bytes twice an iteration; random: everybody sends to eight others that a seed drew; pipeline: a
 * wave through the ranks in order, of blocking messages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logpost_compute.h"

enum { MOST = 1024, PARTNERS = 8 };
static int rank, ranks, bytes;
static char *out, *in;

static void exchange(int count, const int* to, int from_count, const int* from) {
    MPI_Request requests[2 * MOST];
    for (int i = 0; i < from_count; ++i) {
        MPI_Irecv(in + (size_t)i * bytes, bytes, MPI_CHAR, from[i], 0, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < count; ++i) {
        MPI_Isend(out + (size_t)i * bytes, bytes, MPI_CHAR, to[i], 0, MPI_COMM_WORLD, &requests[from_count + i]);
    }
    MPI_Waitall(count + from_count, requests, MPI_STATUSES_IGNORE);
}

static int halo(int* to) {
    int dims[3] = {0, 0, 0}, here[3], count = 0;
    MPI_Dims_create(ranks, 3, dims);
    here[0] = rank % dims[0];
    here[1] = rank / dims[0] % dims[1];
    here[2] = rank / dims[0] / dims[1];
    for (int d = 0; d < 3; ++d) {
        for (int step = -1; step <= 1; step += 2) {
            int there[3] = {here[0], here[1], here[2]};
            there[d] = (there[d] + step + dims[d]) % dims[d];
            const int peer = there[0] + dims[0] * (there[1] + dims[1] * there[2]);
            if (peer != rank && (dims[d] > 2 || step > 0)) {
                to[count++] = peer;
            }
        }
    }
    return count;
}

int main(int argc, char** argv) {
    int to[MOST], from[MOST], count = 0, from_count = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* pattern = argv[1];
    if (argc != 5) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    bytes = atoi(argv[2]);
    const int iterations = atoi(argv[3]);
    const double compute_s = atof(argv[4]) * 1e-6;
    if (ranks > MOST) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    out = calloc((size_t)ranks * PARTNERS, (size_t)bytes);
    in = calloc((size_t)ranks * PARTNERS, (size_t)bytes);
    if (strcmp(pattern, "transpose") == 0) {
        for (int i = 1; i < ranks; ++i) {
            to[count++] = (rank + i) % ranks;
            from[from_count++] = (rank + ranks - i) % ranks;
        }
    } else if (strcmp(pattern, "random") == 0) {
        unsigned long long state = 7; /* the same draws on every rank */
        for (int p = 0; p < PARTNERS; ++p) {
            for (int r = 0; r < ranks; ++r) {
                state = state * 6364136223846793005ULL + 1442695040888963407ULL;
                const int peer = (int)((r + 1 + (int)(state >> 33) % (ranks - 1)) % ranks);
                if (r == rank) {
                    to[count++] = peer;
                }
                if (peer == rank) {
                    from[from_count++] = r;
                }
            }
        }
    } else {
        count = from_count = halo(to);
        memcpy(from, to, sizeof to);
    }
    for (int i = 0; i < iterations; ++i) {
        logpost_compute_seconds(compute_s * (1 + 0.2 * ((rank * 7 + i * 3) % 5)));
        if (strcmp(pattern, "pipeline") == 0) {
            if (rank > 0) {
                MPI_Recv(in, bytes, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            if (rank + 1 < ranks) {
                MPI_Send(out, bytes, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
            }
            continue;
        }
        exchange(count, to, from_count, from);
        if (strcmp(pattern, "cg") == 0) {
            double sum = rank, all;
            MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
