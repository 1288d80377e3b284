/* What a call on a file costs: the fastest of many batches, in ns per call. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCHES = 200, EACH = 200, BLOCK = 65536 };

static int zero, data;
static FILE* stream;
static char block[BLOCK];

static double fastest(void (*one)(void)) {
    double best = 1;
    for (int b = 0; b < BATCHES; b++) {
        const double begin = MPI_Wtime();
        for (int i = 0; i < EACH; i++)
            one();
        const double lasts = MPI_Wtime() - begin;
        best = lasts < best ? lasts : best;
    }
    return best / EACH * 1e9;
}

static void byte(void) {
    (void)!read(zero, block, 1);
}

static void large(void) {
    (void)!pread(data, block, BLOCK, 0);
}

/* Of its buffer, but for every 512th call. */
static void buffered(void) {
    (void)!fread(block, 8, 1, stream);
}

static void character(void) {
    (void)!getc(stream);
}

static FILE* output;

/* In its buffer, but for every 683rd call. */
static void printed(void) {
    fprintf(output, "%d\n", 12345);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    zero = open("/dev/zero", O_RDONLY);
    data = open(argv[1], O_RDWR | O_CREAT, 0600);
    (void)!write(data, block, BLOCK);
    stream = fopen("/dev/zero", "r");
    output = fopen("/dev/null", "w");
    setvbuf(output, NULL, _IOFBF, 4096);
    const double one = fastest(byte), many = fastest(large), ahead = fastest(buffered);
    const double next = fastest(character), shown = fastest(printed);
    printf("byte_ns=%.2f block_ns=%.2f buffered_ns=%.2f character_ns=%.2f printed_ns=%.2f\n", one, many, ahead, next,
           shown);
    MPI_Finalize();
    return 0;
}
