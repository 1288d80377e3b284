/* Calls of which a recording that keeps 16 callers lacks some: recursion, and code that no object holds. */
#include <mpi.h>
#include <string.h>
#include <sys/mman.h>

static volatile int levels;

/* `n` + 1 frames of it, and main() outside of them. */
__attribute__((noinline)) static void down(int n) {
    if (n)
        down(n - 1);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    levels++; /* the call above is not in tail position */
}

__attribute__((noinline)) static void from_generated(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    levels++;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int n = 10; n <= 20; n++)
        down(n);
#if defined(__x86_64__)
    /* sub $8, %rsp; call *%rdi; add $8, %rsp; ret */
    static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
    void* page = mmap(NULL, sizeof code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    mprotect(page, sizeof code, PROT_READ | PROT_EXEC);
    ((void (*)(void (*)(void)))page)(from_generated);
#endif
    MPI_Finalize();
    return 0;
}
