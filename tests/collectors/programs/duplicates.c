/* Duplicates of duplicates, two of them in flight at once, and one of an inter-communicator; 4 ranks. */
#include <mpi.h>

static void ring(MPI_Comm comm, int tag) {
    int rank, size, x = 0, y;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, tag, &y, 1, MPI_INT, (rank + size - 1) % size, tag, comm,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    int rank, x = 0;
    MPI_Request both[2];
    MPI_Comm one, two, first, second, deep, half, inter, again;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* `deep` is number 1 of number 2 of number 2 of the world: of what is number 1 of the world, too. */
    MPI_Comm_idup(MPI_COMM_WORLD, &one, &both[0]);
    MPI_Comm_idup(MPI_COMM_WORLD, &two, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Comm_idup(two, &first, &both[0]);
    MPI_Comm_idup(two, &second, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Comm_idup(second, &deep, &both[0]);
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    ring(one, 1);
    ring(two, 2);
    ring(first, 3);
    ring(second, 4);
    ring(deep, 5);

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half); /* {0, 1} and {2, 3} */
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 99, &inter);
    MPI_Comm_set_name(inter, "inter");
    MPI_Comm_idup(inter, &again, &both[0]);
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    MPI_Comm_set_name(again, "again");
    if (rank == 0)
        MPI_Send(&x, 1, MPI_INT, 1, 6, again); /* to rank 3 of the world */
    if (rank == 3)
        MPI_Recv(&x, 1, MPI_INT, 0, 6, again, MPI_STATUS_IGNORE);
    MPI_Barrier(again);
    MPI_Finalize();
    return 0;
}
