/* Receives: what they cost, and the room that they make free. */
#include "layer.h"

double lp_layer_finished(MPI_Comm comm, const MPI_Status* status) {
    if (status->cancelled || status->MPI_SOURCE == MPI_PROC_NULL || status->MPI_SOURCE == MPI_ANY_SOURCE)
        return 0;
    int from = lp_layer_world_rank(comm, status->MPI_SOURCE);
    lpt_received(lp_layer_own_rank, (size_t)status->count);
    return lpt_receive_overhead((size_t)status->count, from >= 0 && lpt_same_host(from, lp_layer_own_rank));
}

void lp_layer_charge(double due, double before) {
    double missing = due - (lpt_charged() - before);
    if (missing > 1e-15)
        lpt_busy(missing);
}

static int layer_Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    lp_layer_ready();
    double before = lpt_charged();
    int rc = PMPI_Recv(buf, count, type, source, tag, comm, ask);
    if (rc == MPI_SUCCESS && source != MPI_PROC_NULL)
        lp_layer_charge(lp_layer_finished(comm, ask), before);
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
