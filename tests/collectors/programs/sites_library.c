/* A shared object that calls MPI for its program. */
#include <mpi.h>

int synchronizations;

void synchronize(void) {
    MPI_Barrier(MPI_COMM_WORLD); /* at barrier */
    synchronizations++;          /* no call in tail position, which would be in the caller */
}
