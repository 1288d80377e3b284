/* Rank 0 receives what ranks 1 and 2 send, in every way: tags that are multiples of ten of any source, others of
 * rank 1. Rank 2 sends two messages, of which one has a tag that no other has, and that is received by its name.
 */
#include <mpi.h>

static MPI_Comm world = MPI_COMM_WORLD;
static int x, out;

static void take(int source, int tag) {
    MPI_Recv(&x, 1, MPI_INT, source, tag, world, MPI_STATUS_IGNORE);
}

static void exchange(int source, int tag) {
    MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &x, 1, MPI_INT, source, tag, world, MPI_STATUS_IGNORE);
}

static void replace(int source, int tag) {
    MPI_Sendrecv_replace(&x, 1, MPI_INT, MPI_PROC_NULL, 0, source, tag, world, MPI_STATUS_IGNORE);
}

static void begin_and_wait(int source, int tag) {
    MPI_Request r;
    MPI_Irecv(&x, 1, MPI_INT, source, tag, world, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void start_twice(int source, int tag) {
    MPI_Request r;
    MPI_Recv_init(&x, 1, MPI_INT, source, tag, world, &r);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&r);
}

static void matched(int source, int tag) {
    MPI_Message m;
    MPI_Mprobe(source, tag, world, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(&x, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
}

static void matched_later(int source, int tag) {
    MPI_Message m;
    MPI_Request r;
    for (int found = 0; !found;)
        MPI_Improbe(source, tag, world, &found, &m, MPI_STATUS_IGNORE);
    MPI_Imrecv(&x, 1, MPI_INT, &m, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* What a probe has found is received by its sender's name, behind another one's message. */
static void probed(int source, int tag) {
    MPI_Status s;
    MPI_Probe(source, tag, world, &s);
    take(1, tag + 1);
    take(s.MPI_SOURCE, tag);
    take(s.MPI_SOURCE, tag + 2); /* no probe has found this one */
}

static void polled(int source, int tag) {
    MPI_Status s;
    for (int found = 0; !found;)
        MPI_Iprobe(source, tag, world, &found, &s);
    begin_and_wait(s.MPI_SOURCE, tag);
    begin_and_wait(s.MPI_SOURCE, tag + 2);
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    if (rank == 0) {
        MPI_Request unmatched;
        MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 999, world, &unmatched);
        MPI_Cancel(&unmatched);
        MPI_Wait(&unmatched, MPI_STATUS_IGNORE);
        void (*const ways[])(int, int) = {take,    exchange,      replace, begin_and_wait, start_twice,
                                          matched, matched_later, probed,  polled};
        for (int i = 0; i < 9; i++) {
            ways[i](MPI_ANY_SOURCE, 100 + 10 * i);
            ways[i](1, 105 + 10 * i);
        }
        take(MPI_ANY_SOURCE, MPI_ANY_TAG);
        take(1, MPI_ANY_TAG);
        MPI_Barrier(world);
        take(MPI_ANY_SOURCE, 210);
        take(2, 215);
    } else if (rank == 1) {
        const int times[] = {1, 1, 1, 1, 2, 1, 1, 3, 3};
        for (int i = 0; i < 9; i++)
            for (int named = 0; named < 2; named++)
                for (int k = 0; k < times[i]; k++) {
                    int tag = 100 + 10 * i + 5 * named + (i >= 7 ? k : 0);
                    if (i != 8 || k != 1)
                        MPI_Send(&out, 1, MPI_INT, 0, tag, world);
                }
        MPI_Send(&out, 1, MPI_INT, 0, 200, world);
        MPI_Send(&out, 1, MPI_INT, 0, 205, world);
        MPI_Barrier(world);
    } else {
        MPI_Barrier(world);
        MPI_Send(&out, 1, MPI_INT, 0, 210, world);
        MPI_Send(&out, 1, MPI_INT, 0, 215, world);
    }
    MPI_Finalize();
    return 0;
}
