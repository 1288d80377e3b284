/* Communicators: local ids for the log, and ids on which all members agree.
 *
 * Handles are reused after a communicator is freed, so each gets a number of its own here. After a blocking constructor
 * (which MPI allows to synchronize anyway) rank 0 of the new communicator broadcasts an id; the call's end was stamped
 * before. MPI_Comm_idup must not wait: its id is the parent's with the number of the duplication, which is the same on
 * all members because idup is collective over the parent.
 *
 * An open file is a separate communicator, as MPI makes one of it, named the same way: its collective operations have
 * an order apart from those of the communicator that it was opened on. */
#include <pthread.h>
#include <stdlib.h>

#include "runtime.h"

volatile uint32_t lp_comm_generation = 1;

struct entry {
    uintptr_t handle; /* 0 - 1: free for reuse */
    uint32_t id;
    uint32_t dups;
    uint32_t persistent; /* collective operations that were made */
    uint64_t agreed[2];
    uint64_t remote[2]; /* of an inter-communicator's other side; 0 of others */
    struct entry* next;
};
#define DEAD ((uintptr_t)-1)
#define BUCKETS 1024u
static struct entry* table[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t ids = 0;
static uint64_t counter = 0;

static unsigned bucket(uintptr_t handle) {
    return (unsigned)((handle ^ handle >> 7 ^ handle >> 16) % BUCKETS);
}

/* Readers take no lock: entries are never freed, and a handle in use is not changed under its user. */
static struct entry* find(uintptr_t handle) {
    for (struct entry* e = __atomic_load_n(&table[bucket(handle)], __ATOMIC_ACQUIRE); e; e = e->next)
        if (__atomic_load_n(&e->handle, __ATOMIC_ACQUIRE) == handle)
            return e;
    return NULL;
}

static struct entry* insert(uintptr_t handle, const uint64_t agreed[2], const uint64_t remote[2]) {
    pthread_mutex_lock(&lock);
    unsigned b = bucket(handle);
    struct entry* e = table[b];
    while (e && e->handle != handle && e->handle != DEAD)
        e = e->next;
    struct entry* fresh = e ? NULL : calloc(1, sizeof *e);
    if (fresh) {
        fresh->handle = DEAD;
        fresh->next = table[b];
        e = fresh;
    }
    if (e) {
        e->id = ++ids;
        e->dups = 0;
        e->persistent = 0;
        e->agreed[0] = agreed[0];
        e->agreed[1] = agreed[1];
        e->remote[0] = remote[0];
        e->remote[1] = remote[1];
        __atomic_store_n(&e->handle, handle, __ATOMIC_RELEASE);
        if (fresh)
            __atomic_store_n(&table[b], fresh, __ATOMIC_RELEASE);
        lp_comm_generation++;
    }
    pthread_mutex_unlock(&lock);
    return e;
}

/* The communicator of a handle has the members of `like`: of MPI_Comm_idup, it may not be used yet. */
static uint32_t define_like(struct lp_thread* t, uintptr_t handle, MPI_Comm like, uint32_t parent, uint32_t flags,
                            const uint64_t agreed[2], const uint64_t remote[2]) {
    struct entry* e = insert(handle, agreed, remote);
    if (!e)
        return 0;
    size_t bytes = sizeof(struct lp_head) + sizeof(struct lp_comm_def);
    if (!lp_reserve(t, bytes))
        return e->id;
    struct lp_comm_def* def = (struct lp_comm_def*)(t->pos + sizeof(struct lp_head));
    int rank = 0, size = 0, other = 0;
    lp_mpi.Comm_rank(like, &rank);
    lp_mpi.Comm_size(like, &size);
    if (flags & LP_COMM_INTER)
        lp_mpi.Comm_remote_size(like, &other);
    *def = (struct lp_comm_def){e->id,         flags,         {agreed[0], agreed[1]}, {remote[0], remote[1]},
                                (int32_t)rank, (int32_t)size, (int32_t)other,         parent};
    uint64_t now = lp_now();
    lp_commit(t, LP_DEF_COMM, 0, bytes, now, now);
    return e->id;
}

static uint32_t define(struct lp_thread* t, MPI_Comm comm, uint32_t parent, uint32_t flags, const uint64_t agreed[2],
                       const uint64_t remote[2]) {
    return define_like(t, (uintptr_t)comm, comm, parent, flags, agreed, remote);
}

static uint64_t scrambled(uint64_t x) { /* splitmix64 */
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* One number of two: of chains of communicators (a duplicate's duplicate, a team of a team), a sum that can be undone
 * would name two of them alike. */
static uint64_t mixed(uint64_t a, uint64_t b) {
    return scrambled(scrambled(a) + b);
}

#if defined(LOGPOST_SIMULATED)

/* Agreed without messages, which would take simulated time: the hash of the members, and how many communicators of just
 * these members there have been, which all of them count alike since they make each of them together. */
static uint64_t hash_of_members(MPI_Comm comm, int* size);
static uint32_t number_among_equals(uint64_t members) {
    static struct made {
        uint64_t members;
        uint32_t count;
        struct made* next;
    }* first;
    struct made* m = first;
    while (m && m->members != members)
        m = m->next;
    if (!m) {
        m = calloc(1, sizeof *m);
        if (!m)
            return 0;
        m->members = members;
        m->next = first;
        first = m;
    }
    return ++m->count;
}

#endif

uint32_t lp_comm_register(struct lp_thread* t, MPI_Comm comm, uint32_t parent, uint32_t flags) {
    int inter = 0, rank = 0;
    uint64_t mine[2] = {0, 0}, other[2] = {0, 0};
    if (comm == lp_k.comm_null)
        return 0;
    if (flags & LP_COMM_SELF)
        return define(t, comm, parent, flags, (uint64_t[2]){lp_process_id, 0}, other);
#if defined(LOGPOST_SIMULATED) /* where inter-communicators do not exist */
    (void)inter, (void)rank;
    mine[0] = hash_of_members(comm, &rank);
    mine[1] = number_among_equals(mine[0]);
    return define(t, comm, parent, flags, mine, other);
#endif
    lp_mpi.Comm_test_inter(comm, &inter);
    lp_mpi.Comm_rank(comm, &rank);
    if (rank == 0) {
        mine[0] = lp_process_id;
        mine[1] = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
    }
    if (!inter) {
        lp_mpi.Bcast(mine, 2, lp_k.uint64, 0, comm);
        return define(t, comm, parent, flags, mine, other);
    }
    /* An all-reduce over an inter-communicator brings what the other side has; sending that back brings one's own. */
    uint64_t theirs[2] = {0, 0}, ours[2] = {0, 0};
    lp_mpi.Allreduce(mine, theirs, 2, lp_k.uint64, lp_k.max, comm);
    lp_mpi.Allreduce(theirs, ours, 2, lp_k.uint64, lp_k.max, comm);
    return define(t, comm, parent, flags | LP_COMM_INTER, ours, theirs);
}

/* An inter-communicator to a program that need not be recorded, so nothing may be requested of it: only our side
 * agrees. */
uint32_t lp_comm_register_far(struct lp_thread* t, MPI_Comm comm, MPI_Comm local, uint32_t parent) {
    int rank = 0;
    uint64_t mine[2] = {0, 0};
    if (comm == lp_k.comm_null)
        return 0;
    if (local != lp_k.self) /* which sessions do not have */
        lp_mpi.Comm_rank(local, &rank);
    if (rank == 0) {
        mine[0] = lp_process_id;
        mine[1] = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
    }
    if (local != lp_k.self)
        lp_mpi.Bcast(mine, 2, lp_k.uint64, 0, local);
    return define(t, comm, parent, LP_COMM_INTER, mine, (uint64_t[2]){0, 0});
}

void lp_comm_sessions(struct lp_thread* t, int rank, int size) {
    size_t bytes = sizeof(struct lp_head) + sizeof(struct lp_comm_def);
    if (!lp_reserve(t, bytes))
        return;
    *(struct lp_comm_def*)(t->pos + sizeof(struct lp_head)) =
        (struct lp_comm_def){0, LP_COMM_SESSIONS, {0, 0}, {0, 0}, rank, size, 0, 0};
    uint64_t now = lp_now();
    lp_commit(t, LP_DEF_COMM, 0, bytes, now, now);
}

static uint32_t duplicate(struct lp_thread* t, uintptr_t handle, MPI_Comm parent) {
    uint32_t parent_id = lp_comm_id(t, parent);
    struct entry* e = find((uintptr_t)parent);
    if (!e)
        return 0;
    uint64_t number = __atomic_add_fetch(&e->dups, 1, __ATOMIC_RELAXED);
    int inter = 0;
    lp_mpi.Comm_test_inter(parent, &inter);
    /* Both sides of an inter-communicator know both names; another program's, which is not known, stays 0. */
    uint64_t agreed[2] = {mixed(e->agreed[0], e->agreed[1]), number}, remote[2] = {0, 0};
    if (e->remote[0] | e->remote[1]) {
        remote[0] = mixed(e->remote[0], e->remote[1]);
        remote[1] = number;
    }
    uint32_t flags = LP_COMM_IS_IDUP | (inter ? LP_COMM_INTER : 0);
    return define_like(t, handle, parent, parent_id, flags, agreed, remote);
}

uint32_t lp_comm_idup(struct lp_thread* t, MPI_Comm comm, MPI_Comm parent) {
    return comm == lp_k.comm_null ? 0 : duplicate(t, (uintptr_t)comm, parent);
}

/* No handle of a communicator, nor DEAD where MPI_FILE_NULL is 0: the upper half of the addresses is the kernel's. */
#define FILE_KEY(handle) ((handle) | (uintptr_t)1 << 63)

uint32_t lp_file_opened(struct lp_thread* t, uintptr_t file, MPI_Comm comm, const char* name) {
    int rank = 0, size = 0, other = 0;
    lp_comm_size(comm, &rank, &size, &other);
    if (size < 2) /* no other rank to wait for, and programs open a file per rank and step */
        return 0;
    uint32_t id = duplicate(t, FILE_KEY(file), comm);
    lp_note_name(t, LP_NAME_COMM, id, name);
    return id;
}

void lp_file_unopened(uintptr_t comm) {
    struct entry* e = find(comm);
    if (e)
        __atomic_add_fetch(&e->dups, 1, __ATOMIC_RELAXED);
}

uint32_t lp_file_id(uintptr_t file) {
    const struct entry* e = find(FILE_KEY(file));
    return e ? e->id : 0;
}

void lp_file_forget(uintptr_t file) {
    lp_comm_forget(FILE_KEY(file));
}

uint32_t lp_comm_persistent(MPI_Comm comm) {
    struct entry* e = find((uintptr_t)comm);
    return e ? __atomic_add_fetch(&e->persistent, 1, __ATOMIC_RELAXED) : 0;
}

uint32_t lp_comm_strided(struct lp_thread* t, MPI_Comm of, int first, int step, int size) {
    uint32_t parent = lp_comm_id(t, of);
    struct entry* e = find((uintptr_t)of);
    int own = 0;
    size_t bytes = sizeof(struct lp_head) + sizeof(struct lp_comm_def);
    lp_mpi.Comm_rank(of, &own);
    if (!e || step < 1 || own < first || (own - first) % step || (own - first) / step >= size || !lp_reserve(t, bytes))
        return 0;
    pthread_mutex_lock(&lock);
    uint32_t id = ++ids;
    pthread_mutex_unlock(&lock);
    const uint64_t members = (uint64_t)(uint32_t)first << 32 | (uint32_t)step;
    *(struct lp_comm_def*)(t->pos + sizeof(struct lp_head)) =
        (struct lp_comm_def){id,
                             LP_COMM_UNAGREED,
                             {mixed(mixed(e->agreed[0], e->agreed[1]), members), (uint64_t)size},
                             {0, 0},
                             (own - first) / step,
                             size,
                             0,
                             parent};
    uint64_t now = lp_now();
    lp_commit(t, LP_DEF_COMM, 0, bytes, now, now);
    return id;
}

void lp_comm_forget(uintptr_t handle) {
    pthread_mutex_lock(&lock);
    struct entry* e = find(handle);
    if (e)
        __atomic_store_n(&e->handle, DEAD, __ATOMIC_RELEASE);
    lp_comm_generation++;
    pthread_mutex_unlock(&lock);
}

/* Of the members' places in MPI_COMM_WORLD; 0: cannot be known. */
static uint64_t hash_of_members(MPI_Comm comm, int* size) {
    MPI_Group group = lp_k.group_null, world = lp_k.group_null;
    if (!lp_has_world || lp_mpi.Comm_group(comm, &group) || lp_mpi.Comm_group(lp_k.world, &world))
        return 0;
    lp_mpi.Group_size(group, size);
    int* ranks = malloc(2 * sizeof(int) * (size_t)(*size ? *size : 1));
    uint64_t hash = 0xcbf29ce484222325ull;
    if (ranks) {
        for (int i = 0; i < *size; i++)
            ranks[i] = i;
        lp_mpi.Group_translate_ranks(group, *size, ranks, world, ranks + *size);
        for (int i = 0; i < *size; i++)
            hash = (hash ^ (uint64_t)(uint32_t)ranks[*size + i]) * 0x100000001b3ull;
        free(ranks);
    }
    lp_mpi.Group_free(&group);
    lp_mpi.Group_free(&world);
    return hash;
}

/* A communicator that no wrapper saw made (inside another library's call): its id is a hash of its members' places in
 * MPI_COMM_WORLD, which every member computes alike and without communication. */
static uint32_t discover(struct lp_thread* t, MPI_Comm comm) {
    int inter = 0, size = 0;
    uint64_t none[2] = {0, 0};
    if (comm == lp_k.comm_null)
        return 0;
    lp_mpi.Comm_test_inter(comm, &inter);
    if (inter)
        return 0;
    uint64_t hash = hash_of_members(comm, &size);
    return hash ? define(t, comm, 0, LP_COMM_UNAGREED, (uint64_t[2]){hash, (uint64_t)size}, none) : 0;
}

uint32_t lp_comm_lookup(struct lp_thread* t, uintptr_t handle) {
    uint32_t generation = lp_comm_generation;
    struct entry* e = find(handle);
    uint32_t id = e ? e->id : discover(t, (MPI_Comm)handle);
    lp_mpi_part(t)->comm_handle = handle;
    lp_mpi_part(t)->comm_id = id;
    lp_mpi_part(t)->comm_generation = generation;
    return id;
}

uint32_t lp_comm_known(struct lp_thread* t, uintptr_t handle) {
    const struct lp_mpi_thread* m = lp_mpi_part(t);
    if (m->comm_handle == handle && m->comm_generation == lp_comm_generation)
        return m->comm_id;
    struct entry* e = find(handle);
    return e ? e->id : 0;
}

void lp_note_name(struct lp_thread* t, int kind, uint32_t id, const char* name) {
    size_t length = strnlen(name, 255);
    size_t bytes = sizeof(struct lp_head) + (8 + length + 7) / 8 * 8;
    if (!id || !lp_reserve(t, bytes))
        return;
    char* to = t->pos + sizeof(struct lp_head);
    uint32_t head[2] = {id, (uint32_t)length};
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, name, length);
    uint64_t now = lp_now();
    lp_commit(t, kind, 0, bytes, now, now);
}

void lp_comm_name(struct lp_thread* t, MPI_Comm comm, const char* name) {
    lp_note_name(t, LP_NAME_COMM, lp_comm_id(t, comm), name);
}

int lp_comm_size(MPI_Comm comm, int* rank, int* size, int* other) {
    int inter = 0;
    *rank = *size = *other = 0;
    lp_mpi.Comm_rank(comm, rank);
    lp_mpi.Comm_size(comm, size);
    lp_mpi.Comm_test_inter(comm, &inter);
    if (inter)
        lp_mpi.Comm_remote_size(comm, other);
    else
        *other = *size;
    return inter;
}
