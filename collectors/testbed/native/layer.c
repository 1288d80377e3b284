/* Between the collector's wrappers and SMPI: point-to-point calls as the machine takes them.
 *
 * SMPI is run with all its own sends buffered ("detached") and its overheads taken from machine.cpp, so that messages
 * within collectives pay o_s, g and o_r too. What a program sends itself is decided here, message by message:
 *
 *   larger than the eager limit          synchronous: the transfer begins when the receive is posted, the sender waits
 *   a blocking send finds no room        the sender stalls until there is (LogP's finite capacity)
 *   a nonblocking send finds no room     synchronous, since it may not block
 *   a synchronous one of the same pair   synchronous, since SMPI would let the later message overtake it
 *   is on its way
 *
 * SMPI charges a receive's overhead only where the sender did not wait. The rest is charged here, at the end of the
 * call that completes the receive. Each rank has its own copy of these variables. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../pmpi/native/interposer/runtime.h"
#include "machine.h"

enum kind { SEND = 1, SYNCHRONOUS_SEND, RECEIVE };

struct request {
    MPI_Request handle;
    enum kind kind;
    int persistent;
    int to; /* rank of the world */
    size_t bytes;
    MPI_Comm comm;
    struct request* next;
};

#define BUCKETS 4096u
static struct request* table[BUCKETS];
static struct request* unused;
static int* synchronous; /* per rank: own synchronous sends on their way there */
static int own_rank, world_size;

static unsigned bucket(MPI_Request handle) {
    uintptr_t word = (uintptr_t)handle;
    return (unsigned)((word >> 4 ^ word >> 15) % BUCKETS);
}

static struct request** place_of(MPI_Request handle) {
    struct request** at = &table[bucket(handle)];
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static void note(MPI_Request handle, enum kind kind, int persistent, int to, size_t bytes, MPI_Comm comm) {
    if (handle == MPI_REQUEST_NULL)
        return;
    struct request** at = place_of(handle);
    struct request* r = *at;
    if (!r) {
        r = unused ? unused : malloc(sizeof *r);
        if (!r)
            abort();
        if (r == unused)
            unused = r->next;
        r->next = NULL;
        *at = r;
    }
    *r = (struct request){handle, kind, persistent, to, bytes, comm, r->next};
}

static void forget(struct request** at) {
    struct request* r = *at;
    *at = r->next;
    r->next = unused;
    unused = r;
}

static void ready(void) {
    if (synchronous)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    synchronous = calloc((size_t)world_size + 1, sizeof *synchronous);
    if (!synchronous)
        abort();
}

/* Rank of the world; -1: nobody. */
static int world_rank(MPI_Comm comm, int rank) {
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

static size_t bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return count > 0 && size > 0 ? (size_t)count * (size_t)size : 0;
}

/* --- receives ---------------------------------------------------------------------------------------------------- */

/* The overhead that a finished receive costs; makes its room free. */
static double finished(MPI_Comm comm, const MPI_Status* status) {
    if (status->cancelled || status->MPI_SOURCE == MPI_PROC_NULL || status->MPI_SOURCE == MPI_ANY_SOURCE)
        return 0;
    int from = world_rank(comm, status->MPI_SOURCE);
    lpt_received(own_rank, (size_t)status->count);
    return lpt_receive_overhead((size_t)status->count, from >= 0 && lpt_same_host(from, own_rank));
}

static void charge(double due, double before) {
    double missing = due - (lpt_charged() - before);
    if (missing > 1e-15)
        lpt_busy(missing);
}

static int layer_Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    ready();
    double before = lpt_charged();
    int rc = PMPI_Recv(buf, count, type, source, tag, comm, ask);
    if (rc == MPI_SUCCESS && source != MPI_PROC_NULL)
        charge(finished(comm, ask), before);
    return rc;
}

static int layer_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                       MPI_Request* request) {
    int rc = PMPI_Irecv(buf, count, type, source, tag, comm, request);
    if (rc == MPI_SUCCESS)
        note(*request, RECEIVE, 0, -1, 0, comm);
    return rc;
}

static int layer_Recv_init(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                           MPI_Request* request) {
    int rc = PMPI_Recv_init(buf, count, type, source, tag, comm, request);
    if (rc == MPI_SUCCESS)
        note(*request, RECEIVE, 1, -1, 0, comm);
    return rc;
}

/* --- sends ------------------------------------------------------------------------------------------------------- */

/* Whether a send must be synchronous; `may_block`: else it stalls here until there is room. Counts the message. */
static int admit(int to, size_t bytes, int may_block) {
    ready();
    if (to < 0)
        return 0;
    int wait = lpt_is_rendezvous(bytes) || synchronous[to] > 0;
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
    int to = world_rank(comm, dest);
    if (to < 0)
        return PMPI_Send(buf, count, type, dest, tag, comm);
    if (!admit(to, bytes_of(count, type), 1))
        return PMPI_Send(buf, count, type, dest, tag, comm);
    synchronous[to]++;
    int rc = PMPI_Ssend(buf, count, type, dest, tag, comm);
    synchronous[to]--;
    return rc;
}

static int layer_Ssend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    int to = world_rank(comm, dest);
    ready();
    if (to < 0)
        return PMPI_Ssend(buf, count, type, dest, tag, comm);
    lpt_sent(to, bytes_of(count, type));
    synchronous[to]++;
    int rc = PMPI_Ssend(buf, count, type, dest, tag, comm);
    synchronous[to]--;
    return rc;
}

static int layer_Bsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    int to = world_rank(comm, dest);
    if (to >= 0)
        lpt_sent(to, bytes_of(count, type));
    return PMPI_Bsend(buf, count, type, dest, tag, comm);
}

static int start_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request, int always) {
    int to = world_rank(comm, dest), rc;
    size_t bytes = bytes_of(count, type);
    int wait = admit(to, bytes, 0) || (always && to >= 0);
    if (wait)
        synchronous[to]++;
    rc = wait ? PMPI_Issend(buf, count, type, dest, tag, comm, request)
              : PMPI_Isend(buf, count, type, dest, tag, comm, request);
    if (rc == MPI_SUCCESS)
        note(*request, wait ? SYNCHRONOUS_SEND : SEND, 0, to, bytes, comm);
    return rc;
}

static int layer_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
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
    ready();
    int rc = lpt_is_rendezvous(bytes) ? PMPI_Ssend_init(buf, count, type, dest, tag, comm, request)
                                      : PMPI_Send_init(buf, count, type, dest, tag, comm, request);
    if (rc == MPI_SUCCESS)
        note(*request, SEND, 1, world_rank(comm, dest), bytes, comm);
    return rc;
}

static int layer_Ssend_init(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                            MPI_Request* request) {
    ready();
    int rc = PMPI_Ssend_init(buf, count, type, dest, tag, comm, request);
    if (rc == MPI_SUCCESS)
        note(*request, SEND, 1, world_rank(comm, dest), bytes_of(count, type), comm);
    return rc;
}

static void started(MPI_Request handle) {
    struct request* r = *place_of(handle);
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

/* --- completions ------------------------------------------------------------------------------------------------- */

/* What the completion of a request costs its rank. */
static double completed(MPI_Request handle, const MPI_Status* status) {
    struct request** at = place_of(handle);
    struct request* r = *at;
    double due = 0;
    if (handle == MPI_REQUEST_NULL || !r)
        return 0;
    if (r->kind == RECEIVE)
        due = finished(r->comm, status);
    else if (r->kind == SYNCHRONOUS_SEND && r->to >= 0)
        synchronous[r->to]--;
    if (!r->persistent)
        forget(at);
    return due;
}

static int layer_Wait(MPI_Request* request, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request held = *request;
    ready();
    double before = lpt_charged();
    int rc = PMPI_Wait(request, ask);
    if (rc == MPI_SUCCESS)
        charge(completed(held, ask), before);
    return rc;
}

static int layer_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request held = *request;
    ready();
    double before = lpt_charged();
    int rc = PMPI_Test(request, flag, ask);
    if (rc == MPI_SUCCESS && *flag)
        charge(completed(held, ask), before);
    return rc;
}

static MPI_Request* held;
static MPI_Status* asked;
static int room;

/* Copies of the handles, and room for statuses. */
static void hold(int count, const MPI_Request requests[]) {
    ready();
    if (count > room) {
        room = count + count / 2;
        held = realloc(held, (size_t)room * sizeof *held);
        asked = realloc(asked, (size_t)room * sizeof *asked);
        if (!held || !asked)
            abort();
    }
    if (count > 0)
        memcpy(held, requests, (size_t)count * sizeof *held);
}

static MPI_Status* statuses_or_own(MPI_Status statuses[]) {
    return statuses == MPI_STATUSES_IGNORE ? asked : statuses;
}

static int layer_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    hold(count, requests);
    MPI_Status* ask = statuses_or_own(statuses);
    double before = lpt_charged(), due = 0;
    int rc = PMPI_Waitall(count, requests, ask);
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++)
        due += completed(held[i], &ask[i]);
    charge(due, before);
    return rc;
}

static int layer_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
    hold(count, requests);
    MPI_Status* ask = statuses_or_own(statuses);
    double before = lpt_charged(), due = 0;
    int rc = PMPI_Testall(count, requests, flag, ask);
    for (int i = 0; rc == MPI_SUCCESS && *flag && i < count; i++)
        due += completed(held[i], &ask[i]);
    if (*flag)
        charge(due, before);
    return rc;
}

static int layer_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    hold(count, requests);
    double before = lpt_charged();
    int rc = PMPI_Waitany(count, requests, index, ask);
    if (rc == MPI_SUCCESS && *index >= 0)
        charge(completed(held[*index], ask), before);
    return rc;
}

static int layer_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
    MPI_Status own, *ask = status == MPI_STATUS_IGNORE ? &own : status;
    hold(count, requests);
    double before = lpt_charged();
    int rc = PMPI_Testany(count, requests, index, flag, ask);
    if (rc == MPI_SUCCESS && *flag && *index >= 0)
        charge(completed(held[*index], ask), before);
    return rc;
}

static int some(int test, int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
    hold(count, requests);
    MPI_Status* ask = statuses_or_own(statuses);
    double before = lpt_charged(), due = 0;
    int rc =
        test ? PMPI_Testsome(count, requests, done, indices, ask) : PMPI_Waitsome(count, requests, done, indices, ask);
    for (int i = 0; rc == MPI_SUCCESS && i < *done; i++)
        due += completed(held[indices[i]], &ask[i]);
    charge(due, before);
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
    int rc = layer_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &in);
    if (rc == MPI_SUCCESS)
        rc = start_send(sendbuf, sendcount, sendtype, dest, sendtag, comm, &out, 0);
    if (rc == MPI_SUCCESS)
        rc = layer_Wait(&in, status);
    if (rc == MPI_SUCCESS)
        rc = layer_Wait(&out, MPI_STATUS_IGNORE);
    return rc;
}

/* --- one-sided: the target's processor takes no part -------------------------------------------------------------- */

#define ONE_SIDED(name, parameters, arguments) \
    static int layer_##name parameters {       \
        lpt_one_sided(1);                      \
        int rc = PMPI_##name arguments;        \
        lpt_one_sided(0);                      \
        return rc;                             \
    }
ONE_SIDED(Win_fence, (int assertion, MPI_Win win), (assertion, win))
ONE_SIDED(Win_complete, (MPI_Win win), (win))
ONE_SIDED(Win_wait, (MPI_Win win), (win))
ONE_SIDED(Win_unlock, (int rank, MPI_Win win), (rank, win))
ONE_SIDED(Win_unlock_all, (MPI_Win win), (win))
ONE_SIDED(Win_flush, (int rank, MPI_Win win), (rank, win))
ONE_SIDED(Win_flush_all, (MPI_Win win), (win))
ONE_SIDED(Win_flush_local, (int rank, MPI_Win win), (rank, win))
ONE_SIDED(Win_flush_local_all, (MPI_Win win), (win))
ONE_SIDED(Win_free, (MPI_Win * win), (win))

/* --- what the collector's wrappers call --------------------------------------------------------------------------- */

static int layer_Init(int* argc, char*** argv) {
    lpt_open();
    return PMPI_Init(argc, argv);
}

static int layer_Init_thread(int* argc, char*** argv, int required, int* provided) {
    lpt_open();
    return PMPI_Init_thread(argc, argv, required, provided);
}

static const struct {
    const char* name;
    void* function;
} layer[] = {
#define L(name) {"PMPI_" #name, (void*)layer_##name}
    L(Init),
    L(Init_thread),
    L(Recv),
    L(Irecv),
    L(Recv_init),
    {"PMPI_Send", (void*)send_blocking},
    {"PMPI_Rsend", (void*)send_blocking},
    L(Ssend),
    L(Bsend),
    L(Isend),
    {"PMPI_Irsend", (void*)layer_Isend},
    L(Issend),
    L(Send_init),
    {"PMPI_Rsend_init", (void*)layer_Send_init},
    L(Ssend_init),
    L(Start),
    L(Startall),
    L(Wait),
    L(Test),
    L(Waitall),
    L(Testall),
    L(Waitany),
    L(Testany),
    L(Waitsome),
    L(Testsome),
    L(Sendrecv),
    L(Win_fence),
    L(Win_complete),
    L(Win_wait),
    L(Win_unlock),
    L(Win_unlock_all),
    L(Win_flush),
    L(Win_flush_all),
    L(Win_flush_local),
    L(Win_flush_local_all),
    L(Win_free),
#undef L
};

struct lp_api lp_mpi;
struct lp_constants lp_k;

void* lp_find(const char* name) {
    return dlsym(RTLD_DEFAULT, name);
}

void* lp_find_object(const char* name) {
    return dlsym(RTLD_DEFAULT, name);
}

static int missing(void) {
    return MPI_ERR_OTHER;
}

void* lp_real(const char* pmpi_name) {
    for (size_t i = 0; i < sizeof layer / sizeof *layer; i++)
        if (!strcmp(layer[i].name, pmpi_name))
            return layer[i].function;
    void* symbol = lp_find(pmpi_name);
    return symbol ? symbol : (void*)missing;
}

int lp_library_fits(void) {
#define X(name) lp_mpi.name = (__typeof__(lp_mpi.name))lp_find("PMPI_" #name);
    LP_API(X)
#undef X
    lp_mpi.Comm_get_parent = NULL; /* SMPI ends the program in functions that it does not have */
    lp_k = (struct lp_constants){MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL, MPI_REQUEST_NULL, MPI_DATATYPE_NULL,
                                 MPI_UINT64_T,   MPI_BYTE,      MPI_MAX,       MPI_GROUP_NULL};
    return 1;
}
