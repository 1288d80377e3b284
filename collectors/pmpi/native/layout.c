/* The layout of a datatype: blocks, block length, stride and extent, from its envelope, once per datatype.
 *
 * A type is folded from the inside out into a pattern: how many blocks of memory one element touches, their common
 * length and stride while there is one, and the span they cover. Nothing is enumerated beyond the lists that the
 * constructor itself holds, so a vector of a million blocks costs as much as one of two. */
#include <stdlib.h>

#include "runtime.h"

volatile uint32_t lp_type_generation[LP_TYPE_SLOTS];

struct pattern {
    uint64_t blocks; /* 0: no data */
    uint64_t size;
    int64_t begin, end; /* first byte touched, byte after the last */
    int64_t block;      /* common block length; -1: they differ */
    int64_t stride;     /* common distance of block starts; -1: it differs; 0 with a single block */
    int64_t last;       /* length of the last block, what a following block may be glued to */
    int64_t lb, extent;
};

static const struct pattern nothing = {0, 0, 0, 0, 0, 0, 0, 0, 0};

/* a followed in type-map order by b moved by `at` bytes. */
static struct pattern join(struct pattern a, struct pattern b, int64_t at) {
    b.begin += at;
    b.end += at;
    if (!b.blocks)
        return a;
    if (!a.blocks)
        return b;
    struct pattern r = a;
    r.size = a.size + b.size;
    int64_t a_last_start = a.end - a.last;
    if (a.end == b.begin) { /* the seam closes: one block of both */
        int64_t b_first = b.blocks == 1 ? b.last : b.block;
        if (a.blocks == 1 && b.blocks == 1) {
            r.block = r.last = a.last + b.last;
            r.stride = 0;
        } else {
            r.blocks = a.blocks + b.blocks - 1;
            r.block = r.stride = -1;
            r.last = b.blocks == 1 ? a.last + (b_first >= 0 ? b_first : 0) : b.last;
        }
        r.end = b.end;
        return r;
    }
    int64_t step = b.begin - a_last_start;
    r.blocks = a.blocks + b.blocks;
    r.block = a.block >= 0 && a.block == b.block ? a.block : -1;
    r.stride = (a.blocks == 1 || a.stride == step) && (b.blocks == 1 || b.stride == step) && step > 0 ? step : -1;
    r.last = b.last;
    if (b.begin < r.begin)
        r.begin = b.begin;
    if (b.end > r.end)
        r.end = b.end;
    return r;
}

/* count copies at a distance of step bytes. */
static struct pattern repeat(struct pattern p, uint64_t count, int64_t step) {
    if (!count || !p.blocks)
        return nothing;
    if (count == 1)
        return p;
    struct pattern r = p;
    int64_t span = step * (int64_t)(count - 1);
    r.size = p.size * count;
    if (span > 0)
        r.end = p.end + span;
    else
        r.begin = p.begin + span;
    if (p.blocks == 1) {
        if (step == p.last) { /* the copies touch: still one block */
            r.block = r.last = p.last * (int64_t)count;
            return r;
        }
        r.blocks = count;
        r.stride = step > 0 ? step : -1;
        return r;
    }
    int closes = p.end - p.begin == step;
    int continues = p.stride > 0 && step == p.stride * (int64_t)p.blocks;
    r.blocks = closes ? (p.blocks - 1) * count + 1 : p.blocks * count;
    if (closes)
        r.block = r.stride = -1;
    else if (!continues)
        r.stride = -1;
    return r;
}

static struct pattern at(struct pattern p, int64_t offset) {
    return join(nothing, p, offset);
}

static struct pattern fold(MPI_Datatype type, int depth);

static struct pattern array(struct pattern p, int64_t dims, const int64_t* sizes, const int64_t* subsizes,
                            const int64_t* starts, int64_t order) {
    int64_t step = p.extent, offset = 0;
    for (int64_t i = 0; i < dims; i++) {
        int64_t d = order == MPI_ORDER_C ? dims - 1 - i : i;
        p = repeat(p, (uint64_t)subsizes[d], step);
        offset += step * starts[d];
        step *= sizes[d];
    }
    return at(p, offset);
}

/* One dimension of MPI_Type_create_darray as section 4.1.4 of the standard defines it. */
static struct pattern distribute(struct pattern p, int64_t step, int64_t global, int64_t kind, int64_t argument,
                                 int64_t procs, int64_t coord) {
    if (kind == MPI_DISTRIBUTE_NONE)
        return repeat(p, (uint64_t)global, step);
    int64_t block = argument;
    if (argument == MPI_DISTRIBUTE_DFLT_DARG)
        block = kind == MPI_DISTRIBUTE_BLOCK ? (global + procs - 1) / procs : 1;
    int64_t from = block * coord;
    if (from >= global)
        return nothing;
    if (kind == MPI_DISTRIBUTE_BLOCK) {
        int64_t length = global - from < block ? global - from : block;
        return at(repeat(p, (uint64_t)length, step), from * step);
    }
    int64_t cycle = block * procs, whole = (global - from) / cycle, rest = (global - from) - whole * cycle;
    struct pattern one = repeat(p, (uint64_t)block, step);
    struct pattern r = repeat(one, (uint64_t)whole, cycle * step);
    if (rest > 0)
        r = join(r, repeat(p, (uint64_t)(rest < block ? rest : block), step), whole * cycle * step);
    return at(r, from * step);
}

static struct pattern darray(struct pattern p, const int64_t* n) {
    int64_t rank = n[1], dims = n[2];
    const int64_t *sizes = n + 3, *kinds = sizes + dims, *arguments = kinds + dims, *procs = arguments + dims;
    int64_t order = procs[dims];
    int64_t coords[64];
    if (dims > 64)
        return p;
    for (int64_t i = dims - 1; i >= 0; i--) { /* process grids are in C order whatever the arrays' order */
        coords[i] = rank % procs[i];
        rank /= procs[i];
    }
    int64_t step = p.extent;
    for (int64_t i = 0; i < dims; i++) {
        int64_t d = order == MPI_ORDER_C ? dims - 1 - i : i;
        p = distribute(p, step, sizes[d], kinds[d], arguments[d], procs[d], coords[d]);
        step *= sizes[d];
    }
    return p;
}

/* A predefined type, or one that is not taken apart: a block of its size. */
static struct pattern leaf(MPI_Datatype type) {
    MPI_Count size = 0, lb = 0, extent = 0;
    lp_mpi.Type_size_x(type, &size);
    if (lp_mpi.Type_get_extent_x)
        lp_mpi.Type_get_extent_x(type, &lb, &extent);
    struct pattern p = {size > 0, (uint64_t)size, 0, size, size, 0, size, lb, extent};
    return p;
}

/* n and a: integers and addresses in the order in which MPI_Type_get_contents gives them. */
static struct pattern combine(int combiner, const int64_t* n, const int64_t* a, const MPI_Datatype* types, int depth) {
    struct pattern p = fold(types[0], depth + 1), r = nothing;
    int64_t extent = p.extent, count = n[0];
    switch (combiner) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED:
            return p;
        case MPI_COMBINER_CONTIGUOUS:
            return repeat(p, (uint64_t)count, extent);
        case MPI_COMBINER_VECTOR:
            return repeat(repeat(p, (uint64_t)n[1], extent), (uint64_t)count, n[2] * extent);
        case MPI_COMBINER_HVECTOR:
            return repeat(repeat(p, (uint64_t)n[1], extent), (uint64_t)count, a[0]);
        case MPI_COMBINER_INDEXED:
            for (int64_t i = 0; i < count; i++)
                r = join(r, repeat(p, (uint64_t)n[1 + i], extent), n[1 + count + i] * extent);
            return r;
        case MPI_COMBINER_HINDEXED:
            for (int64_t i = 0; i < count; i++)
                r = join(r, repeat(p, (uint64_t)n[1 + i], extent), a[i]);
            return r;
        case MPI_COMBINER_INDEXED_BLOCK:
            p = repeat(p, (uint64_t)n[1], extent);
            for (int64_t i = 0; i < count; i++)
                r = join(r, p, n[2 + i] * extent);
            return r;
        case MPI_COMBINER_HINDEXED_BLOCK:
            p = repeat(p, (uint64_t)n[1], extent);
            for (int64_t i = 0; i < count; i++)
                r = join(r, p, a[i]);
            return r;
        case MPI_COMBINER_STRUCT:
            for (int64_t i = 0; i < count; i++) {
                if (i)
                    p = fold(types[i], depth + 1);
                r = join(r, repeat(p, (uint64_t)n[1 + i], p.extent), a[i]);
            }
            return r;
        case MPI_COMBINER_SUBARRAY:
            return array(p, count, n + 1, n + 1 + count, n + 1 + 2 * count, n[1 + 3 * count]);
        case MPI_COMBINER_DARRAY:
            return darray(p, n);
        default:
            return p;
    }
}

static int is_known(int combiner) {
    switch (combiner) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED:
        case MPI_COMBINER_CONTIGUOUS:
        case MPI_COMBINER_VECTOR:
        case MPI_COMBINER_HVECTOR:
        case MPI_COMBINER_INDEXED:
        case MPI_COMBINER_HINDEXED:
        case MPI_COMBINER_INDEXED_BLOCK:
        case MPI_COMBINER_HINDEXED_BLOCK:
        case MPI_COMBINER_STRUCT:
        case MPI_COMBINER_SUBARRAY:
        case MPI_COMBINER_DARRAY:
            return 1;
        default:
            return 0;
    }
}

/* MPI-4's forms, which know the types made with large counts (the plain ones fail on them, and that would end the
 * program); looked up by name, for the header that we are compiled with may be older than the library. */
typedef int envelope_c(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*);
typedef int contents_c(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*, MPI_Aint*, MPI_Count*,
                       MPI_Datatype*);

struct envelope {
    int combiner;
    MPI_Count integers, addresses, large, types;
};

static int get_envelope(MPI_Datatype type, struct envelope* e) {
    static envelope_c* large;
    static int looked;
    if (!looked) {
        large = (envelope_c*)lp_find("PMPI_Type_get_envelope_c");
        looked = 1;
    }
    *e = (struct envelope){MPI_COMBINER_NAMED, 0, 0, 0, 0};
    if (large)
        return large(type, &e->integers, &e->addresses, &e->large, &e->types, &e->combiner);
    int integers = 0, addresses = 0, types = 0;
    int error = lp_mpi.Type_get_envelope(type, &integers, &addresses, &types, &e->combiner);
    e->integers = integers;
    e->addresses = addresses;
    e->types = types;
    return error;
}

/* Integers and addresses of a type in the plain form's order. The large-count form gives what is a count as a large
 * count and the rest as integers; displacements in bytes are counts there too. */
static void merge(struct envelope e, const int* i, const MPI_Aint* a, const MPI_Count* large, int64_t* n,
                  int64_t* out) {
    if (!e.large) {
        for (MPI_Count k = 0; k < e.integers; k++)
            n[k] = i[k];
        for (MPI_Count k = 0; k < e.addresses; k++)
            out[k] = a[k];
        return;
    }
    MPI_Count counts = e.large; /* how many of the large ones are not byte displacements */
    MPI_Count begin = 0;        /* integers that precede the counts */
    if (e.combiner == MPI_COMBINER_HVECTOR || e.combiner == MPI_COMBINER_HINDEXED_BLOCK)
        counts = 2;
    if (e.combiner == MPI_COMBINER_HINDEXED || e.combiner == MPI_COMBINER_STRUCT)
        counts = 1 + large[0];
    if (e.combiner == MPI_COMBINER_SUBARRAY)
        begin = 1;
    if (e.combiner == MPI_COMBINER_DARRAY)
        begin = 3;
    for (MPI_Count k = 0; k < begin; k++)
        *n++ = i[k];
    for (MPI_Count k = 0; k < counts; k++)
        *n++ = large[k];
    for (MPI_Count k = begin; k < e.integers; k++)
        *n++ = i[k];
    for (MPI_Count k = counts; k < e.large; k++)
        *out++ = large[k];
}

static int get_contents(MPI_Datatype type, struct envelope e, int* i, MPI_Aint* a, MPI_Count* large,
                        MPI_Datatype* types) {
    contents_c* with_large = e.large ? (contents_c*)lp_find("PMPI_Type_get_contents_c") : NULL;
    if (with_large)
        return with_large(type, e.integers, e.addresses, e.large, e.types, i, a, large, types);
    if (e.large)
        return 1;
    return lp_mpi.Type_get_contents(type, (int)e.integers, (int)e.addresses, (int)e.types, i, a, types);
}

static int is_predefined(MPI_Datatype type) {
    struct envelope e;
    if (get_envelope(type, &e))
        return 1;
    return e.combiner == MPI_COMBINER_NAMED || e.combiner == MPI_COMBINER_F90_INTEGER ||
           e.combiner == MPI_COMBINER_F90_REAL || e.combiner == MPI_COMBINER_F90_COMPLEX;
}

static struct pattern fold(MPI_Datatype type, int depth) {
    struct envelope e;
    struct pattern whole = leaf(type);
    if (depth > 32 || get_envelope(type, &e) || !is_known(e.combiner) || !e.types)
        return whole;
    size_t room = (size_t)(e.integers + e.addresses + e.large) + 2;
    int* i = calloc((size_t)e.integers + 1, sizeof *i);
    MPI_Aint* a = calloc((size_t)e.addresses + 1, sizeof *a);
    MPI_Count* large = calloc((size_t)e.large + 1, sizeof *large);
    MPI_Datatype* inner = calloc((size_t)e.types, sizeof *inner);
    int64_t* numbers = calloc(2 * room, sizeof *numbers);
    struct pattern p = whole;
    if (i && a && large && inner && numbers && !get_contents(type, e, i, a, large, inner)) {
        merge(e, i, a, large, numbers, numbers + room);
        p = combine(e.combiner, numbers, numbers + room, inner, depth);
        p.lb = whole.lb;
        p.extent = whole.extent;
        for (MPI_Count k = 0; k < e.types; k++)
            if (!is_predefined(inner[k]))
                lp_mpi.Type_free(&inner[k]);
    }
    free(i);
    free(a);
    free(large);
    free(inner);
    free(numbers);
    return p;
}

uint32_t lp_layout_note(struct lp_thread* t, struct lp_layout_def layout) {
    static uint32_t layouts;
    size_t bytes = sizeof(struct lp_head) + sizeof layout;
    if (!lp_reserve(t, bytes))
        return 0;
    layout.layout = __atomic_add_fetch(&layouts, 1, __ATOMIC_RELAXED);
    memcpy(t->pos + sizeof(struct lp_head), &layout, sizeof layout);
    uint64_t now = lp_now();
    lp_commit(t, LP_DEF_LAYOUT, 0, bytes, now, now);
    return layout.layout;
}

struct lp_layout_use lp_layout_uses[LP_LAYOUT_USES];

/* Places are found by hashing, and written under a lock that no thread waits for: where another one writes, this
 * message is not counted. */
static struct lp_layout_use* find_use(const struct lp_type_entry* e, uint64_t bytes) {
    static volatile char writes;
    const uint64_t hash = (bytes * 31 + e->block) * 31 + e->stride;
    for (unsigned i = 0; i < LP_LAYOUT_USES; i++) {
        struct lp_layout_use* u = &lp_layout_uses[(hash ^ hash >> 7) % LP_LAYOUT_USES ^ i];
        if (!__atomic_load_n(&u->messages, __ATOMIC_ACQUIRE)) {
            if (__atomic_test_and_set(&writes, __ATOMIC_ACQUIRE))
                return NULL;
            const int is_free = !__atomic_load_n(&u->messages, __ATOMIC_RELAXED);
            if (is_free) {
                *u = (struct lp_layout_use){bytes, e->block, e->stride, 0};
                __atomic_store_n(&u->messages, 1, __ATOMIC_RELEASE);
            }
            __atomic_clear(&writes, __ATOMIC_RELEASE);
            return is_free ? u : NULL;
        }
        if (u->bytes == bytes && u->block == e->block && u->stride == e->stride)
            return u;
    }
    return NULL;
}

void lp_layout_used(struct lp_type_entry* e, uint64_t bytes) {
    if (!e->used || e->used->bytes != bytes)
        e->used = find_use(e, bytes);
    if (e->used)
        __atomic_fetch_add(&e->used->messages, 1, __ATOMIC_RELAXED);
}

struct lp_type_entry* lp_type_learn(struct lp_thread* t, struct lp_type_entry* slot, MPI_Datatype type) {
    uint32_t generation = *lp_type_slot((uintptr_t)type);
    MPI_Count size = 0;
    slot->layout = 0;
    slot->block = slot->stride = 0;
    slot->used = NULL;
    slot->handle = (uintptr_t)type;
    slot->size = 0;
    slot->generation = generation;
    if (type == lp_k.type_null || lp_mpi.Type_size_x(type, &size))
        return slot;
    slot->size = size > 0 ? (uint64_t)size : 0;
    struct pattern p = fold(type, 0);
    int contiguous = p.blocks == 0 || (p.blocks == 1 && p.extent == (int64_t)p.size);
    if (contiguous)
        return slot;
    int64_t mean = p.blocks > 1 ? (p.end - p.begin - p.last) / (int64_t)(p.blocks - 1) : p.extent;
    slot->layout = lp_layout_note(t, (struct lp_layout_def){0, p.block >= 0 && p.stride >= 0, p.blocks,
                                                            p.block >= 0 ? (uint64_t)p.block : p.size / p.blocks,
                                                            p.blocks == 1   ? p.extent
                                                            : p.stride >= 0 ? p.stride
                                                                            : mean,
                                                            p.extent, p.size});
    const int64_t stride = p.blocks == 1 ? p.extent : p.stride;
    if (p.block > 0 && stride > p.block) {
        slot->block = (uint64_t)p.block;
        slot->stride = (uint64_t)stride;
    }
    return slot;
}
