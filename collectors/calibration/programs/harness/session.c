/* The start, the end, and what lies between the visits. */

/* For nanosleep. */
#define _GNU_SOURCE

#include "parts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void cal_open(struct cal* c, int argc, char** argv) {
    memset(c, 0, sizeof *c);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->ranks);
    c->argc = argc;
    c->argv = argv;
    if (argc % 2 == 0)
        cal_refuse(c, "every option needs a value; the last one has none", argv[argc - 1]);
    if (c->ranks < 2)
        cal_refuse(c, "needs at least 2 ranks", "start it with mpirun -n 2");
    c->budget_s = cal_number(c, "budget-s", 10);
    c->rounds = (int)cal_number(c, "rounds", 1);
    c->batch = (int)cal_number(c, "batch", 50);
    c->accuracy = cal_number(c, "accuracy", 0.05);
    if (c->batch < 2)
        cal_refuse(c, "--batch must be at least 2", "LOGP uses 50");
    cal_find_places(c, cal_number(c, "bind", 1) > 0);
    cal_measure_clock(c);
    if (c->rank == 0) {
        const char* path = cal_text(c, "output", NULL);
        if (path == NULL)
            cal_refuse(c, "--output is missing", "name the file to write");
        if ((c->out = fopen(path, "w")) == NULL)
            cal_refuse(c, "cannot write", path);
        cal_put_host(c);
    }
    c->most_batches = 40;
    c->sample_s = 20e-6; /* against which the clock's own tens of nanoseconds are small */
    c->started_s = cal_now();
}

int cal_close(struct cal* c) {
    int failed = 0;
    if (c->rank == 0)
        failed = fclose(c->out) != 0;
    for (int i = 0; i < c->pair_count; i++)
        if (c->pairs[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&c->pairs[i].comm);
    free(c->places);
    MPI_Finalize();
    return failed;
}

void cal_each_pair(struct cal* c, cal_pair_visits* visits, void* what, int round) {
    for (int p = 0; p < c->pair_count; p++) {
        if (c->pairs[p].comm != MPI_COMM_NULL)
            visits(c, what, round, &c->pairs[p]);
        cal_rest(c);
    }
}

void cal_rest(const struct cal* c) {
    if (c->counting)
        return;
    if (c->crowded) {
        MPI_Request all;
        int done = 0;
        const struct timespec nap = {0, 500000};
        MPI_Ibarrier(MPI_COMM_WORLD, &all);
        for (MPI_Test(&all, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&all, &done, MPI_STATUS_IGNORE))
            nanosleep(&nap, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
