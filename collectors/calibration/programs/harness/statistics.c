/* The median of samples, and the interval that contains it. */
#include "parts.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double cal_median(double* values, int n) {
    qsort(values, (size_t)n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

void cal_statistics(double* samples, int n, double accuracy, struct cal_result* r) {
    double sum = 0;
    r->median_s = cal_median(samples, n);
    for (int i = 0; i < n; i++)
        sum += samples[i];
    r->samples = n;
    r->minimum_s = samples[0];
    r->mean_s = sum / n;
    /* The median lies between the order statistics n/2 -+ 1.96 sqrt(n)/2 with 95 % (binomial, normal approximation). */
    int low = (int)floor(0.5 * n - 0.98 * sqrt(n)) - 1, high = (int)ceil(0.5 * n + 0.98 * sqrt(n));
    low = low < 0 ? 0 : low;
    high = high > n - 1 ? n - 1 : high;
    r->half_width_s = fmax(r->median_s - samples[low], samples[high] - r->median_s);
    r->reached = n >= 6 && r->half_width_s <= accuracy * r->median_s;
}
