/* log3P's half round trips over size and stride: to oneself, to another rank, and the memory copy.
 *
 * Paper: log_nP and log_3P (Cameron, Ge & Sun) 3.2 and 4.1: doubles, MPI_Send and MPI_Recv, MPI_Type_vector.
 *   self         T00: a message to oneself, from one array to another
 *   remote       T01: half of a ping-pong of one array
 *   memory_copy  T_mem: memcpy (contiguous), or the loop that gathers (packed)
 * with datatype (MPI_Type_vector at both ends), packed (gathered by a loop, sent contiguous, scattered by a loop at the
 * receiver) and contiguous.
 *
 *   --bytes, --strides    the grid, lists; stride in bytes from block to block
 *   --block N             bytes of a block, a multiple of 8
 *   --transfers, --forms  which of the words above
 *   --most-bytes N        layouts that reach over more than N bytes are left out */
#include <stdlib.h>
#include <string.h>

#include "calibration.h"

enum { DATA = 1 };

struct layout {
    int64_t blocks, doubles, step; /* blocks of `doubles`, one every `step` doubles */
    bool packed;
    MPI_Datatype type; /* of what is handed to MPI: one of it */
    double *here, *there, *packed_here, *packed_there;
};

static void gather(const struct layout* l, const double* from, double* to) {
    for (int64_t i = 0; i < l->blocks; i++)
        for (int64_t k = 0; k < l->doubles; k++)
            to[i * l->doubles + k] = from[i * l->step + k];
}

static void scatter(const struct layout* l, const double* from, double* to) {
    for (int64_t i = 0; i < l->blocks; i++)
        for (int64_t k = 0; k < l->doubles; k++)
            to[i * l->step + k] = from[i * l->doubles + k];
}

static double to_self(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct layout* l = what;
    double start = cal_now();
    for (int r = 0; r < repeat; r++) {
        MPI_Request request;
        if (l->packed)
            gather(l, l->here, l->packed_here);
        MPI_Isend(l->packed ? l->packed_here : l->here, 1, l->type, 0, DATA, group, &request);
        MPI_Recv(l->packed ? l->packed_there : l->there, 1, l->type, 0, DATA, group, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (l->packed)
            scatter(l, l->packed_there, l->there);
    }
    return cal_since(c, start) / repeat;
}

static void send_one(const struct layout* l, MPI_Comm group, int to) {
    if (l->packed)
        gather(l, l->here, l->packed_here);
    MPI_Send(l->packed ? l->packed_here : l->here, 1, l->type, to, DATA, group);
}

static void receive_one(const struct layout* l, MPI_Comm group, int from) {
    MPI_Recv(l->packed ? l->packed_here : l->here, 1, l->type, from, DATA, group, MPI_STATUS_IGNORE);
    if (l->packed)
        scatter(l, l->packed_here, l->here);
}

static double to_other(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct layout* l = what;
    int rank;
    MPI_Comm_rank(group, &rank);
    double start = cal_now();
    for (int r = 0; r < repeat; r++) {
        if (rank == 0)
            send_one(l, group, 1);
        receive_one(l, group, 1 - rank);
        if (rank == 1)
            send_one(l, group, 0);
    }
    return cal_since(c, start) / (2.0 * repeat);
}

static double copy(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct layout* l = what;
    /* Through a volatile pointer, so that no compiler leaves out copies that are never read. */
    void* (*volatile copy_bytes)(void*, const void*, size_t) = memcpy;
    void (*volatile gather_blocks)(const struct layout*, const double*, double*) = gather;
    (void)group;
    double start = cal_now();
    for (int r = 0; r < repeat; r++) {
        if (l->packed)
            gather_blocks(l, l->here, l->packed_here);
        else
            copy_bytes(l->there, l->here, (size_t)(l->blocks * l->doubles) * sizeof(double));
    }
    return cal_since(c, start) / repeat;
}

struct grid {
    struct cal_list bytes, strides;
    int64_t block;
    double most_bytes;
    struct layout* layout;
};

enum form { DATATYPE, PACKED, CONTIGUOUS };
static const char* const FORMS[] = {"datatype", "packed", "contiguous"};

/* Where messages go, and how one sample of them is taken. */
struct transfer {
    const char *name, *locality;
    MPI_Comm group;
    cal_sample* sample;
    int round;
};

static void visit(struct cal* c, const struct grid* g, const struct transfer* t, enum form form, int64_t bytes,
                  int64_t stride) {
    const int64_t block = form == CONTIGUOUS ? stride : g->block;
    struct cal_result r;
    char keys[160];
    struct layout* l = g->layout;
    l->doubles = block / 8;
    l->blocks = bytes / block;
    l->step = stride / 8;
    l->packed = form == PACKED;
    if (form == DATATYPE)
        MPI_Type_vector((int)l->blocks, (int)l->doubles, (int)l->step, MPI_DOUBLE, &l->type);
    else
        MPI_Type_contiguous((int)(bytes / 8), MPI_DOUBLE, &l->type);
    MPI_Type_commit(&l->type);
    cal_measure(c, t->group, 1, t->sample, l, &r);
    MPI_Type_free(&l->type);
    snprintf(keys, sizeof keys, "\"transfer\": \"%s\", \"form\": \"%s\", \"stride_bytes\": %lld, \"block_bytes\": %lld",
             t->name, FORMS[form], (long long)stride, (long long)block);
    cal_emit(c, &r, t->round, "layout", t->locality, bytes, keys);
}

static bool fits(const struct grid* g, int64_t bytes, int64_t stride) {
    const int64_t blocks = bytes / g->block;
    return blocks > 0 && bytes % g->block == 0 && stride > g->block && (double)(blocks * stride) <= g->most_bytes;
}

static void visit_transfer(struct cal* c, const struct grid* g, struct transfer t) {
    if (!cal_wants(c, "transfers", t.name, "self,remote,memory_copy"))
        return;
    for (int s = 0; s < g->bytes.count; s++) {
        const int64_t bytes = (int64_t)g->bytes.value[s];
        if (cal_wants(c, "forms", FORMS[CONTIGUOUS], "datatype,packed,contiguous"))
            visit(c, g, &t, CONTIGUOUS, bytes, 8);
        for (int d = 0; d < g->strides.count; d++) {
            const int64_t stride = (int64_t)g->strides.value[d];
            for (int form = DATATYPE; form <= PACKED && fits(g, bytes, stride); form++) {
                if (form == DATATYPE && t.sample == copy)
                    continue;
                if (cal_wants(c, "forms", FORMS[form], "datatype,packed,contiguous"))
                    visit(c, g, &t, (enum form)form, bytes, stride);
            }
        }
    }
}

static void visit_pair(struct cal* c, void* what, int round, const struct cal_pair* pair) {
    visit_transfer(c, what, (struct transfer){"remote", pair->locality, pair->comm, to_other, round});
}

static void visits(struct cal* c, void* what, int round) {
    if (c->rank == 0) {
        visit_transfer(c, what, (struct transfer){"memory_copy", "self", MPI_COMM_SELF, copy, round});
        visit_transfer(c, what, (struct transfer){"self", "self", MPI_COMM_SELF, to_self, round});
    }
    cal_rest(c);
    cal_each_pair(c, visit_pair, what, round);
}

int main(int argc, char** argv) {
    struct cal c;
    cal_open(&c, argc, argv);
    struct grid g = {
        .bytes = cal_list(&c, "bytes", "1024,4096,16384,65536"),
        .strides = cal_list(&c, "strides", "16,64,256,1024"),
        .block = (int64_t)cal_number(&c, "block", 8),
        .most_bytes = cal_number(&c, "most-bytes", 64 << 20),
    };
    if (g.block < 8 || g.block % 8 != 0)
        cal_refuse(&c, "--block must be a multiple of 8 bytes", "doubles");
    int64_t largest = 8, reach = 8;
    for (int s = 0; s < g.bytes.count; s++) {
        const int64_t bytes = (int64_t)g.bytes.value[s];
        if (bytes < 8 || bytes % 8 != 0)
            cal_refuse(&c, "--bytes must be multiples of 8", "doubles");
        largest = bytes > largest ? bytes : largest;
        for (int d = 0; d < g.strides.count; d++) {
            const int64_t stride = (int64_t)g.strides.value[d], over = bytes / g.block * stride;
            if (stride % 8 != 0)
                cal_refuse(&c, "--strides must be multiples of 8", "doubles");
            reach = (double)over <= g.most_bytes && over > reach ? over : reach;
        }
    }
    reach = reach > largest ? reach : largest;
    struct layout l = {
        .here = cal_memory(&c, reach),
        .there = cal_memory(&c, reach),
        .packed_here = cal_memory(&c, largest),
        .packed_there = cal_memory(&c, largest),
    };
    g.layout = &l;
    cal_rounds(&c, visits, &g);
    free(l.here);
    free(l.there);
    free(l.packed_here);
    free(l.packed_there);
    return cal_close(&c);
}
