/* Allocation that ends the program with one line when memory is short, so that callers stay readable. */
#ifndef LOGPOST_WORKLOADS_MEMORY_H
#define LOGPOST_WORKLOADS_MEMORY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline void* lp_allocate(int64_t count, size_t size) {
    void* memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (!memory) {
        fprintf(stderr, "out of memory for %lld elements of %zu bytes\n", (long long)count, size);
        exit(3);
    }
    return memory;
}

#define LP_NEW(type, count) ((type*)lp_allocate((int64_t)(count), sizeof(type)))

#endif
