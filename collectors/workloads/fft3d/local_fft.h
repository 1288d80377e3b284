/* One-dimensional FFT of a power of two, radix 2, in place, unscaled: X_k = sum_j x_j exp(-2 pi i j k / n). */
#ifndef LOGPOST_FFT3D_LOCAL_FFT_H
#define LOGPOST_FFT3D_LOCAL_FFT_H

#include <complex.h>
#include <stdint.h>

static const double TWO_PI = 6.283185307179586476925; /* M_PI is not in C11 */

struct fft_plan {
    int64_t n;
    double complex* roots; /* exp(-2 pi i k / n), k < n/2 */
    double complex* line;  /* room for one line */
};

void fft_plan_open(struct fft_plan* plan, int64_t n);
void fft_plan_close(struct fft_plan* plan);

/* Transforms the n elements data[0], data[stride], … */
void fft_line(struct fft_plan* plan, double complex* data, int64_t stride);

#endif
