/* The requests of a rank, with what their completion needs to know; and the ranks of the world. */
#include <stdint.h>
#include <stdlib.h>

#include "layer.h"

#define BUCKETS 4096u
static struct lp_layer_request* table[BUCKETS];
static struct lp_layer_request* unused;
int* lp_layer_synchronous;
int lp_layer_own_rank;

static unsigned bucket(MPI_Request handle) {
    uintptr_t word = (uintptr_t)handle;
    return (unsigned)((word >> 4 ^ word >> 15) % BUCKETS);
}

struct lp_layer_request** lp_layer_place(MPI_Request handle) {
    struct lp_layer_request** at = &table[bucket(handle)];
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

void lp_layer_note(MPI_Request handle, enum lp_layer_kind kind, int persistent, int to, size_t bytes, MPI_Comm comm) {
    if (handle == MPI_REQUEST_NULL)
        return;
    struct lp_layer_request** at = lp_layer_place(handle);
    struct lp_layer_request* r = *at;
    if (!r) {
        r = unused ? unused : malloc(sizeof *r);
        if (!r)
            abort();
        if (r == unused)
            unused = r->next;
        r->next = NULL;
        *at = r;
    }
    *r = (struct lp_layer_request){handle, kind, persistent, to, bytes, comm, r->next};
}

void lp_layer_forget(struct lp_layer_request** at) {
    struct lp_layer_request* r = *at;
    *at = r->next;
    r->next = unused;
    unused = r;
}

void lp_layer_ready(void) {
    if (lp_layer_synchronous)
        return;
    int size = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &lp_layer_own_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    lp_layer_synchronous = calloc((size_t)size + 1, sizeof *lp_layer_synchronous);
    if (!lp_layer_synchronous)
        abort();
}

int lp_layer_world_rank(MPI_Comm comm, int rank) {
    if (rank < 0)
        return -1;
    if (comm == MPI_COMM_WORLD)
        return rank;
    MPI_Group group, world;
    int found = -1;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &rank, world, &found);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return found >= 0 ? found : -1;
}
