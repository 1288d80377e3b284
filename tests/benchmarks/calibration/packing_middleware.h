/* For simulated programs: a middleware that packs. Every strided message costs its sender and its receiver, for each
 * block, a time that grows with the logarithm of the stride, as where a block more often misses a cache. SimGrid SMPI
 * charges for sizes only. To be included in front of a program (-include), after which its calls are these. */
#ifndef LOGPOST_PACKING_MIDDLEWARE_H
#define LOGPOST_PACKING_MIDDLEWARE_H

#include <math.h>
#include <mpi.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>

/* Of doubles, one every `stride` bytes: 2 ns for a block, and 1 ns for each doubling of the stride beyond 8 bytes. */
static void pack(int count, MPI_Datatype type) {
    int size;
    MPI_Aint low, reach;
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &low, &reach);
    const double blocks = size / 8.0, stride = blocks > 1 ? (double)(reach - 8) / (blocks - 1) : 8;
    if (stride > 8)
        smpi_execute_flops(count * blocks * (2e-9 + 1e-9 * log2(stride / 8)) * sg_host_get_speed(sg_host_self()));
}

static int packing_send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm group) {
    pack(count, type);
    return MPI_Send(data, count, type, to, tag, group);
}

static int packing_isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm group,
                         MPI_Request* request) {
    pack(count, type);
    return MPI_Isend(data, count, type, to, tag, group, request);
}

static int packing_recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm group,
                        MPI_Status* status) {
    const int result = MPI_Recv(data, count, type, from, tag, group, status);
    pack(count, type);
    return result;
}

#define MPI_Send packing_send
#define MPI_Isend packing_isend
#define MPI_Recv packing_recv

#endif
