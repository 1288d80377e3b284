/* Any number of ranks: each collective operation nonblocking, then persistent with the same arguments and started
 * twice; each of the persistent neighbourhood collectives once. */
#include "persistent.h"

#ifndef NO_PERSISTENT_COLLECTIVES
enum { MOST = 64 };
static int from[MOST * 8], to[MOST * 8];
static MPI_Request request;

static void done(void) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void twice(void) {
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

#define BOTH(nonblocking, persistent, ...)                            \
    do {                                                              \
        MPI_##nonblocking(__VA_ARGS__, comm, &request);               \
        done();                                                       \
        MPI_##persistent(__VA_ARGS__, comm, MPI_INFO_NULL, &request); \
        twice();                                                      \
    } while (0)

int main(int argc, char** argv) {
    int rank, size, counts[MOST], places[MOST], bytes[MOST];
    MPI_Aint wide[MOST];
    MPI_Datatype types[MOST];
    const MPI_Datatype t = MPI_INT;
    const MPI_Op op = MPI_SUM;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (size > MOST)
        MPI_Abort(comm, 1);
    for (int i = 0; i < size; i++) {
        counts[i] = 3;
        places[i] = 3 * i;
        bytes[i] = 12 * i;
        wide[i] = 12 * i;
        types[i] = t;
    }
    MPI_Ibarrier(comm, &request);
    done();
    MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
    twice();
    BOTH(Ibcast, Bcast_init, from, 5, t, size - 1);
    BOTH(Igather, Gather_init, from, 2, t, to, 2, t, 0);
    BOTH(Igatherv, Gatherv_init, from, 3, t, to, counts, places, t, 0);
    BOTH(Iscatter, Scatter_init, from, 2, t, to, 2, t, 0);
    BOTH(Iscatterv, Scatterv_init, from, counts, places, t, to, 3, t, 0);
    BOTH(Iallgather, Allgather_init, from, 4, t, to, 4, t);
    BOTH(Iallgatherv, Allgatherv_init, from, 3, t, to, counts, places, t);
    BOTH(Ialltoall, Alltoall_init, from, 2, t, to, 2, t);
    BOTH(Ialltoallv, Alltoallv_init, from, counts, places, t, to, counts, places, t);
    BOTH(Ialltoallw, Alltoallw_init, from, counts, bytes, types, to, counts, bytes, types);
    BOTH(Ireduce, Reduce_init, from, to, 6, t, op, 0);
    BOTH(Iallreduce, Allreduce_init, from, to, 7, t, op);
    BOTH(Ireduce_scatter, Reduce_scatter_init, from, to, counts, t, op);
    BOTH(Ireduce_scatter_block, Reduce_scatter_block_init, from, to, 5, t, op);
    BOTH(Iscan, Scan_init, from, to, 3, t, op);
    BOTH(Iexscan, Exscan_init, from, to, 2, t, op);

    MPI_Comm ring;
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    const MPI_Info none = MPI_INFO_NULL;
    MPI_Neighbor_allgather_init(from, 2, t, to, 2, t, ring, none, &request);
    twice();
    MPI_Neighbor_allgatherv_init(from, 3, t, to, counts, places, t, ring, none, &request);
    twice();
    MPI_Neighbor_alltoall_init(from, 2, t, to, 2, t, ring, none, &request);
    twice();
    MPI_Neighbor_alltoallv_init(from, counts, places, t, to, counts, places, t, ring, none, &request);
    twice();
    MPI_Neighbor_alltoallw_init(from, counts, wide, types, to, counts, wide, types, ring, none, &request);
    twice();
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
#endif
