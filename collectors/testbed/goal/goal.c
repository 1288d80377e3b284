/* Plays a GOAL schedule as an MPI program: goal FILE SECONDS_PER_UNIT.
 *
 * What a program does one after the other becomes blocking calls: a message is sent or received by a blocking call if
 * nothing else could proceed concurrently, and by a nonblocking one otherwise. Where nothing can proceed, the rank
 * waits for the messages that the one operation which could be next needs; where there are several such operations, for
 * any. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../workloads/logpost_compute.h"
#include "schedule.h"

struct player {
    struct schedule schedule;
    int rank, done, left;
    struct list ready; /* taken from `first` on */
    int first;
    struct list open; /* operations in progress, with */
    MPI_Request* requests;
    void** buffers;
    int room;
    char* sent;
    double unit_s;
};

static struct operation* operation(struct player* p, int number) {
    return &p->schedule.operations[number];
}

static void satisfy(struct player* p, const struct list* waiting) {
    for (int i = 0; i < waiting->count; i++)
        if (--operation(p, waiting->items[i])->missing == 0)
            append(&p->ready, waiting->items[i]);
}

static void begin(struct player* p, int number) {
    operation(p, number)->state = BEGUN;
    satisfy(p, &operation(p, number)->on_begun);
}

static void end(struct player* p, int number) {
    operation(p, number)->state = DONE;
    p->left--;
    satisfy(p, &operation(p, number)->on_done);
}

/* Whether the rank could do something else while `number` blocks: something is ready, or an operation in progress would
 * make it so. */
static int something_else(struct player* p, int number) {
    if (p->first < p->ready.count || operation(p, number)->on_begun.count > 0)
        return 1;
    for (int i = 0; i < p->open.count; i++) {
        const struct list* waiting = &operation(p, p->open.items[i])->on_done;
        for (int k = 0; k < waiting->count; k++)
            if (operation(p, waiting->items[k])->missing == 1)
                return 1;
    }
    return 0;
}

static void* memory_of(int64_t bytes) {
    void* memory = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (!memory) {
        fprintf(stderr, "goal: out of memory for a message of %" PRId64 " bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

static int source_of(const struct operation* one) {
    return one->peer < 0 ? MPI_ANY_SOURCE : one->peer;
}
static int tag_of(const struct operation* one) {
    return one->tag < 0 ? MPI_ANY_TAG : one->tag;
}

static void block(struct player* p, int number) {
    struct operation* one = operation(p, number);
    const int bytes = (int)one->amount;
    if (one->kind == SEND) {
        MPI_Send(p->sent, bytes, MPI_BYTE, one->peer, one->tag, MPI_COMM_WORLD);
    } else {
        void* buffer = memory_of(bytes);
        MPI_Recv(buffer, bytes, MPI_BYTE, source_of(one), tag_of(one), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        free(buffer);
    }
}

static void start(struct player* p, int number) {
    struct operation* one = operation(p, number);
    const int at = p->open.count, bytes = (int)one->amount;
    append(&p->open, number);
    if (p->room < p->open.room) {
        p->room = p->open.room;
        p->requests = realloc(p->requests, (size_t)p->room * sizeof *p->requests);
        p->buffers = realloc(p->buffers, (size_t)p->room * sizeof *p->buffers);
        if (!p->requests || !p->buffers)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    p->buffers[at] = one->kind == RECV ? memory_of(bytes) : NULL;
    if (one->kind == SEND)
        MPI_Isend(p->sent, bytes, MPI_BYTE, one->peer, one->tag, MPI_COMM_WORLD, &p->requests[at]);
    else
        MPI_Irecv(p->buffers[at], bytes, MPI_BYTE, source_of(one), tag_of(one), MPI_COMM_WORLD, &p->requests[at]);
}

static void run(struct player* p, int number) {
    struct operation* one = operation(p, number);
    if (one->kind == CALC) {
        logpost_compute_seconds((double)one->amount * p->unit_s);
        begin(p, number);
        end(p, number);
    } else if (something_else(p, number)) {
        start(p, number);
        begin(p, number);
    } else {
        block(p, number);
        begin(p, number);
        end(p, number);
    }
}

/* Takes an operation that has ended out of those in progress. */
static void close_one(struct player* p, int at) {
    const int number = p->open.items[at], last = --p->open.count;
    free(p->buffers[at]);
    p->open.items[at] = p->open.items[last];
    p->requests[at] = p->requests[last];
    p->buffers[at] = p->buffers[last];
    end(p, number);
}

/* The operation that only misses messages in flight; -1: several do, or none. */
static int next_in_line(struct player* p) {
    int found = -1;
    for (int i = 0; i < p->open.count; i++) {
        const struct list* waiting = &operation(p, p->open.items[i])->on_done;
        for (int k = 0; k < waiting->count; k++)
            operation(p, waiting->items[k])->unfinished++;
    }
    for (int i = 0; i < p->open.count; i++) {
        const struct list* waiting = &operation(p, p->open.items[i])->on_done;
        for (int k = 0; k < waiting->count; k++) {
            struct operation* one = operation(p, waiting->items[k]);
            if (one->unfinished > 0 && one->unfinished == one->missing)
                found = found == -1 || found == waiting->items[k] ? waiting->items[k] : -2;
            if (found == -2)
                break;
        }
    }
    for (int i = 0; i < p->open.count; i++) {
        const struct list* waiting = &operation(p, p->open.items[i])->on_done;
        for (int k = 0; k < waiting->count; k++)
            operation(p, waiting->items[k])->unfinished = 0;
    }
    return found < 0 ? -1 : found;
}

/* Orders the operations in progress so that those that `number` misses are first; how many these are. */
static int missed_first(struct player* p, int number) {
    int front = 0;
    for (int i = 0; i < p->open.count; i++) {
        const struct list* waiting = &operation(p, p->open.items[i])->on_done;
        int needed = 0;
        for (int k = 0; k < waiting->count; k++)
            needed |= waiting->items[k] == number;
        if (!needed)
            continue;
        const int item = p->open.items[i];
        const MPI_Request request = p->requests[i];
        void* buffer = p->buffers[i];
        p->open.items[i] = p->open.items[front];
        p->requests[i] = p->requests[front];
        p->buffers[i] = p->buffers[front];
        p->open.items[front] = item;
        p->requests[front] = request;
        p->buffers[front] = buffer;
        front++;
    }
    return front;
}

static void wait_for_some(struct player* p) {
    const int next = next_in_line(p), count = next < 0 ? 0 : missed_first(p, next);
    if (count == 1) {
        MPI_Wait(&p->requests[0], MPI_STATUS_IGNORE);
        close_one(p, 0);
    } else if (count > 1) {
        MPI_Waitall(count, p->requests, MPI_STATUSES_IGNORE);
        for (int i = count; i-- > 0;)
            close_one(p, i);
    } else if (p->left == p->open.count) {
        /* Nothing needs them: the program ends with them. */
        MPI_Waitall(p->open.count, p->requests, MPI_STATUSES_IGNORE);
        while (p->open.count > 0)
            close_one(p, p->open.count - 1);
    } else {
        int at = 0;
        MPI_Waitany(p->open.count, p->requests, &at, MPI_STATUS_IGNORE);
        close_one(p, at);
    }
}

static int play(struct player* p) {
    p->left = p->schedule.count;
    for (int i = 0; i < p->schedule.count; i++)
        if (operation(p, i)->missing == 0)
            append(&p->ready, i);
    while (p->left > 0) {
        if (p->first < p->ready.count) {
            run(p, p->ready.items[p->first++]);
        } else if (p->open.count > 0) {
            wait_for_some(p);
        } else {
            fprintf(stderr, "goal: rank %d: %d operations wait for each other in a circle\n", p->rank, p->left);
            return 2;
        }
    }
    return 0;
}

int main(int argc, char** argv) {
    struct player p = {.unit_s = 1e-9};
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int status = argc == 3 ? 0 : 2;
    if (status && p.rank == 0)
        fprintf(stderr, "usage: goal FILE.goal SECONDS_PER_UNIT\n");
    if (!status) {
        p.unit_s = strtod(argv[2], NULL);
        status = read_schedule(argv[1], p.rank, &p.schedule);
    }
    if (!status && p.schedule.ranks != ranks) {
        if (p.rank == 0)
            fprintf(stderr, "goal: %s is for %d ranks, not for %d\n", argv[1], p.schedule.ranks, ranks);
        status = 2;
    }
    int64_t largest = 1;
    for (int i = 0; !status && i < p.schedule.count; i++)
        if (operation(&p, i)->kind == SEND && operation(&p, i)->amount > largest)
            largest = operation(&p, i)->amount;
    p.sent = memory_of(largest);
    memset(p.sent, 0, (size_t)largest);
    if (!status)
        status = play(&p);
    if (status)
        MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
    return 0;
}
