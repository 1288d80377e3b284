/* Between the collector's wrappers and SMPI: point-to-point calls as the machine takes them.
 *
 * SMPI is run with all its own sends buffered ("detached") and its overheads taken from machine.cpp, so that messages
 * within collectives pay o_s, g and o_r too. What a program sends itself is decided here, message by message:
 *
 *   larger than the eager limit          synchronous: the transfer begins when the receive is posted, the sender waits
 *   a blocking send finds no room        the sender stalls until there is (LogP's finite capacity)
 *   a nonblocking send finds no room     synchronous, since it may not block
 *   a synchronous one of the same pair   synchronous, since SMPI would let the later message overtake it
 *   is in flight
 *
 * SMPI charges a receive's gap and overhead only where the sender did not wait. The rest is charged here, where the
 * receive is completed. Each rank has its own copy of the layer's variables.
 *
 * What crosses between its parts: the table of requests, own synchronous sends, the charge for a receive, and a table
 * per part of the calls that it replaces (layer.c looks them up). It is linked into the user's program, hence the
 * prefix of all names. */
#ifndef LOGPOST_TESTBED_LAYER_H
#define LOGPOST_TESTBED_LAYER_H

#include "../../pmpi/native/runtime.h"
#include "machine.h"

/* A call that a part replaces. Each table ends with a name of NULL. */
struct lp_layer_call {
    const char* name; /* of the PMPI function */
    void* function;
};
#define LP_LAYER_CALL(name) {"PMPI_" #name, (void*)layer_##name}
extern LP_HIDDEN const struct lp_layer_call lp_layer_receives[], lp_layer_sends[], lp_layer_completions[],
    lp_layer_one_sided[];

/* --- requests.c: the properties of each request, and the ranks of the world ------------------------------------------
 */

enum lp_layer_kind { SEND = 1, SYNCHRONOUS_SEND, RECEIVE };

struct lp_layer_request {
    MPI_Request handle;
    enum lp_layer_kind kind;
    int persistent;
    int to; /* rank of the world */
    size_t bytes;
    MPI_Comm comm;
    struct lp_layer_request* next;
};

LP_HIDDEN void lp_layer_note(MPI_Request handle, enum lp_layer_kind kind, int persistent, int to, size_t bytes,
                             MPI_Comm comm);
/* The place of a request in the table; *place is NULL where it is not known. */
LP_HIDDEN struct lp_layer_request** lp_layer_place(MPI_Request handle);
LP_HIDDEN void lp_layer_forget(struct lp_layer_request** place);

/* Set by lp_layer_ready, which every call that needs them begins with. */
extern LP_HIDDEN int* lp_layer_synchronous; /* per rank: own synchronous sends in flight to it */
extern LP_HIDDEN int lp_layer_own_rank;
LP_HIDDEN void lp_layer_ready(void);

/* Rank of the world; -1: none. */
LP_HIDDEN int lp_layer_world_rank(MPI_Comm comm, int rank);

/* --- receives.c ------------------------------------------------------------------------------------------------------
 */

/* A receive is finished: makes its room free, and charges what SMPI has not. */
LP_HIDDEN void lp_layer_finished(MPI_Comm comm, const MPI_Status* status);
LP_HIDDEN int lp_layer_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                             MPI_Request* request);

/* --- sends.c ---------------------------------------------------------------------------------------------------------
 */

LP_HIDDEN int lp_layer_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                             MPI_Request* request);

#endif
