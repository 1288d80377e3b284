/* Every rank computes for 0.2 s of processor time, and prints for how long it was ready to run without a processor
 * during that time, by Linux's count. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double processor_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned long long queued_ns(void) {
    unsigned long long ran = 0, queued = 0;
    FILE* f = fopen("/proc/thread-self/schedstat", "r");
    if (!f || fscanf(f, "%llu %llu", &ran, &queued) != 2)
        return 0;
    fclose(f);
    return queued;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const double begin = processor_s();
    const unsigned long long before = queued_ns();
    while (processor_s() < begin + 0.2) {
    }
    printf("queued %llu ns\n", queued_ns() - before);
    MPI_Finalize();
    return 0;
}
