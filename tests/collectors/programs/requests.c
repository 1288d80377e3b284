/* Two ranks: requests completed in every way. Rank 0 sends 8 bytes per tag, rank 1 receives. */
#include <mpi.h>

#define N 4
static char a[N][8], b[N][64];

int main(int argc, char** argv) {
    int rank, flag, index, count, indices[N];
    MPI_Request r[N];
    MPI_Status s[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    for (int i = 0; i < N; i++) /* tags 100..103, one MPI_Wait each, sends completed in reverse */
        if (rank == 0)
            MPI_Isend(a[i], 2 * i, MPI_CHAR, 1, 100 + i, MPI_COMM_WORLD, &r[i]);
        else
            MPI_Irecv(b[i], 64, MPI_CHAR, MPI_ANY_SOURCE, 100 + i, MPI_COMM_WORLD, &r[i]);
    for (int i = N; i-- > 0;)
        MPI_Wait(&r[i], rank ? &s[i] : MPI_STATUS_IGNORE);

    for (int i = 0; i < N; i++) /* 110..113, MPI_Waitany */
        if (rank == 0)
            MPI_Issend(a[i], 8, MPI_CHAR, 1, 110 + i, MPI_COMM_WORLD, &r[i]);
        else
            MPI_Irecv(b[i], 64, MPI_CHAR, 0, 110 + i, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < N; i++)
        MPI_Waitany(N, r, &index, MPI_STATUS_IGNORE);
    MPI_Waitany(N, r, &index, MPI_STATUS_IGNORE); /* nothing left: MPI_UNDEFINED */

    for (int i = 0; i < N; i++) /* 120..123, MPI_Waitsome */
        if (rank == 0)
            MPI_Isend(a[i], 8, MPI_CHAR, 1, 120 + i, MPI_COMM_WORLD, &r[i]);
        else
            MPI_Irecv(b[i], 64, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &r[i]);
    for (int done = 0; done < N; done += count)
        MPI_Waitsome(N, r, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);

    for (int i = 0; i < N; i++) /* 130..133, MPI_Test, Testany, Testsome, Testall */
        if (rank == 0)
            MPI_Isend(a[i], 8, MPI_CHAR, 1, 130 + i, MPI_COMM_WORLD, &r[i]);
        else
            MPI_Irecv(b[i], 64, MPI_CHAR, 0, 130 + i, MPI_COMM_WORLD, &r[i]);
    for (flag = 0; !flag;)
        MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        MPI_Testany(2, r, &index, &flag, &s[0]);
    for (count = 0; !count;)
        MPI_Testsome(1, r + 2, &count, indices, s);
    for (flag = 0; !flag;)
        MPI_Testall(N, r, &flag, MPI_STATUSES_IGNORE);

    if (rank == 1) { /* a receive that is tested before its message is sent, and one that is cancelled */
        MPI_Irecv(b[0], 64, MPI_CHAR, 0, 140, MPI_COMM_WORLD, &r[0]);
        MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
        MPI_Send(a[0], 1, MPI_CHAR, 0, 141, MPI_COMM_WORLD);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Irecv(b[0], 64, MPI_CHAR, 0, 142, MPI_COMM_WORLD, &r[0]);
        MPI_Cancel(&r[0]);
        MPI_Wait(&r[0], &s[0]);
    } else {
        MPI_Recv(b[0], 1, MPI_CHAR, 1, 141, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(a[0], 6, MPI_CHAR, 1, 140, MPI_COMM_WORLD);
    }

    /* persistent, started twice: 150, 151 */
    if (rank == 0) {
        MPI_Send_init(a[0], 3, MPI_CHAR, 1, 150, MPI_COMM_WORLD, &r[0]);
        MPI_Ssend_init(a[1], 4, MPI_CHAR, 1, 151, MPI_COMM_WORLD, &r[1]);
    } else {
        MPI_Recv_init(b[0], 64, MPI_CHAR, MPI_ANY_SOURCE, 150, MPI_COMM_WORLD, &r[0]);
        MPI_Recv_init(b[1], 64, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &r[1]);
    }
    MPI_Startall(2, r);
    MPI_Waitall(2, r, s);
    MPI_Start(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE); /* inactive: completes nothing */
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);

    /* matched probes: 160 blocking, 161 nonblocking */
    if (rank == 0) {
        MPI_Send(a[0], 5, MPI_CHAR, 1, 160, MPI_COMM_WORLD);
        MPI_Isend(a[0], 6, MPI_CHAR, 1, 161, MPI_COMM_WORLD, &r[0]);
        MPI_Request_free(&r[0]); /* never completed by a call */
    } else {
        MPI_Message m;
        MPI_Mprobe(MPI_ANY_SOURCE, 160, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
        MPI_Mrecv(b[0], 64, MPI_CHAR, &m, MPI_STATUS_IGNORE);
        for (flag = 0; !flag;)
            MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &s[0]);
        MPI_Imrecv(b[0], 64, MPI_CHAR, &m, &r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    }
    /* no rank at the other end: calls, but no messages */
    MPI_Isend(a[0], 8, MPI_CHAR, MPI_PROC_NULL, 170, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(b[0], 8, MPI_CHAR, MPI_PROC_NULL, 170, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
