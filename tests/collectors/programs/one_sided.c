/* Three ranks and one kind of one-sided synchronization, which the argument names. Sleeps are where a rank arrives
 * late.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DOUBLES = 512, LATE_US = 60000 };
static double own[DOUBLES], far[DOUBLES];
static int rank, size;
static MPI_Comm world = MPI_COMM_WORLD;

static MPI_Win window(void) {
    double* memory;
    MPI_Win win;
    MPI_Win_allocate(DOUBLES * sizeof(double), sizeof(double), MPI_INFO_NULL, world, &memory, &win);
    memset(memory, 0, DOUBLES * sizeof(double));
    MPI_Barrier(world);
    return win;
}

/* Rank 1 enters the second fence late; 3 puts of 256 bytes and a get of 80 bytes. */
static void fence(void) {
    MPI_Win win = window();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(own, 32, MPI_DOUBLE, (rank + 1) % size, 0, 32, MPI_DOUBLE, win);
    if (rank == 1)
        usleep(LATE_US);
    MPI_Win_fence(0, win);
    if (rank == 2)
        MPI_Get(far, 10, MPI_DOUBLE, 0, 32, 10, MPI_DOUBLE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
}

/* Ranks 0 and 2 access rank 1, which posts late; then rank 0 completes late, and rank 1 waits for it. */
static void groups(void) {
    MPI_Win win = window();
    MPI_Group all, targets, origins;
    int target = 1, origin[2] = {0, 2};
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &target, &targets);
    MPI_Group_incl(all, 2, origin, &origins);
    for (int round = 0; round < 2; round++) {
        /* each rank works as long in each round: a late post or access delays the work behind it */
        if (rank == 1) {
            if (round == 0)
                usleep(LATE_US);
            MPI_Win_post(origins, 0, win);
            MPI_Win_wait(win);
            if (round == 1)
                usleep(LATE_US);
        } else {
            MPI_Win_start(targets, 0, win);
            MPI_Put(own, 16, MPI_DOUBLE, 1, 16 * rank, 16, MPI_DOUBLE, win);
            if (round == 1 && rank == 0)
                usleep(LATE_US);
            MPI_Win_complete(win);
            if (round == 0 || rank == 2)
                usleep(LATE_US);
        }
        MPI_Barrier(world);
    }
    if (rank == 1) { /* an exposure that is tested for */
        int done = 0;
        MPI_Win_post(origins, 0, win);
        while (!done) {
            usleep(1000);
            MPI_Win_test(win, &done);
        }
    } else {
        MPI_Win_start(targets, 0, win);
        MPI_Win_complete(win);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
    MPI_Win_free(&win);
}

/* Rank 0 holds the lock of rank 1 while rank 2 requests it. */
static void locks(void) {
    MPI_Win win = window();
    char go = 0;
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(own, 8, MPI_DOUBLE, 1, 0, 8, MPI_DOUBLE, win);
        MPI_Win_flush(1, win);
        MPI_Send(&go, 1, MPI_CHAR, 2, 0, world);
        usleep(LATE_US);
        MPI_Win_unlock(1, win);
    } else if (rank == 2) {
        MPI_Recv(&go, 1, MPI_CHAR, 0, 0, world, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(own, 4, MPI_DOUBLE, 1, 8, 4, MPI_DOUBLE, win);
        MPI_Win_unlock(1, win);
    }
    MPI_Barrier(world);
    MPI_Win_free(&win);
}

/* All locked once: 5 puts of 1024 bytes each flushed, 2 gets completed together, 1 put that the unlock completes. */
static void flushes(void) {
    MPI_Win win = window();
    int next = (rank + 1) % size;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 5; i++) {
        MPI_Put(own, 128, MPI_DOUBLE, next, 0, 128, MPI_DOUBLE, win);
        i % 2 ? MPI_Win_flush_all(win) : MPI_Win_flush(next, win);
    }
    MPI_Get(far, 4, MPI_DOUBLE, next, 0, 4, MPI_DOUBLE, win);
    MPI_Get(far + 4, 4, MPI_DOUBLE, rank, 0, 4, MPI_DOUBLE, win);
    MPI_Win_flush_local(next, win);
    MPI_Win_flush_local_all(win);
    MPI_Win_sync(win);
    MPI_Put(own, 1, MPI_DOUBLE, next, 200, 1, MPI_DOUBLE, win);
    MPI_Put(own, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* A counter on rank 0, 20 from each; a swap, and sums with and without an operand. */
static void counter(void) {
    MPI_Win win = window();
    int64_t one = 1, two = 2, old = 0;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 20; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
    MPI_Fetch_and_op(NULL, &old, MPI_INT64_T, 0, 0, MPI_NO_OP, win);
    MPI_Compare_and_swap(&one, &two, &old, MPI_INT64_T, 0, 1, win);
    MPI_Accumulate(own, 6, MPI_DOUBLE, 0, 8, 6, MPI_DOUBLE, MPI_SUM, win);
    MPI_Get_accumulate(own, 3, MPI_DOUBLE, far, 3, MPI_DOUBLE, 0, 8, 3, MPI_DOUBLE, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, far, 3, MPI_DOUBLE, 0, 8, 3, MPI_DOUBLE, MPI_NO_OP, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Requests: waited for singly and together, and tested for; both sides with gaps, of different kinds. */
static void requests(void) {
    MPI_Win win = window();
    MPI_Datatype pairs, spread;
    MPI_Request r[4];
    int next = (rank + 1) % size, done = 0;
    MPI_Type_vector(4, 2, 6, MPI_DOUBLE, &pairs);  /* 4 blocks of 16 bytes, one each 48 */
    MPI_Type_vector(8, 1, 3, MPI_DOUBLE, &spread); /* 8 blocks of 8 bytes, one each 24 */
    MPI_Type_commit(&pairs);
    MPI_Type_commit(&spread);
    MPI_Win_lock_all(0, win);
    MPI_Rput(own, 1, pairs, next, 0, 1, spread, win, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Rput(own, 8, MPI_DOUBLE, next, 0, 8, MPI_DOUBLE, win, &r[0]);
    MPI_Rget(far, 1, pairs, next, 100, 8, MPI_DOUBLE, win, &r[1]);
    MPI_Raccumulate(own, 5, MPI_DOUBLE, next, 200, 5, MPI_DOUBLE, MPI_SUM, win, &r[2]);
    MPI_Rput(own, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    MPI_Rget_accumulate(own, 2, MPI_DOUBLE, far + 256, 2, MPI_DOUBLE, next, 200, 2, MPI_DOUBLE, MPI_SUM, win, &r[0]);
    while (!done) {
        usleep(1000);
        MPI_Test(&r[0], &done, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(win);
    MPI_Type_free(&pairs);
    MPI_Type_free(&spread);
    MPI_Win_free(&win);
}

/* Every constructor, on two communicators, with handles that are reused, names, and a window of one's own. */
static void windows(void) {
    MPI_Win a, b;
    MPI_Comm back;
    void* memory;
    MPI_Aint at;
    int flag, *model;
    MPI_Comm_split(world, 0, -rank, &back); /* 2, 1, 0 */
    for (int i = 0; i < 2; i++) {
        MPI_Win_create(own, sizeof own, 8, MPI_INFO_NULL, back, &a);
        MPI_Win_create(far, sizeof far, 8, MPI_INFO_NULL, world, &b);
        MPI_Win_set_name(b, i ? "second" : "first");
        MPI_Win_fence(0, a);
        MPI_Put(own + 8, 8, MPI_DOUBLE, 0, 0, 8, MPI_DOUBLE, a); /* rank 0 of `back` is rank 2 */
        MPI_Win_fence(0, a);
        MPI_Win_free(&a);
        MPI_Win_free(&b);
    }
    MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, back, &memory, &a);
    MPI_Win_get_attr(a, MPI_WIN_MODEL, &model, &flag);
    MPI_Win_free(&a);
    MPI_Win_create_dynamic(MPI_INFO_NULL, world, &a);
    MPI_Win_attach(a, own, sizeof own);
    MPI_Get_address(own, &at);
    MPI_Win_fence(0, a);
    MPI_Put(far, 2, MPI_DOUBLE, rank, at, 2, MPI_DOUBLE, a);
    MPI_Win_fence(0, a);
    MPI_Win_detach(a, own);
    MPI_Win_free(&a);
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &a);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a);
    MPI_Put(far, 3, MPI_DOUBLE, 0, 0, 3, MPI_DOUBLE, a);
    MPI_Win_unlock(0, a);
    MPI_Win_free(&a);
    MPI_Comm_free(&back);
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*run)(void);
    } kinds[] = {{"fence", fence},     {"groups", groups},     {"locks", locks},    {"flushes", flushes},
                 {"counter", counter}, {"requests", requests}, {"windows", windows}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (argc > 1 && !strcmp(argv[1], kinds[i].name))
            kinds[i].run();
    MPI_Finalize();
    return 0;
}
