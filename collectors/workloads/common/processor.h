/* An emulated processor: lets a rank be busy for a stated number of cycles of a slower machine.
 *
 * The papers' effects come from overheads that were large against everything else: on the Alewife a receiver is busy
 * for 122 cycles per message (o_r) and a sender for 15 (o_s). On today's machines both are lost in scheduling noise,
 * the more so when ranks outnumber cores. Adding a stall of the wanted length to every send and receive brings them
 * back, as Martin, Vahdat, Culler & Anderson did (ISCA 1997) to vary LogP's parameters on a real cluster.
 *
 * Under a real MPI the time is slept away, not burnt, so that four emulated processors fit on two cores; what a sleep
 * lasts too long is taken off the next one. Under SimGrid SMPI it is simulated work. */
#ifndef LOGPOST_WORKLOADS_PROCESSOR_H
#define LOGPOST_WORKLOADS_PROCESSOR_H

struct processor {
    double cycle_s;    /* 0: not emulated, nothing waits */
    double surplus_s;  /* time slept beyond what was requested */
    double overhead_s; /* for messages, so far: processor_overhead */
};

void processor_open(struct processor* processor, double cycle_ns);
void processor_busy(struct processor* processor, double cycles);

/* The same, for sending, receiving and copying messages (SENS's "message overhead"). */
static inline void processor_overhead(struct processor* processor, double cycles) {
    processor->overhead_s += cycles * processor->cycle_s;
    processor_busy(processor, cycles);
}

/* One more look in a loop that waits for memory to change. SMPI's time stops in such a loop without it. */
void processor_look(const struct processor* processor);

/* On the testbed, MPI_Test and its like cost nothing, instead of 100 us that grow with every failure
 * (smpi/test): the program states what its polls cost. A loop of such calls alone would never end then. */
void processor_tests_for_free(void);

#endif
