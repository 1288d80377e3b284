/* Collective operations that fail on some of their members, and return on the others. */
#include <mpi.h>
#include <stdio.h>

static int failures;

static void expect(const char* what, int error, int fails) {
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    if ((class != MPI_SUCCESS) != fails) {
        failures++;
        printf("%s: class %d\n", what, class);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    int rank, size, data[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    /* The group has a member that is not in the communicator: its own members learn that, the others do not. */
    MPI_Comm half, made = MPI_COMM_NULL;
    MPI_Group world, strange;
    const int members[2] = {0, size - 1};
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, members, &strange);
    expect("MPI_Comm_create", MPI_Comm_create(half, strange, &made), rank == 0 || rank == size - 1);

    const int few = rank == 1 ? 1 : 2; /* rank 1 forwards it to no rank, and receives fewer than rank 0 sends */
    expect("MPI_Bcast", MPI_Bcast(data, few, MPI_INT, 0, MPI_COMM_WORLD), few == 1);
    MPI_Request request;
    MPI_Ibcast(data, few, MPI_INT, 0, MPI_COMM_WORLD, &request);
    expect("MPI_Ibcast", MPI_Wait(&request, MPI_STATUS_IGNORE), few == 1);

    /* One of two receives is too short: the other one, and the handles of both, are as ever. */
    if (rank == 0) {
        MPI_Send(data, 2, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Send(data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    }
    MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    for (int i = 0; rank == 1 && i < 2; i++)
        MPI_Irecv(data, 1, MPI_INT, 0, i + 1, MPI_COMM_WORLD, &both[i]);
    expect("MPI_Waitall", MPI_Waitall(2, both, statuses), rank == 1);
    MPI_Waitall(2, both, statuses); /* the first need not have waited for it */

    MPI_Group_free(&world);
    MPI_Group_free(&strange);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return failures;
}
