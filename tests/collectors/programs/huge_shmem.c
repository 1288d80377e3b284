/* Two PEs, of which the first puts and gets: 2049 MiB, nothing, something to itself, and so many longs as its argument
 * states.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

int main(int argc, char** argv) {
    const long many = argc > 1 ? atol(argv[1]) : 0;
    const size_t bytes = 2049ull << 20;
    static long word;
    struct rusage usage;
    shmem_init();
    const int me = shmem_my_pe();
    if (many) {
        for (long i = 0; i < many && me == 0; i++) {
            shmem_long_p(&word, i, 1);
            if (i % 1000 == 999)
                shmem_quiet();
        }
    } else {
        char* far = shmem_malloc(bytes);
        char* near = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (!far || near == MAP_FAILED)
            shmem_global_exit(1);
        if (me == 0) {
            shmem_putmem(far, near, bytes, 1);
            shmem_putmem(far, near, 0, 1);
            shmem_long_p(&word, 7, 0);
            shmem_getmem(near, far, 0, 1);
        }
    }
    shmem_barrier_all();
    getrusage(RUSAGE_SELF, &usage);
    if (me == 0)
        printf("peak %ld\n", usage.ru_maxrss * 1024);
    shmem_finalize();
    return 0;
}
