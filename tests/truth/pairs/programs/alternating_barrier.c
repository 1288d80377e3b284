/* In each step another rank has more work. No data crosses the barrier behind it, so the steps' maxima add up. */
#include "pair.h"

REGION static void smooth(int step) {
    pair_sleep(step % ranks == rank ? 8 : 2);
}

REGION static void end_of_step(void) {
    if (!IS_FIXED)
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    pair_begin(&argc, &argv);
    for (int step = 0; step < 40; ++step) {
        smooth(step);
        end_of_step();
    }
    pair_end();
    return 0;
}
