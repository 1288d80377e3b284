/* MPI-4 without MPI_Init: a session around two others. In the first a message each way and a reduction among all
 * processes, in both a message each way in each pair of ranks. `apart`: nothing among all. `joined`: MPI_Init in
 * between. */
#include <mpi.h>
#include <string.h>

static MPI_Session begin(void) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    return session;
}

static MPI_Comm make(MPI_Group group, const char* tag) {
    MPI_Comm comm;
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    return comm;
}

static void exchange(MPI_Comm comm, int to, int from, int count, int tag) {
    int x[2] = {1, 1}, y[2];
    MPI_Sendrecv(x, count, MPI_INT, to, tag, y, 2, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    MPI_Session around = begin();
    for (int round = 0; round < 2; round++) {
        if (round == 1 && !strcmp(how, "joined"))
            MPI_Init(0, 0);
        MPI_Session session = begin();
        MPI_Group world, pair;
        MPI_Comm comm;
        int rank, size, x = 1, y;
        MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
        MPI_Group_rank(world, &rank);
        MPI_Group_size(world, &size);
        if (round == 0 && strcmp(how, "apart")) {
            comm = make(world, "all");
            exchange(comm, (rank + 1) % size, (rank + size - 1) % size, 1, 5);
            MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm);
            MPI_Comm_free(&comm);
        }
        int range[3] = {rank - rank % 2, rank - rank % 2 + 1, 1};
        MPI_Group_range_incl(world, 1, &range, &pair);
        comm = make(pair, "pair");
        exchange(comm, 1 - rank % 2, 1 - rank % 2, 2, 6 + round);
        MPI_Comm_free(&comm);
        MPI_Group_free(&pair);
        MPI_Group_free(&world);
        MPI_Session_finalize(&session);
    }
    if (!strcmp(how, "joined"))
        MPI_Finalize();
    MPI_Session_finalize(&around);
    return 0;
}
