/* Short messages with handlers, after Active Messages, on MPI: what the papers' fine-grained programs send.
 *
 * When a message is handed to its handler on the destination:
 *   wait       while that rank waits; receives are posted beforehand
 *   interrupt  also after every send and, by channel_interrupts, every piece of computation: as near to the Alewife's
 *              interrupts as MPI gets. Receives are posted beforehand.
 *   poll       where the program polls (channel_poll), after every send and while stalled, like Remote Queues: by
 *              MPI_Iprobe. On the testbed receives are posted, since a message would otherwise not leave its sender
 *              before it is received; a poll takes a few cycles, and a rank that has nothing else to do waits instead
 *              of polling on, which is the same in simulated time.
 *
 * capacity > 0 restores LogP's finite capacity: at most that many synchronous sends (MPI_Issend, complete when
 * received) are in flight per rank, in order as in a hardware queue, and at most that many receives are posted; a
 * message that finds no place stays with its sender, which stalls, and continues handling what arrives. The Alewife's
 * queues of 256 bytes hold two messages of ten doubles. capacity 0 sends with MPI_Isend, and MPI buffers. */
#ifndef LOGPOST_WORKLOADS_MESSAGES_H
#define LOGPOST_WORKLOADS_MESSAGES_H

#include <mpi.h>
#include <stdint.h>

#include "message_options.h"
#include "processor.h"

/* May not send through the same channel: it runs while another send of this rank may be stalled. */
typedef void (*message_handler)(void* context, int source, int tag, const void* data, int bytes);

struct channel {
    struct message_options options;
    MPI_Comm comm;
    struct processor* processor;
    message_handler handler;
    void* context;
    int largest;          /* bytes of the largest message */
    int64_t window;       /* sends in flight */
    MPI_Request* sends;   /* ring of `window` */
    char* outgoing;       /* their data */
    int64_t sent, oldest; /* number of sends started, number completed */
    int64_t n_slots;      /* posted receives */
    MPI_Request* wait;    /* oldest send, a request of the caller's, then the slots */
    char* arrivals;       /* the slots' data */
    int64_t expected;     /* messages announced by channel_expect */
    int64_t posted, received;
    double handling_s; /* time spent on arrivals */
    double stall_s;    /* time in which a send had to wait for a place */
    int64_t bytes;     /* sent */
};

/* Collective over `parent`; the channel's communicator is named `name`. */
void channel_open(struct channel* c, const struct message_options* options, int largest, message_handler handler,
                  void* context, struct processor* processor, MPI_Comm parent, const char* name);

/* Announces that `more` messages will arrive at this rank. None may arrive that is not announced in time: separate
 * phases by a barrier. */
void channel_expect(struct channel* c, int64_t more);

void channel_send(struct channel* c, int destination, int tag, const void* data, int bytes);

/* Handles what has arrived, without waiting; where receives are posted they are tested. Returns how many. */
int64_t channel_poll(struct channel* c);

/* After a piece of computation: `interrupt` channels handle what has arrived during it. */
void channel_interrupts(struct channel* c);

/* Handles messages until one more has arrived (and at least one was expected). */
void channel_receive(struct channel* c);

/* Handles messages until all announced ones have arrived and all own ones are gone. */
void channel_drain(struct channel* c);

/* Handles messages until all own ones are gone. */
void channel_finish_sends(struct channel* c);

/* Takes back the announcement of messages that have not arrived, where it was only a bound. No rank may send any more.
 */
void channel_cancel(struct channel* c);

/* Handles messages until `request`, of the caller's, is complete. */
void channel_wait(struct channel* c, MPI_Request* request);

void channel_close(struct channel* c);

/* Starts a bulk message of doubles outside any channel, with the same overhead and, for a finite capacity, synchronous.
 * `copied`: it was gathered first. */
void message_start(const struct message_options* options, struct processor* processor, const double* data,
                   int64_t count, int copied, int destination, int tag, MPI_Comm comm, MPI_Request* request);

/* The overhead of a bulk message that has arrived; `copied`: it is scattered. */
void message_taken(const struct message_options* options, struct processor* processor, int64_t count, int copied);

#endif
