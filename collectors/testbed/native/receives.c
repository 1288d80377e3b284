/* Receives: what they cost, and the room that they make free. */
#include "layer.h"

void lp_layer_finished(MPI_Comm comm, const MPI_Status* status) {
    if (status->cancelled || status->MPI_SOURCE == MPI_PROC_NULL || status->MPI_SOURCE == MPI_ANY_SOURCE)
        return;
    lpt_received(lp_layer_own_rank, (size_t)status->count);
    lpt_finish((size_t)status->count, lp_layer_world_rank(comm, status->MPI_SOURCE));
}

static int layer_Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    lp_layer_ready();
    lpt_begin();
    int rc = PMPI_Recv(buf, count, type, source, tag, comm, ask);
    if (rc == MPI_SUCCESS && source != MPI_PROC_NULL)
        lp_layer_finished(comm, ask);
    return rc;
}

int lp_layer_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    int rc = PMPI_Irecv(buf, count, type, source, tag, comm, request);
    if (rc == MPI_SUCCESS)
        lp_layer_note(*request, RECEIVE, 0, -1, 0, comm);
    return rc;
}

static int layer_Recv_init(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                           MPI_Request* request) {
    int rc = PMPI_Recv_init(buf, count, type, source, tag, comm, request);
    if (rc == MPI_SUCCESS)
        lp_layer_note(*request, RECEIVE, 1, -1, 0, comm);
    return rc;
}

const struct lp_layer_call lp_layer_receives[] = {
    LP_LAYER_CALL(Recv),
    {"PMPI_Irecv", (void*)lp_layer_Irecv},
    LP_LAYER_CALL(Recv_init),
    {NULL, NULL},
};
