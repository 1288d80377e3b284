#include <string.h>

#include "../logpost_compute.h"
#include "memory.h"
#include "remote.h"
#include "team_mpi.h"

/* REQUESTED exists on the testbed only. Its answer starts when this rank next requests anything after the request has
 * arrived, since nothing but the reader can start it: late by one piece of computation at the most. */
enum state { FREE = 0, REQUESTED, ARRIVING };

struct load {
    enum state state;
    int rank;
    MPI_Aint at;
    void* to;
    int words;
    MPI_Request request;
};

struct remote {
    const struct processor* processor;
    MPI_Comm comm;
    void* own;
    MPI_Win window;
    struct load loads[REMOTE_AHEAD];
    int started; /* prefetched loads so far */
    /* testbed: requests, invalidations and acknowledgements; what is in them does not matter */
    int64_t *header, scratch;
    MPI_Win headers;
};

struct remote* remote_open(const struct team* team, int64_t words, const struct processor* processor,
                           const char* name) {
    char label[MPI_MAX_OBJECT_NAME];
    struct remote* r = LP_NEW(struct remote, 1);
    r->processor = processor;
    r->own = lp_allocate(words, 8);
    r->header = LP_NEW(int64_t, 1);
    r->window = r->headers = MPI_WIN_NULL;
    MPI_Comm_dup(team_comm(team), &r->comm);
    MPI_Comm_set_name(r->comm, name);
    if (team->ranks == 1)
        return r; /* nothing to communicate, and Open MPI 4.1 has no windows of one process */
    MPI_Win_create(r->own, (MPI_Aint)words * 8, 8, MPI_INFO_NULL, r->comm, &r->window);
    MPI_Win_set_name(r->window, name);
    MPI_Win_lock_all(0, r->window);
    if (LOGPOST_COMPUTE_IS_SIMULATED) {
        MPI_Win_create(r->header, 8, 8, MPI_INFO_NULL, r->comm, &r->headers);
        snprintf(label, sizeof label, "%s headers", name);
        MPI_Win_set_name(r->headers, label);
        MPI_Win_lock_all(0, r->headers);
        processor_tests_for_free();
    }
    MPI_Barrier(r->comm);
    return r;
}

static void close_window(MPI_Win* window) {
    if (*window == MPI_WIN_NULL)
        return;
    MPI_Win_unlock_all(*window);
    MPI_Win_free(window);
}

void remote_close(struct remote* r) {
    if (!r)
        return;
    close_window(&r->window);
    close_window(&r->headers);
    MPI_Comm_free(&r->comm);
    free(r->own);
    free(r->header);
    free(r);
}

void* remote_own(struct remote* r) {
    return r->own;
}

static void send_header(struct remote* r, int rank) {
    MPI_Put(&r->scratch, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, r->headers);
}

static void fetch_header(struct remote* r, int rank) {
    MPI_Get(&r->scratch, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, r->headers);
}

void remote_read(struct remote* r, int rank, int64_t at, void* to, int64_t words) {
    if (r->headers != MPI_WIN_NULL) {
        send_header(r, rank);
        MPI_Win_flush(rank, r->headers);
    }
    MPI_Get(to, (int)words, MPI_INT64_T, rank, (MPI_Aint)at, (int)words, MPI_INT64_T, r->window);
    MPI_Win_flush(rank, r->window);
}

static void fetch(struct remote* r, struct load* l) {
    MPI_Rget(l->to, l->words, MPI_INT64_T, l->rank, l->at, l->words, MPI_INT64_T, r->window, &l->request);
    l->state = ARRIVING;
}

static void answer_requests(struct remote* r) {
    for (int k = 0; k < REMOTE_AHEAD; k++) {
        int arrived = 0;
        if (r->loads[k].state == REQUESTED)
            MPI_Test(&r->loads[k].request, &arrived, MPI_STATUS_IGNORE);
        if (arrived)
            fetch(r, &r->loads[k]);
    }
}

int remote_next(const struct remote* r) {
    return r->started % REMOTE_AHEAD;
}

void remote_prefetch(struct remote* r, int rank, int64_t at, void* to, int64_t words) {
    const int number = r->started++ % REMOTE_AHEAD;
    struct load* l = &r->loads[number];
    *l = (struct load){.rank = rank, .at = (MPI_Aint)at, .to = to, .words = (int)words};
    if (r->headers == MPI_WIN_NULL) {
        fetch(r, l);
        return;
    }
    answer_requests(r);
    MPI_Rput(&r->scratch, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, r->headers, &l->request);
    l->state = REQUESTED;
}

void remote_arrive(struct remote* r, int number) {
    struct load* l = &r->loads[number];
    if (l->state == REQUESTED) {
        MPI_Wait(&l->request, MPI_STATUS_IGNORE);
        fetch(r, l);
    }
    if (r->headers != MPI_WIN_NULL)
        answer_requests(r);
    MPI_Wait(&l->request, MPI_STATUS_IGNORE);
    l->state = FREE;
}

void remote_add(struct remote* r, int rank, int64_t at, const int64_t* what, int64_t words) {
    MPI_Accumulate(what, (int)words, MPI_INT64_T, rank, (MPI_Aint)at, (int)words, MPI_INT64_T, MPI_SUM, r->window);
}

void remote_update(struct remote* r, int rank, int64_t at, const int64_t* what, int64_t words) {
    remote_add(r, rank, at, what, words);
    MPI_Win_flush(rank, r->window);
    if (r->headers != MPI_WIN_NULL) {
        fetch_header(r, rank);
        MPI_Win_flush(rank, r->headers);
    }
}

void remote_put(struct remote* r, int rank, int64_t at, const void* from, int64_t words) {
    MPI_Put(from, (int)words, MPI_INT64_T, rank, (MPI_Aint)at, (int)words, MPI_INT64_T, r->window);
}

void remote_set(struct remote* r, int rank, int64_t at, const void* from) {
    /* A replacing accumulate is atomic; a plain put is not. */
    MPI_Accumulate(from, 1, MPI_INT64_T, rank, (MPI_Aint)at, 1, MPI_INT64_T, MPI_REPLACE, r->window);
}

void remote_invalidate(struct remote* r, int rank, int wait) {
    if (r->headers == MPI_WIN_NULL)
        return;
    send_header(r, rank);
    if (wait)
        MPI_Win_flush(rank, r->headers);
    fetch_header(r, rank);
    if (wait)
        MPI_Win_flush(rank, r->headers);
}

void remote_lock(struct remote* r, int rank) {
    remote_invalidate(r, rank, 1);
}

void remote_quiet(struct remote* r) {
    MPI_Win_flush_all(r->window);
    if (r->headers != MPI_WIN_NULL)
        MPI_Win_flush_all(r->headers);
}

/* Own loads and stores, and others' accesses, see each other. SMPI has no MPI_Win_sync, and needs none: one process. */
static void see_memory(struct remote* r) {
    if (!LOGPOST_COMPUTE_IS_SIMULATED)
        MPI_Win_sync(r->window);
}

void remote_barrier(struct remote* r) {
    remote_quiet(r);
    see_memory(r);
    MPI_Barrier(r->comm);
    see_memory(r);
}

void remote_look(struct remote* r) {
    int flag;
    if (!LOGPOST_COMPUTE_IS_SIMULATED) /* lets MPI work */
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, r->comm, &flag, MPI_STATUS_IGNORE);
    processor_look(r->processor);
    see_memory(r);
}
