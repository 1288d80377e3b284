/* Four ranks: every constructor of communicators, names, reuse of handles, messages on an inter-communicator. */
#include <mpi.h>

static int x, y;

/* A message of one int around a communicator, its tag shows which. */
static void ring(MPI_Comm c, int tag) {
    int rank, size;
    if (c == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, tag, &y, 1, MPI_INT, (rank + size - 1) % size, tag, c,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    int rank, dims[2] = {2, 2}, periods[2] = {1, 1}, keep[2] = {0, 1}, index[4] = {2, 4, 6, 8};
    int edges[8] = {1, 3, 0, 2, 1, 3, 2, 0}, one = 1, ranks[2] = {3, 1};
    MPI_Comm w = MPI_COMM_WORLD, c, d, e;
    MPI_Group all, some;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(w, &rank);
    for (int i = 0; i < 3; i++) { /* the handle is the same each time, the communicator is not */
        MPI_Comm_dup(w, &c);
        ring(c, 10 + i);
        MPI_Comm_free(&c);
    }
    MPI_Comm_split(w, rank < 3 ? rank % 2 : MPI_UNDEFINED, -rank, &c); /* {2, 0}, {1}, none */
    if (rank < 3) {
        MPI_Comm_set_name(c, rank % 2 ? "odd" : "even");
        ring(c, 20);
        MPI_Comm_free(&c);
    }
    MPI_Comm_group(w, &all);
    MPI_Group_incl(all, 2, ranks, &some); /* {3, 1} in this order */
    MPI_Comm_create(w, some, &c);
    ring(c, 30);
    if (c != MPI_COMM_NULL)
        MPI_Comm_set_name(c, "created");
    if (rank % 2) {
        MPI_Comm_create_group(w, some, 7, &d);
        MPI_Comm_set_name(d, "create_group");
        ring(d, 31);
        MPI_Comm_free(&d);
    }
    MPI_Cart_create(w, 2, dims, periods, 0, &d);
    MPI_Comm_set_name(d, "grid");
    MPI_Cart_sub(d, keep, &e); /* {0, 1}, {2, 3} */
    MPI_Comm_set_name(e, rank < 2 ? "row 0" : "row 1");
    ring(d, 40);
    ring(e, 41);
    MPI_Comm_free(&e);
    MPI_Graph_create(w, 4, index, edges, 0, &e);
    MPI_Comm_set_name(e, "graph");
    ring(e, 50);
    MPI_Comm_free(&e);
    int next = (rank + 1) % 4, last = (rank + 3) % 4;
    MPI_Dist_graph_create_adjacent(w, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &e);
    MPI_Comm_set_name(e, "adjacent");
    MPI_Neighbor_allgather(&x, 1, MPI_INT, &y, 1, MPI_INT, e);
    ring(e, 51);
    MPI_Comm_free(&e);
    MPI_Dist_graph_create(w, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &e);
    MPI_Comm_set_name(e, "distributed");
    ring(e, 52);
    MPI_Comm_free(&e);
    MPI_Comm_split_type(w, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &e);
    MPI_Comm_set_name(e, "node");
    ring(e, 60);
    MPI_Comm_free(&e);
    MPI_Comm_idup(w, &e, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_name(e, "idup");
    ring(e, 70);
    MPI_Comm_free(&e);

    MPI_Comm half, inter, merged; /* {0, 1} and {2, 3} */
    MPI_Comm_split(w, rank / 2, rank, &half);
    MPI_Intercomm_create(half, 0, w, rank < 2 ? 2 : 0, 99, &inter);
    MPI_Comm_set_name(inter, "inter");
    if (rank == 0)
        MPI_Send(&x, 1, MPI_INT, 1, 80, inter); /* to rank 3 of the world */
    if (rank == 3)
        MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 80, inter, MPI_STATUS_IGNORE);
    if (rank == 2)
        MPI_Send(&x, 1, MPI_INT, 1, 81, inter); /* to rank 1 of the world */
    if (rank == 1)
        MPI_Recv(&y, 1, MPI_INT, 0, 81, inter, MPI_STATUS_IGNORE);
    MPI_Bcast(&x, 1, MPI_INT, rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0, inter);
    MPI_Intercomm_merge(inter, rank < 2, &merged); /* {2, 3, 0, 1} */
    MPI_Comm_set_name(merged, "merged");
    ring(merged, 82);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
    ring(MPI_COMM_SELF, 90);
    MPI_Finalize();
    return 0;
}
