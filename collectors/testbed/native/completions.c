/* Waiting and testing: a completed receive costs its overhead, a completed send is in flight no more. */
#include <stdlib.h>

#include "layer.h"

/* The completion of a request. */
static void completed(MPI_Request handle, const MPI_Status* status) {
    struct lp_layer_request** at = lp_layer_place(handle);
    struct lp_layer_request* r = *at;
    if (handle == MPI_REQUEST_NULL || !r)
        return;
    if (r->kind == RECEIVE)
        lp_layer_finished(r->comm, status);
    else if (r->kind == SYNCHRONOUS_SEND && r->to >= 0)
        lp_layer_synchronous[r->to]--;
    if (!r->persistent)
        lp_layer_forget(at);
}

static int layer_Wait(MPI_Request* request, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request held = *request;
    lp_layer_ready();
    lpt_begin();
    int rc = PMPI_Wait(request, ask);
    if (rc == MPI_SUCCESS)
        completed(held, ask);
    return rc;
}

static int layer_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request held = *request;
    lp_layer_ready();
    lpt_begin();
    int rc = PMPI_Test(request, flag, ask);
    if (rc == MPI_SUCCESS && *flag)
        completed(held, ask);
    return rc;
}

static MPI_Request* held;
static MPI_Status* own_statuses;
static int room;

/* Copies of the handles, and room for statuses. */
static void hold(int count, const MPI_Request requests[]) {
    lp_layer_ready();
    if (count > room) {
        room = count + count / 2;
        held = realloc(held, (size_t)room * sizeof *held);
        own_statuses = realloc(own_statuses, (size_t)room * sizeof *own_statuses);
        if (!held || !own_statuses)
            abort();
    }
    if (count > 0)
        memcpy(held, requests, (size_t)count * sizeof *held);
}

static MPI_Status* statuses_or_own(MPI_Status statuses[]) {
    return statuses == MPI_STATUSES_IGNORE ? own_statuses : statuses;
}

/* One after the other in the order of their ends, as SMPI does, so that each is charged when it arrives. */
static int layer_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    hold(count, requests);
    MPI_Status* ask = statuses_or_own(statuses);
    const MPI_Status nothing = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
    for (int i = 0; i < count; i++)
        ask[i] = nothing;
    for (int done = 0; done < count; done++) {
        int index;
        MPI_Status one;
        lpt_begin();
        int rc = PMPI_Waitany(count, requests, &index, &one);
        if (rc != MPI_SUCCESS || index == MPI_UNDEFINED)
            return rc;
        ask[index] = one;
        completed(held[index], &one);
    }
    return MPI_SUCCESS;
}

static int layer_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
    hold(count, requests);
    MPI_Status* ask = statuses_or_own(statuses);
    lpt_begin();
    int rc = PMPI_Testall(count, requests, flag, ask);
    for (int i = 0; rc == MPI_SUCCESS && *flag && i < count; i++)
        completed(held[i], &ask[i]);
    return rc;
}

static int layer_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    hold(count, requests);
    lpt_begin();
    int rc = PMPI_Waitany(count, requests, index, ask);
    if (rc == MPI_SUCCESS && *index >= 0)
        completed(held[*index], ask);
    return rc;
}

static int layer_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    hold(count, requests);
    lpt_begin();
    int rc = PMPI_Testany(count, requests, index, flag, ask);
    if (rc == MPI_SUCCESS && *flag && *index >= 0)
        completed(held[*index], ask);
    return rc;
}

static int some(int test, int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
    hold(count, requests);
    MPI_Status* ask = statuses_or_own(statuses);
    lpt_begin();
    int rc =
        test ? PMPI_Testsome(count, requests, done, indices, ask) : PMPI_Waitsome(count, requests, done, indices, ask);
    for (int i = 0; rc == MPI_SUCCESS && i < *done; i++)
        completed(held[indices[i]], &ask[i]);
    return rc;
}

static int layer_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
    return some(0, count, requests, done, indices, statuses);
}

static int layer_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
    return some(1, count, requests, done, indices, statuses);
}

/* Both at once, so that neither waits for the other. */
static int layer_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                          void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                          MPI_Status* status) {
    MPI_Request in, out;
    int rc = lp_layer_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &in);
    if (rc == MPI_SUCCESS)
        rc = lp_layer_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &out);
    if (rc == MPI_SUCCESS)
        rc = layer_Wait(&in, status);
    if (rc == MPI_SUCCESS)
        rc = layer_Wait(&out, MPI_STATUS_IGNORE);
    return rc;
}

const struct lp_layer_call lp_layer_completions[] = {
    LP_LAYER_CALL(Wait),     LP_LAYER_CALL(Test),    LP_LAYER_CALL(Waitall),  LP_LAYER_CALL(Testall),
    LP_LAYER_CALL(Waitany),  LP_LAYER_CALL(Testany), LP_LAYER_CALL(Waitsome), LP_LAYER_CALL(Testsome),
    LP_LAYER_CALL(Sendrecv), {NULL, NULL},
};
