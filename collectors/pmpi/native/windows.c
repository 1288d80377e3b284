/* Windows for one-sided accesses: local ids, which handles stand for, and the ranks of a group in a window.
 *
 * Nothing is sent: all members of a window know which processes it connects, and their ranks in its communicator.
 */
#include <pthread.h>
#include <stdlib.h>

#include "runtime.h"

volatile uint32_t lp_rma_generation = 1;
uint32_t lp_rma_kinds = 0;

struct entry {
    uintptr_t handle; /* DEAD: free for reuse */
    uint32_t id;
    uint32_t kind;
    struct entry* next;
};
#define DEAD ((uintptr_t)-1)
#define BUCKETS 256u
static struct entry* table[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t ids = 0;

static struct entry** bucket(uintptr_t handle) {
    return &table[(handle ^ handle >> 7 ^ handle >> 16) % BUCKETS];
}

/* Readers take no lock: entries are never freed, and a handle in use is not changed under its user. */
static struct entry* find(uintptr_t handle) {
    for (struct entry* e = __atomic_load_n(bucket(handle), __ATOMIC_ACQUIRE); e; e = e->next)
        if (__atomic_load_n(&e->handle, __ATOMIC_ACQUIRE) == handle)
            return e;
    return NULL;
}

static uint32_t insert(uintptr_t handle, uint32_t kind) {
    pthread_mutex_lock(&lock);
    struct entry **head = bucket(handle), *e = *head;
    while (e && e->handle != handle && e->handle != DEAD)
        e = e->next;
    struct entry* fresh = e ? NULL : calloc(1, sizeof *e);
    if (fresh) {
        fresh->handle = DEAD;
        fresh->next = *head;
        e = fresh;
    }
    uint32_t id = 0;
    if (e) {
        e->id = id = ++ids;
        e->kind = kind;
        __atomic_store_n(&e->handle, handle, __ATOMIC_RELEASE);
        if (fresh)
            __atomic_store_n(head, fresh, __ATOMIC_RELEASE);
        lp_rma_generation++;
    }
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t lp_rma_register_over(struct lp_thread* t, MPI_Win win, uint32_t comm, int kind, uint32_t of) {
    uint32_t id = insert((uintptr_t)win, (uint32_t)kind);
    __atomic_fetch_or(&lp_rma_kinds, 1u << kind, __ATOMIC_RELAXED);
    size_t bytes = sizeof(struct lp_head) + sizeof(struct lp_rma_def);
    if (!id || !lp_reserve(t, bytes))
        return id;
    *(struct lp_rma_def*)(t->pos + sizeof(struct lp_head)) = (struct lp_rma_def){id, comm, (uint32_t)kind, of};
    uint64_t now = lp_now();
    lp_commit(t, LP_DEF_RMA, 0, bytes, now, now);
    return id;
}

uint32_t lp_rma_register(struct lp_thread* t, MPI_Win win, MPI_Comm comm, int kind) {
    return lp_rma_register_over(t, win, lp_comm_id(t, comm), kind, 0);
}

uint32_t lp_rma_register_context(struct lp_thread* t, MPI_Win ctx, uint32_t of) {
    return lp_rma_register_over(t, ctx, 0, LP_RMA_CONTEXT, of);
}

struct lp_rma_call lp_rma_forget(MPI_Win win) {
    pthread_mutex_lock(&lock);
    struct entry* e = find((uintptr_t)win);
    struct lp_rma_call gone = {0, 0};
    if (e) {
        gone = (struct lp_rma_call){e->id, e->kind};
        __atomic_store_n(&e->handle, DEAD, __ATOMIC_RELEASE);
    }
    lp_rma_generation++;
    pthread_mutex_unlock(&lock);
    return gone;
}

uint32_t lp_rma_lookup(struct lp_thread* t, uintptr_t handle) {
    struct lp_mpi_thread* m = lp_mpi_part(t);
    uint32_t generation = lp_rma_generation;
    struct entry* e = find(handle);
    m->rma_handle = handle;
    m->rma_id = e ? e->id : 0;
    m->rma_generation = generation;
    return m->rma_id;
}

void lp_rma_name(struct lp_thread* t, MPI_Win win, const char* name) {
    lp_note_name(t, LP_NAME_RMA, lp_rma_id(t, win), name);
}

uint64_t* lp_rma_ranks(struct lp_thread* t, MPI_Win win, MPI_Group group, int* count) {
    MPI_Group all = lp_k.group_null;
    int n = 0;
    *count = 0;
    if (!lp_mpi.Win_get_group || lp_mpi.Group_size(group, &n) || n <= 0 || lp_mpi.Win_get_group(win, &all))
        return NULL;
    int* ranks = malloc(2 * sizeof(int) * (size_t)n);
    uint64_t* found = lp_handles_scratch(t, (size_t)n);
    if (ranks && found) {
        for (int i = 0; i < n; i++)
            ranks[i] = i;
        if (!lp_mpi.Group_translate_ranks(group, n, ranks, all, ranks + n))
            for (int i = 0; i < n; i++)
                if (ranks[n + i] >= 0)
                    found[(*count)++] = (uint64_t)ranks[n + i];
    }
    free(ranks);
    lp_mpi.Group_free(&all);
    return found;
}
