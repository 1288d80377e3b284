#include <mpi.h>

void synchronize(void);

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    synchronize(); /* at call */
    MPI_Finalize();
    return 0;
}
