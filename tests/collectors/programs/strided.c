/* Rank 0 sends data with gaps to rank 1, in three layouts; a rank named by the first argument is killed before the end.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static double field[32 << 10];

static MPI_Datatype vector(int blocks, int length, int stride, MPI_Datatype of) {
    MPI_Datatype type;
    MPI_Type_vector(blocks, length, stride, of, &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype types[] = {vector(100, 5, 25, MPI_DOUBLE), vector(2000, 3, 7, MPI_FLOAT),
                            vector(8192, 1, 4, MPI_DOUBLE)};
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 3; k++)
            if (rank == 0)
                MPI_Send(field, 1, types[k], 1, i, MPI_COMM_WORLD);
            else if (rank == 1)
                MPI_Recv(field, 1, types[k], 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < 3; k++)
        MPI_Type_free(&types[k]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && rank == atoi(argv[1]))
        kill(getpid(), SIGKILL);
    MPI_Finalize();
    return 0;
}
