/* Three ranks: every blocking and nonblocking collective once, then in-place ones. */
#include <mpi.h>

static int a[64], b[64], counts[3] = {1, 2, 3}, displs[3] = {0, 1, 3}, mine[3], back[3], at[3];

int main(int argc, char** argv) {
    int r;
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request q;
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    int bytes_at[3] = {0, 64, 128};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(w, &r);
    for (int i = 0; i < 3; i++) { /* i+1 ints are sent to rank i, r+1 received from every rank */
        mine[i] = i + 1;
        back[i] = r + 1;
        at[i] = 8 * i;
    }
    MPI_Barrier(w);
    MPI_Bcast(a, 5, MPI_INT, 1, w);
    MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, 2, w);
    MPI_Gatherv(a, counts[r], MPI_INT, b, counts, displs, MPI_INT, 0, w);
    MPI_Scatter(a, 2, MPI_INT, b, 2, MPI_INT, 1, w);
    MPI_Scatterv(a, counts, displs, MPI_INT, b, counts[r], MPI_INT, 0, w);
    MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, w);
    MPI_Allgatherv(a, counts[r], MPI_INT, b, counts, displs, MPI_INT, w);
    MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, w);
    MPI_Alltoallv(a, mine, at, MPI_INT, b, back, at, MPI_INT, w);
    MPI_Alltoallw(a, mine, bytes_at, types, b, back, bytes_at, types, w);
    MPI_Reduce(a, b, 4, MPI_INT, MPI_SUM, 2, w);
    MPI_Allreduce(a, b, 4, MPI_INT, MPI_SUM, w);
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, w);
    MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, w);
    MPI_Scan(a, b, 4, MPI_INT, MPI_SUM, w);
    MPI_Exscan(a, b, 4, MPI_INT, MPI_SUM, w);

    MPI_Ibarrier(w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Ibcast(a, 5, MPI_INT, 1, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Igather(a, 2, MPI_INT, b, 2, MPI_INT, 2, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Igatherv(a, counts[r], MPI_INT, b, counts, displs, MPI_INT, 0, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Iscatter(a, 2, MPI_INT, b, 2, MPI_INT, 1, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Iscatterv(a, counts, displs, MPI_INT, b, counts[r], MPI_INT, 0, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Iallgather(a, 2, MPI_INT, b, 2, MPI_INT, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Iallgatherv(a, counts[r], MPI_INT, b, counts, displs, MPI_INT, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Ialltoall(a, 2, MPI_INT, b, 2, MPI_INT, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Ialltoallv(a, mine, at, MPI_INT, b, back, at, MPI_INT, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Ialltoallw(a, mine, bytes_at, types, b, back, bytes_at, types, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Ireduce(a, b, 4, MPI_INT, MPI_SUM, 2, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Iallreduce(a, b, 4, MPI_INT, MPI_SUM, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Ireduce_scatter(a, b, counts, MPI_INT, MPI_SUM, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Ireduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Iscan(a, b, 4, MPI_INT, MPI_SUM, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Iexscan(a, b, 4, MPI_INT, MPI_SUM, w, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);

    MPI_Gather(r == 2 ? MPI_IN_PLACE : a, 2, MPI_INT, b, 2, MPI_INT, 2, w);
    MPI_Scatter(a, 2, MPI_INT, r == 1 ? MPI_IN_PLACE : (void*)b, 2, MPI_INT, 1, w);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT, w);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, displs, MPI_INT, w);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT, w);
    MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM, w);
    MPI_Reduce(r == 2 ? MPI_IN_PLACE : a, b, 4, MPI_INT, MPI_SUM, 2, w);
    MPI_Finalize();
    return 0;
}
