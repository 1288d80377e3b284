/* How short messages are received and what they cost the emulated processor: options of the fine-grained programs. */
#ifndef LOGPOST_WORKLOADS_MESSAGE_OPTIONS_H
#define LOGPOST_WORKLOADS_MESSAGE_OPTIONS_H

#include <stdint.h>

enum receive { RECEIVE_WAIT = 0, RECEIVE_POLL = 1, RECEIVE_INTERRUPT = 2 };

#define RECEIVE_CHOICES "wait|poll|interrupt"
#define RECEIVE_HELP "messages are handled while waiting, also by MPI_Iprobe after sends, or also after pieces of work"
#define LINE_CYCLES_HELP                                                                                               \
    "bulk: cycles to copy 16 bytes on either side; -1: on the testbed half of SENS's 60, else 0, as real copies take " \
    "time"

struct message_options {
    enum receive receive;
    int64_t capacity;
    double send_cycles, receive_cycles; /* o_s and o_r of the emulated processor */
    double line_cycles;                 /* gathering or scattering 16 bytes of a bulk message */
    double poll_cycles;                 /* a poll on the testbed, whether it finds a message or not */
};

/* The papers do not print what a poll costs: a load of the interface's status, from a cycle to a local miss. */
#define POLL_CYCLES 11 /* a local load that misses (SENS Fig. 3) */
#define POLL_CYCLES_HELP "of a poll on the testbed, 1 to 11: at the most a local miss (SENS Fig. 3)"

/* For an application's table of options, last, as programs without messages leave them out. */
#define N_MESSAGE_OPTIONS 7
#define MESSAGE_OPTIONS(MESSAGES, RECEIVE, CYCLE_NS, CAPACITY)                                                        \
    {"receive", LP_CHOICE, &(RECEIVE), RECEIVE_CHOICES, 0, 0, RECEIVE_HELP},                                          \
        {"capacity",                                                                                                  \
         LP_INTEGER,                                                                                                  \
         &(MESSAGES).capacity,                                                                                        \
         NULL,                                                                                                        \
         0,                                                                                                           \
         1e6,                                                                                                         \
         "messages in flight per sender (" CAPACITY "); 0: unbounded"},                                               \
        {"cycle-ns", LP_REAL, &(CYCLE_NS), NULL, 0, 1e9, "cycle of the emulated processor (Alewife 50 ns); 0: none"}, \
        {"send-cycles", LP_REAL, &(MESSAGES).send_cycles, NULL, -1, 1e9, "its o_s per message; -1: Alewife's"},       \
        {"receive-cycles", LP_REAL, &(MESSAGES).receive_cycles, NULL, -1, 1e9, "its o_r per message; -1: Alewife's"}, \
        {"poll-cycles", LP_REAL, &(MESSAGES).poll_cycles, NULL, 0, 1e9, POLL_CYCLES_HELP}, {                          \
        "line-cycles", LP_REAL, &(MESSAGES).line_cycles, NULL, -1, 1e9, LINE_CYCLES_HELP                              \
    }

/* Replaces overheads that are negative (not given) by the machine's: on a real MPI the arguments, the Alewife's.
 * Polling cuts o_s + o_r by 35 % (SENS section 4.3 for ICCG), and is taken to do so by saving o_r. The testbed charges
 * its machine's o_s and o_r itself, so there they are 0, and a run with polling states its smaller o_r by --set o_r. */
void message_overheads(struct message_options* options, double alewife_send, double alewife_receive);

#endif
