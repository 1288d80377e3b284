/* A program that cannot continue ends; missing memory is a reason. */

/* For nanosleep. */
#define _GNU_SOURCE

#include "parts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void cal_refuse(const struct cal* c, const char* what, const char* value) {
    /* Mostly all refuse the same: the others leave it to rank 0, which an earlier end of theirs would kill unheard. */
    if (c->rank != 0)
        nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    fprintf(stderr, "calibration: %s: %s\n", what, value);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

void* cal_memory(const struct cal* c, int64_t bytes) {
    const size_t size = ((size_t)(bytes > 0 ? bytes : 1) + 63) / 64 * 64;
    void* memory = aligned_alloc(64, size);
    if (memory == NULL)
        cal_refuse(c, "no memory for the buffers", "ask for smaller messages");
    memset(memory, 1, size);
    return memory;
}

void cal_release(const struct cal* c, void* memory) {
    (void)c;
    free(memory);
}
