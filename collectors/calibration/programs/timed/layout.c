/* log3P's times of data in memory. */
#include "layout.h"

#include <string.h>

enum { DATA = 1 };

static void gather(const struct cal_layout* l, const double* from, double* to) {
    for (int64_t i = 0; i < l->blocks; i++)
        for (int64_t k = 0; k < l->doubles; k++)
            to[i * l->doubles + k] = from[i * l->step + k];
}

static void scatter(const struct cal_layout* l, const double* from, double* to) {
    for (int64_t i = 0; i < l->blocks; i++)
        for (int64_t k = 0; k < l->doubles; k++)
            to[i * l->step + k] = from[i * l->doubles + k];
}

double cal_layout_to_self(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_layout* l = what;
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

static void send_one(const struct cal_layout* l, MPI_Comm group, int to) {
    if (l->packed)
        gather(l, l->here, l->packed_here);
    MPI_Send(l->packed ? l->packed_here : l->here, 1, l->type, to, DATA, group);
}

static void receive_one(const struct cal_layout* l, MPI_Comm group, int from) {
    MPI_Recv(l->packed ? l->packed_here : l->here, 1, l->type, from, DATA, group, MPI_STATUS_IGNORE);
    if (l->packed)
        scatter(l, l->packed_here, l->here);
}

double cal_layout_to_other(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_layout* l = what;
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

double cal_layout_copy(const struct cal* c, MPI_Comm group, void* what, int repeat) {
    const struct cal_layout* l = what;
    /* Through a volatile pointer, so that no compiler leaves out copies that are never read. */
    void* (*volatile copy_bytes)(void*, const void*, size_t) = memcpy;
    void (*volatile gather_blocks)(const struct cal_layout*, const double*, double*) = gather;
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

void cal_visit_layout(struct cal* c, MPI_Comm group, cal_sample* sample, struct cal_layout* l, enum cal_form form,
                      int64_t bytes, int64_t block, int64_t stride, int round, const char* transfer,
                      const char* locality) {
    static const char* const NAMES[] = {"datatype", "packed", "contiguous"};
    struct cal_result r;
    char keys[160];
    l->doubles = block / 8;
    l->blocks = bytes / block;
    l->step = stride / 8;
    l->packed = form == CAL_PACKED;
    if (form == CAL_DATATYPE)
        MPI_Type_vector((int)l->blocks, (int)l->doubles, (int)l->step, MPI_DOUBLE, &l->type);
    else
        MPI_Type_contiguous((int)(bytes / 8), MPI_DOUBLE, &l->type);
    MPI_Type_commit(&l->type);
    cal_measure(c, group, 1, sample, l, &r);
    MPI_Type_free(&l->type);
    snprintf(keys, sizeof keys, "\"transfer\": \"%s\", \"form\": \"%s\", \"stride_bytes\": %lld, \"block_bytes\": %lld",
             transfer, NAMES[form], (long long)stride, (long long)block);
    cal_emit(c, &r, round, "layout", locality, bytes, keys);
}
