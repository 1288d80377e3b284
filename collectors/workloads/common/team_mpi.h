/* What only MPI programs ask of their team. */
#ifndef LOGPOST_WORKLOADS_TEAM_MPI_H
#define LOGPOST_WORKLOADS_TEAM_MPI_H

#include <mpi.h>

#include "team.h"

MPI_Comm team_comm(const struct team* team);

#endif
