/* log3P's half round trips over size and stride: to oneself, to another rank, and the memory copy.
 *
 * The transfers self, remote and memory_copy are those of timed/layout.h, with datatype (MPI_Type_vector at both ends),
 * packed (gathered by a loop, sent contiguous, scattered by a loop at the receiver) and contiguous.
 *
 *   --bytes, --strides    the grid, lists; stride in bytes from block to block
 *   --block N             bytes of a block, a multiple of 8
 *   --transfers, --forms  which of the words above
 *   --most-bytes N        layouts that reach over more than N bytes are left out */
#include "layout.h"
#include "reduction.h"

#include <stdlib.h>

struct grid {
    struct cal_list bytes, strides;
    int64_t block;
    double most_bytes;
    struct cal_layout* layout;
};

static const char* const FORMS[] = {"datatype", "packed", "contiguous"};

/* Where messages go, and how one sample of them is taken. */
struct transfer {
    const char *name, *locality;
    MPI_Comm group;
    cal_sample* sample;
    int round;
};

static void visit(struct cal* c, const struct grid* g, const struct transfer* t, enum cal_form form, int64_t bytes,
                  int64_t stride) {
    const int64_t block = form == CAL_CONTIGUOUS ? stride : g->block;
    cal_visit_layout(c, t->group, t->sample, g->layout, form, bytes, block, stride, t->round, t->name, t->locality);
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
        if (cal_wants(c, "forms", FORMS[CAL_CONTIGUOUS], "datatype,packed,contiguous"))
            visit(c, g, &t, CAL_CONTIGUOUS, bytes, 8);
        for (int d = 0; d < g->strides.count; d++) {
            const int64_t stride = (int64_t)g->strides.value[d];
            for (int form = CAL_DATATYPE; form <= CAL_PACKED && fits(g, bytes, stride); form++) {
                if (form == CAL_DATATYPE && t.sample == cal_layout_copy)
                    continue;
                if (cal_wants(c, "forms", FORMS[form], "datatype,packed,contiguous"))
                    visit(c, g, &t, (enum cal_form)form, bytes, stride);
            }
        }
    }
}

static void visit_pair(struct cal* c, void* what, int round, const struct cal_pair* pair) {
    visit_transfer(c, what, (struct transfer){"remote", pair->locality, pair->comm, cal_layout_to_other, round});
}

static void visits(struct cal* c, void* what, int round) {
    if (c->rank == 0) {
        visit_transfer(c, what, (struct transfer){"memory_copy", "self", MPI_COMM_SELF, cal_layout_copy, round});
        visit_transfer(c, what, (struct transfer){"self", "self", MPI_COMM_SELF, cal_layout_to_self, round});
    }
    if (c->rank == 0 && cal_wants(c, "transfers", "memory_copy", "self,remote,memory_copy"))
        cal_visit_reductions(c, MPI_COMM_SELF, ((const struct grid*)what)->layout->here,
                             ((const struct grid*)what)->layout->there, round);
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
    reach = reach > CAL_LARGEST_REDUCTION ? reach : CAL_LARGEST_REDUCTION;
    struct cal_layout l = {
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
