#include "local_fft.h"

#include <math.h>

#include "../common/memory.h"

void fft_plan_open(struct fft_plan* plan, int64_t n) {
    plan->n = n;
    plan->roots = LP_NEW(double complex, n / 2);
    plan->line = LP_NEW(double complex, n);
    for (int64_t k = 0; k < n / 2; k++) {
        double angle = -TWO_PI * (double)k / (double)n;
        plan->roots[k] = cos(angle) + I * sin(angle);
    }
}

void fft_plan_close(struct fft_plan* plan) {
    free(plan->roots);
    free(plan->line);
}

void fft_line(struct fft_plan* plan, double complex* data, int64_t stride) {
    const int64_t n = plan->n;
    double complex* x = plan->line;
    for (int64_t i = 0, reversed = 0; i < n; i++) {
        x[reversed] = data[i * stride];
        int64_t bit = n >> 1;
        for (; bit > 0 && (reversed & bit); bit >>= 1)
            reversed ^= bit;
        reversed |= bit;
    }
    for (int64_t half = 1; half < n; half *= 2) {
        const int64_t step = n / (2 * half);
        for (int64_t first = 0; first < n; first += 2 * half) {
            for (int64_t k = 0; k < half; k++) {
                /* Written out: C's complex product checks for infinities and is several times slower. */
                const double wr = creal(plan->roots[k * step]), wi = cimag(plan->roots[k * step]);
                const double br = creal(x[first + half + k]), bi = cimag(x[first + half + k]);
                const double complex turned = (br * wr - bi * wi) + I * (br * wi + bi * wr);
                x[first + half + k] = x[first + k] - turned;
                x[first + k] += turned;
            }
        }
    }
    for (int64_t i = 0; i < n; i++)
        data[i * stride] = x[i];
}
