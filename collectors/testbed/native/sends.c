/* Sends: each is buffered, or waits for its receiver, or stalls for room. */
#include "layer.h"

static size_t bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return count > 0 && size > 0 ? (size_t)count * (size_t)size : 0;
}

/* Whether a send must be synchronous; `may_block`: else it stalls here until there is room. Counts the message. */
static int admit(int to, size_t bytes, int may_block) {
    lp_layer_ready();
    if (to < 0)
        return 0;
    int wait = lpt_is_rendezvous(bytes) || lp_layer_synchronous[to] > 0;
    if (!lpt_is_finite())
        return wait;
    if (!wait && may_block) {
        lpt_wait_for_room(to, bytes);
        return 0;
    }
    wait |= !lpt_has_room(to, bytes);
    lpt_sent(to, bytes);
    return wait;
}

static int send_blocking(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    int to = lp_layer_world_rank(comm, dest);
    if (to < 0)
        return PMPI_Send(buf, count, type, dest, tag, comm);
    if (!admit(to, bytes_of(count, type), 1))
        return PMPI_Send(buf, count, type, dest, tag, comm);
    lp_layer_synchronous[to]++;
    int rc = PMPI_Ssend(buf, count, type, dest, tag, comm);
    lp_layer_synchronous[to]--;
    return rc;
}

static int layer_Ssend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    int to = lp_layer_world_rank(comm, dest);
    lp_layer_ready();
    if (to < 0)
        return PMPI_Ssend(buf, count, type, dest, tag, comm);
    lpt_sent(to, bytes_of(count, type));
    lp_layer_synchronous[to]++;
    int rc = PMPI_Ssend(buf, count, type, dest, tag, comm);
    lp_layer_synchronous[to]--;
    return rc;
}

static int layer_Bsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    int to = lp_layer_world_rank(comm, dest);
    if (to >= 0)
        lpt_sent(to, bytes_of(count, type));
    return PMPI_Bsend(buf, count, type, dest, tag, comm);
}

static int start_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request, int always) {
    int to = lp_layer_world_rank(comm, dest), rc;
    size_t bytes = bytes_of(count, type);
    int wait = admit(to, bytes, 0) || (always && to >= 0);
    if (wait)
        lp_layer_synchronous[to]++;
    rc = wait ? PMPI_Issend(buf, count, type, dest, tag, comm, request)
              : PMPI_Isend(buf, count, type, dest, tag, comm, request);
    if (rc == MPI_SUCCESS)
        lp_layer_note(*request, wait ? SYNCHRONOUS_SEND : SEND, 0, to, bytes, comm);
    return rc;
}

int lp_layer_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
    return start_send(buf, count, type, dest, tag, comm, request, 0);
}

static int layer_Issend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                        MPI_Request* request) {
    return start_send(buf, count, type, dest, tag, comm, request, 1);
}

/* Whether a persistent send waits is settled here: by its size alone. */
static int layer_Send_init(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                           MPI_Request* request) {
    size_t bytes = bytes_of(count, type);
    lp_layer_ready();
    int rc = lpt_is_rendezvous(bytes) ? PMPI_Ssend_init(buf, count, type, dest, tag, comm, request)
                                      : PMPI_Send_init(buf, count, type, dest, tag, comm, request);
    if (rc == MPI_SUCCESS)
        lp_layer_note(*request, SEND, 1, lp_layer_world_rank(comm, dest), bytes, comm);
    return rc;
}

static int layer_Ssend_init(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                            MPI_Request* request) {
    lp_layer_ready();
    int rc = PMPI_Ssend_init(buf, count, type, dest, tag, comm, request);
    if (rc == MPI_SUCCESS)
        lp_layer_note(*request, SEND, 1, lp_layer_world_rank(comm, dest), bytes_of(count, type), comm);
    return rc;
}

static void started(MPI_Request handle) {
    struct lp_layer_request* r = *lp_layer_place(handle);
    if (r && r->kind == SEND && r->to >= 0)
        lpt_sent(r->to, r->bytes);
}

static int layer_Start(MPI_Request* request) {
    started(*request);
    return PMPI_Start(request);
}

static int layer_Startall(int count, MPI_Request requests[]) {
    for (int i = 0; i < count; i++)
        started(requests[i]);
    return PMPI_Startall(count, requests);
}

const struct lp_layer_call lp_layer_sends[] = {
    {"PMPI_Send", (void*)send_blocking},
    {"PMPI_Rsend", (void*)send_blocking},
    LP_LAYER_CALL(Ssend),
    LP_LAYER_CALL(Bsend),
    {"PMPI_Isend", (void*)lp_layer_Isend},
    {"PMPI_Irsend", (void*)lp_layer_Isend},
    LP_LAYER_CALL(Issend),
    LP_LAYER_CALL(Send_init),
    {"PMPI_Rsend_init", (void*)layer_Send_init},
    LP_LAYER_CALL(Ssend_init),
    LP_LAYER_CALL(Start),
    LP_LAYER_CALL(Startall),
    {NULL, NULL},
};
