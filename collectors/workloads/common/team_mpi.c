#include "team_mpi.h"

#include "memory.h"

static struct team named(MPI_Comm parent, const char* name) {
    struct team team;
    MPI_Comm* comm = LP_NEW(MPI_Comm, 1);
    MPI_Comm_dup(parent, comm);
    MPI_Comm_set_name(*comm, name);
    MPI_Comm_rank(*comm, &team.rank);
    MPI_Comm_size(*comm, &team.ranks);
    team.group = comm;
    return team;
}

struct team team_open(int argc, char** argv, const char* name) {
    MPI_Init(&argc, &argv);
    return named(MPI_COMM_WORLD, name);
}

void team_close(struct team* team) {
    team_drop(team);
    MPI_Finalize();
}

struct team team_again(const struct team* team, const char* name) {
    return named(team_comm(team), name);
}

void team_drop(struct team* team) {
    MPI_Comm_free(team->group);
    free(team->group);
}

struct team team_alone(void) {
    return (struct team){0, 1, NULL};
}

MPI_Comm team_comm(const struct team* team) {
    return team->group ? *(MPI_Comm*)team->group : MPI_COMM_SELF;
}

double team_seconds(void) {
    return MPI_Wtime();
}

void team_barrier(const struct team* team) {
    MPI_Barrier(team_comm(team));
}

void team_sum(const struct team* team, double* values, int n) {
    MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, team_comm(team));
}

void team_sum_words(const struct team* team, uint64_t* values, int n) {
    MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_UINT64_T, MPI_SUM, team_comm(team));
}

double team_largest(const struct team* team, double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, team_comm(team));
    return value;
}

int team_lowest(const struct team* team, int value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, team_comm(team));
    return value;
}

void team_gather(const struct team* team, const double* mine, const int* doubles, double* all) {
    int* starts = LP_NEW(int, team->ranks);
    for (int r = 1; r < team->ranks; r++)
        starts[r] = starts[r - 1] + doubles[r - 1];
    MPI_Allgatherv(mine, doubles[team->rank], MPI_DOUBLE, all, doubles, starts, MPI_DOUBLE, team_comm(team));
    free(starts);
}

void team_gather_words(const struct team* team, const int64_t* mine, int n, int64_t* all) {
    MPI_Allgather(mine, n, MPI_INT64_T, all, n, MPI_INT64_T, team_comm(team));
}
