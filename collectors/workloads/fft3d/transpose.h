/* The transpose of a layered 3-D FFT: from slabs of z planes to columns with all z together.
 *
 * Before, a rank has its nz/P planes of n = nx x ny values each, z slowest; afterwards its n/P columns of nz values, z
 * fastest. Towards each other rank that is an (nz/P) x (n/P) submatrix, to be transposed on the way:
 *   ddt    derived datatypes describe the submatrix to the sender's MPI and its transpose to the receiver's, and the
 *          middleware moves the data: blocks of n/P values with stride n (NAS class B on 4 ranks: 512 KB of 2 MB).
 *   pack   the program packs and transposes whole rows into one contiguous message per rank, element by element.
 *   opt    the same with tiles of 512 bytes, so that a tile's cache lines are used whole (the paper's block size). */
#ifndef LOGPOST_FFT3D_TRANSPOSE_H
#define LOGPOST_FFT3D_TRANSPOSE_H

#include <complex.h>
#include <mpi.h>
#include <stdint.h>

enum version { VERSION_DDT = 0, VERSION_PACK = 1, VERSION_OPT = 2 };
enum exchange { EXCHANGE_MESSAGES = 0, EXCHANGE_COLLECTIVE = 1 };

struct transpose {
    enum version version;
    enum exchange exchange;
    MPI_Comm comm;
    int rank, ranks;
    int64_t planes, columns, n, nz;     /* planes = nz / ranks, columns = n / ranks */
    double complex *out, *in;           /* packed messages, by rank */
    MPI_Datatype submatrix, transposed; /* ddt */
    MPI_Request* requests;
    double pack_s, exchange_s; /* the program's copying; MPI */
};

void transpose_open(struct transpose* t, enum version version, enum exchange exchange, int64_t n, int64_t nz,
                    MPI_Comm parent);
void transpose_run(struct transpose* t, const double complex* slab, double complex* column);
void transpose_close(struct transpose* t);

#endif
