/* A preload that damages messages: the third send or put of each rank has a bit of its first word flipped. With it
 * every workload must say that its result is wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static const void* damaged(const void* data, int count, MPI_Datatype type) {
    static int calls;
    int size;
    MPI_Aint low, extent;
    PMPI_Type_size(type, &size);
    if ((long long)count * size < 8 || ++calls != 3)
        return data;
    PMPI_Type_get_extent(type, &low, &extent);
    char* copy = malloc((size_t)count * (size_t)extent); /* never freed: the send may last */
    memcpy(copy, data, (size_t)count * (size_t)extent);
    copy[6] ^= 2; /* the middle of a double's mantissa, counted from its top */
    return copy;
}

#define SEND(NAME)                                                                             \
    int NAME(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) { \
        return P##NAME(damaged(data, count, type), count, type, to, tag, comm);                \
    }
#define ISEND(NAME)                                                                                                  \
    int NAME(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) { \
        return P##NAME(damaged(data, count, type), count, type, to, tag, comm, request);                             \
    }
SEND(MPI_Send)
ISEND(MPI_Isend)
ISEND(MPI_Issend)

int MPI_Put(const void* data, int count, MPI_Datatype type, int to, MPI_Aint at, int n, MPI_Datatype there,
            MPI_Win window) {
    return PMPI_Put(damaged(data, count, type), count, type, to, at, n, there, window);
}

int MPI_Rput(const void* data, int count, MPI_Datatype type, int to, MPI_Aint at, int n, MPI_Datatype there,
             MPI_Win window, MPI_Request* request) {
    return PMPI_Rput(damaged(data, count, type), count, type, to, at, n, there, window, request);
}

int MPI_Accumulate(const void* data, int count, MPI_Datatype type, int to, MPI_Aint at, int n, MPI_Datatype there,
                   MPI_Op op, MPI_Win window) {
    return PMPI_Accumulate(damaged(data, count, type), count, type, to, at, n, there, op, window);
}
