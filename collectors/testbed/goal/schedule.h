/* A rank's part of a GOAL schedule. */
#ifndef LOGPOST_GOAL_SCHEDULE_H
#define LOGPOST_GOAL_SCHEDULE_H

#include <stdint.h>

enum kind { CALC, SEND, RECV };
enum state { WAITS, BEGUN, DONE };

struct list {
    int *items, count, room;
};

struct operation {
    enum kind kind;
    enum state state;
    int64_t amount; /* time units of a calc, bytes of a message */
    int peer, tag;  /* -1: any, of a receive */
    int missing;    /* operations that must be done or begun before */
    int unfinished; /* of these, begun ones that must be done */
    struct list on_done, on_begun;
};

struct schedule {
    int ranks; /* of the whole file */
    struct operation* operations;
    int count, room;
};

/* Reads the operations of `rank` (comments, cpu and nic are passed over). Returns 0, or prints one line and returns 2.
 */
int read_schedule(const char* path, int rank, struct schedule* schedule);

/* The number of an operation appended to a list. */
void append(struct list* list, int item);

#endif
