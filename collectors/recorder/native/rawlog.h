/* The raw log: what the interposer leaves behind and the assembler reads, per thread a log (*.raw) and a window
 * (*.window) with what has not been appended to the log yet. A thread that begins takes over log and window of one that
 * has ended on the same processors, if there is one (LP_NEXT): a process has as many logs as threads lived at the same
 * time.
 *
 * Both begin with a header of LP_FILE_HEADER bytes; then follow records without gaps, each a multiple of 8 bytes, in
 * the order in which the calls *ended*. The first word of a record (kind, function, size) is stored last, so a record
 * is there whole or not at all, whatever kills the process. A zero word ends the records. Where there is a window, the
 * log is valid up to the size that the window's header states, and continues in the window.
 *
 * All numbers are in the byte order of the machine that recorded. Times are raw ticks of the process's clock. */
#ifndef LOGPOST_RAWLOG_H
#define LOGPOST_RAWLOG_H

#include <stdint.h>

#define LP_MAGIC 0x34676f6c74736f70ull /* "postlog4" */
#define LP_FILE_HEADER 64
#define LP_MAX_ENTRIES 1024 /* completions or handles in one record; longer lists take several records */

#define LP_WINDOW_IS_STALE 1u /* the window's records are in the log already */
#define LP_WINDOW_IS_OFF 2u   /* a window over a ring, of a thread that is off: only its notes count */

enum lp_clock_kind { LP_CLOCK_TSC = 1, LP_CLOCK_MONOTONIC_RAW = 2, LP_CLOCK_SIMULATED = 3 /* ps */ };

struct lp_file_header {
    uint64_t magic;
    uint32_t thread;  /* 0: the first thread of the process that called MPI */
    uint32_t clock;   /* enum lp_clock_kind */
    uint64_t process; /* unique id of the process */
    uint64_t table;   /* hash of the table of prototypes: what the function numbers mean */
    uint64_t flushed; /* of a window: valid bytes of the log, header included; perhaps with LP_WINDOW_IS_* */
    uint64_t open;    /* of a window: where its struct lp_open is; 0: it has none */
    uint64_t notes;   /* of a window over a ring: valid bytes of the log, which then holds notes alone */
    uint64_t turn;    /* of a slot of a ring: its number, counted from 1 */
};

/* What a process did since it last stated it, as in lp_lost, without records. */
struct lp_gap {
    uint64_t calls;
    uint64_t sends;
    uint64_t receives;
    uint64_t collectives;
    uint64_t transfers;
    uint64_t inexact; /* messages, operations and requests that could not be followed */
    uint64_t since;   /* ticks at which the thread went off; of LP_REST nothing */
    uint32_t kept;    /* regions of the thread that have records and have not ended, */
    uint32_t begun;   /* and regions within these that have begun without a record and have not ended */
};

/* With a ring (`record --keep`) full windows go to the slots of one file per process (*.ring) instead of the logs, the
 * oldest slot overwritten first. A slot is a window's image: its header's `flushed` is where its records begin in the
 * thread's stream, `open` how many bytes they are, and `turn` is stored last. Notes are kept in the logs, for they are
 * needed for as long as the program runs; what is stated where recording is on again is no longer needed than LP_ON,
 * and stays in the slot with it. What the overwritten slots held is summed up in *.lost: struct lp_lost, then
 * `channels` places for struct lp_channel (open addressing; unused ones are zero), then `cells` places for struct
 * lp_carried. */
#define LP_LOST_MAGIC 0x316c74736f70676cull

struct lp_lost {
    uint64_t magic;
    uint64_t process;
    uint64_t updating;   /* odd while a slot is added */
    uint64_t turn;       /* slots up to this number are summed up here, */
    uint64_t newest;     /* and up to this one there are any */
    uint64_t slot_bytes; /* of each slot of the ring, header included */
    uint64_t channels;
    uint64_t cells;
    uint64_t calls;
    uint64_t sends;       /* messages whose send was overwritten, */
    uint64_t receives;    /* whose receive was, */
    uint64_t collectives; /* and operations on communicators and windows, */
    uint64_t transfers;   /* and one-sided accesses */
    uint64_t first;       /* ticks at which the first of these calls began */
    uint64_t last;        /* and the last one ended */
    uint64_t started;     /* 1: the call that started the library is among them */
    uint64_t unnumbered;  /* messages and operations for which there was no place among the channels, */
    uint64_t unheld;      /* requests for which there was none among the cells, */
    uint64_t unpaired;    /* and completions of requests that are not known */
    uint64_t times_off;   /* times at which recording was off, of which the end was overwritten, */
    uint64_t longest_off; /* ticks that the longest of them took, */
    struct lp_gap off;    /* and what was done in them: part of the channels' counts, and of no other number here */
};

/* How many messages or operations of one kind were overwritten. Members of a communicator make its persistent
 * operations in one order, which numbers them from 1, and may start them in another: each is a separate channel. */
struct lp_channel {
    uint32_t comm; /* local id */
    int32_t peer;
    int32_t tag;   /* of LP_OPERATED the number of a persistent operation; 0: of all others */
    uint32_t what; /* enum lp_channel_kind */
    uint64_t count;
};
enum lp_channel_kind { LP_SENT = 1, LP_RECEIVED, LP_OPERATED, LP_OPERATED_ON_WINDOW };

/* The record of an operation that was started in an overwritten slot and not completed there. */
struct lp_carried {
    uint32_t thread;
    uint16_t active; /* of a persistent request: 0: it is the request, 1: an operation that it started */
    uint16_t logged; /* 1: its start is in the log; of a ring: enum lp_logged */
    uint64_t number; /* in the order of their start; 0: the place is free */
    uint64_t handle; /* of the request, or of the message that a probe has named */
    uint64_t record[10];
};
/* LP_STATED: behind a time off, of which the end is not in the sum. LP_CLOSED: it was not pending at the end of one,
 * the `leave` of its record; only what another thread has recorded before that can be its completion. */
enum lp_logged { LP_NOT_STATED, LP_STATED, LP_CLOSED };

/* Messages or operations of a channel that have no records, since recording was switched off: the numbers behind
 * `before`, in the order in which the process sends, receives or operates there. */
struct lp_skipped {
    struct lp_channel channel; /* `count` of them */
    uint64_t before;
};

/* A request with a record that another thread than its own has completed or freed without one. */
struct lp_ended {
    uint64_t handle;
    uint32_t thread; /* that started it */
    uint32_t reserved;
};

/* The call that the thread is in, at a fixed place of its window: what a process that ends without MPI_Finalize waited
 * for. Written at every call's begin, `enter` last; never cleared: a call whose record is in the log has ended. */
struct lp_open {
    uint64_t enter;
    uint64_t what; /* as the first word of a record: kind, function, stack */
    int32_t peer;  /* as in lp_message; of a collective the root */
    int32_t tag;
    uint32_t comm;      /* local id; 0: none, or none that was known before the call */
    uint32_t handles;   /* how many requests the call waits for, */
    uint64_t handle[4]; /* the first of them */
    uint32_t exited;    /* 1: within the call the process has called exit() */
    int32_t status;     /* with this status */
};
#define LP_OPEN_HANDLES 4u

enum lp_kind {
    LP_END = 0,
    LP_CALL = 1,     /* nothing but enter and leave; of a failed collective lp_collective without bytes */
    LP_SEND,         /* lp_message */
    LP_RECV,         /* lp_message, peer resolved from the status */
    LP_SENDRECV,     /* two lp_message: sent, received */
    LP_ISEND,        /* lp_message + request */
    LP_IRECV,        /* lp_message as requested (peer and tag may be wildcards) + request */
    LP_ISENDRECV,    /* two lp_message + request */
    LP_SEND_INIT,    /* lp_message + request, starts nothing */
    LP_RECV_INIT,    /* same */
    LP_COLL_INIT,    /* lp_collective + request + uint64: its number, see lp_channel */
    LP_START,        /* handles that the call has started */
    LP_DONE,         /* lp_done entries; part of a call whose LP_CALL follows */
    LP_TESTED,       /* handles found incomplete; part of a call whose LP_CALL follows */
    LP_REQUEST_FREE, /* one handle */
    LP_MPROBE,       /* lp_message + message handle */
    LP_MRECV,        /* lp_message, comm 0 + message handle */
    LP_IMRECV,       /* lp_message, comm 0 + request + message handle */
    LP_COLL,         /* lp_collective */
    LP_ICOLL,        /* lp_collective + request */
    LP_COMM_NEW,     /* lp_comm_call */
    LP_COMM_IDUP,    /* lp_comm_call + request */
    LP_COMM_FREE,    /* lp_comm_call, parent = the one that ends */
    LP_FINALIZE,     /* as LP_CALL; the log is whole */
    LP_LEVEL,        /* int64: the call set the level of detail (MPI_Pcontrol) */
    LP_TRANSFER,     /* lp_transfer: a one-sided access; for collectors that see them */
    LP_SYNCHRONIZE,  /* lp_synchronize: what completes or separates one-sided accesses */
    LP_WAITED,       /* lp_done: the call completed this one request */
    LP_RMA_NEW,      /* lp_rma_call: the call made this window for one-sided accesses */
    LP_RMA_FREE,     /* lp_rma_call */
    LP_RANKS,        /* ranks in the window, 8 bytes each; part of an LP_SYNCHRONIZE that follows */
    LP_RMA_COLL,     /* lp_rma_collective */
    LP_OFF,          /* recording was switched off at `enter`: of what follows, up to LP_ON, only notes count */
    LP_ON,           /* lp_gap: it was switched on again at `enter`; LP_SKIPPED and LP_CARRIED precede it */
    LP_REGION_BEGIN, /* uint64 region: the program is in it from `enter` on */
    LP_REGION_END,   /* the region that began last ends at `enter` */
    LP_MARK,         /* uint64 region: the program says so at `enter` */
    LP_REPLACED, /* a persistent request's handle before the call started it, and since; part of a call, see LP_DONE */
    LP_NEXT,     /* the log's thread has ended: from `enter` on it is that of another one */
    LP_SAMPLE,   /* lp_sample: where the thread was at `enter`; the stack is that of the callers */
    LP_ABORTS,   /* of lp_open alone: the call ends the program, with the code that is its `tag` */
    LP_FILE,     /* lp_file: a call of the C library on a file; the function is an enum lp_file_call */
    LP_FIRST_NOTE = 64,
    LP_DEF_COMM = 64, /* lp_comm_def */
    LP_NAME_COMM,     /* uint32 id, uint32 length, characters */
    LP_DEF_LAYOUT,    /* lp_layout_def */
    LP_INFO,          /* text "key=value\n..." about the process */
    LP_SYNC,          /* lp_sync: the clock against CLOCK_MONOTONIC_RAW and CLOCK_REALTIME */
    LP_OFFSET,        /* lp_offset: one measurement against rank 0 of the world */
    LP_WINDOW,        /* enter, leave = while the log was moved to its next window */
    LP_THREAD,        /* text "key=value\n..." about the thread */
    LP_STOPPED,       /* enter: recording ended here (reason as text) */
    LP_MODULE,        /* text "key=value\n...": an object of the process that holds code */
    LP_DEF_STACK,     /* lp_stack_def and its return addresses, innermost first, 8 bytes each */
    LP_DEF_RMA,       /* lp_rma_def */
    LP_NAME_RMA,      /* uint32 id, uint32 length, characters */
    LP_SKIPPED,       /* lp_skipped entries: what the process did while recording was off */
    LP_CARRIED,       /* lp_carried entries: requests of this thread that are pending when it is on again */
    LP_DEF_REGION,    /* uint32 id, uint32 length, characters */
    LP_DEF_FUNCTION,  /* uint32 id, uint32 8, uint64 address of a function that is a region */
    LP_ENDED,         /* lp_ended entries; precedes LP_ON, as LP_SKIPPED */
    LP_DEF_PYTHON,    /* lp_python_def and a text: "function TAB file TAB line NEWLINE", innermost first */
    LP_SAMPLING,      /* uint64: of its processor time, from sample to sample of this thread; ns */
    LP_REST,          /* lp_gap, at the end of the program: of threads that have not noticed that recording is on */
    LP_DEF_FILE,      /* uint32 id, uint32 length, characters: as the kernel names what a descriptor is open on */
    LP_QUEUED         /* uint64: for how long the thread has been ready to run and had no processor; ns */
};

struct lp_head {
    uint8_t kind;
    uint8_t stack_high; /* the number of the thread's stack (LP_DEF_STACK) that the call was made from, */
    uint16_t function;  /* number in the table of prototypes, see functions.txt */
    uint16_t words;     /* of the whole record, 8 bytes each */
    uint16_t stack_low; /* in two parts; 0: unknown. Of notes it means nothing */
    uint64_t enter;
    uint64_t leave;
};

/* A stack whose outer frames are Python's; its inner ones are those of `native` up to the interpreter. */
struct lp_python_def {
    uint32_t stack;
    uint32_t native; /* 0: unknown */
    uint32_t cut;    /* 1: there are callers beyond them */
    uint32_t reserved;
};

/* The code that a thread was in, outside of calls. */
struct lp_sample {
    uint64_t address;
    uint32_t periods; /* of LP_SAMPLING since the one before: more than 1 where the system's clock is coarser */
    uint32_t lost;    /* samples before it for which there was no room */
};

struct lp_file {
    uint32_t file; /* LP_DEF_FILE; 0: not known */
    uint32_t lost; /* such calls before it for which there was no room */
    uint64_t bytes;
};
enum lp_file_call { LP_FILE_OPEN = 1, LP_FILE_READ, LP_FILE_WRITE, LP_FILE_SYNC, LP_FILE_CLOSE };

/* The stack's frames follow: return addresses as the process saw them, that of the wrapper's caller first. */
struct lp_stack_def {
    uint32_t stack;
    uint32_t frames : 31;
    uint32_t cut : 1; /* there are callers beyond them, or nothing looked for any */
};

struct lp_message {
    uint64_t bytes;
    int32_t peer;         /* rank in comm (remote group of an inter-communicator); <0: none (LP_NO_PEER, LP_ANY_PEER) */
    int32_t tag;          /* LP_ANY_TAG: wildcard */
    uint32_t comm;        /* local id; 0: none */
    uint32_t layout : 31; /* 0: contiguous */
    uint32_t any_source : 1; /* received, and the program named no sender, or the one that a probe of any had found */
};
#define LP_NO_PEER (-1)
#define LP_ANY_PEER (-2)
#define LP_ANY_TAG (-1)

struct lp_done {
    uint64_t request;
    uint64_t bytes;
    int32_t peer;
    int32_t tag;
    uint32_t flags;
    uint32_t reserved;
};
#define LP_DONE_CANCELLED 1u
#define LP_DONE_FAILED 2u

struct lp_collective {
    uint64_t sent;
    uint64_t received;
    uint32_t comm;
    int32_t root;             /* LP_ROOT_* or a rank */
    uint32_t layout;          /* of the data that the member gives; 0: contiguous */
    uint32_t received_layout; /* of the data that it gets */
};
#define LP_ROOT_NONE (-1)
#define LP_ROOT_SELF (-2)       /* MPI_ROOT on an inter-communicator */
#define LP_ROOT_THIS_GROUP (-3) /* MPI_PROC_NULL there: the root is in my own group */

struct lp_comm_call {
    uint32_t parent; /* the communicator the call is collective over; 0: over the new one */
    uint32_t comm;   /* new communicator; 0: not a member */
};

/* A window for one-sided accesses: local id, and the communicator whose members it connects. Making one is collective,
 * so members count the windows of a communicator alike: that they agree on it needs no messages. */
struct lp_rma_def {
    uint32_t window;
    uint32_t comm;
    uint32_t kind; /* enum lp_rma_kind */
    uint32_t of;   /* of a context: the window that it belongs to */
};
enum lp_rma_kind {
    LP_RMA_CREATED = 1,
    LP_RMA_ALLOCATED,
    LP_RMA_SHARED,
    LP_RMA_DYNAMIC,
    LP_RMA_SYMMETRIC, /* OpenSHMEM's; it ends with the library */
    LP_RMA_CONTEXT    /* accesses through it are completed apart from others of the window `of` */
};

struct lp_rma_call {
    uint32_t window;
    uint32_t kind;
};

/* A one-sided access, as its origin sees it. */
struct lp_transfer {
    uint64_t sent;     /* bytes to the target */
    uint64_t received; /* and from it */
    uint64_t request;  /* of accesses with a handle */
    uint32_t window;   /* local id; 0: none is known */
    int32_t target;    /* rank in the window; LP_NO_PEER: none */
    uint32_t layout;   /* of the origin's memory */
    uint32_t target_layout;
    uint32_t operation; /* enum lp_transfer_kind */
    uint32_t flags;     /* LP_TRANSFER_* */
};
enum lp_transfer_kind {
    LP_PUT = 1,
    LP_GET,
    LP_ACCUMULATE,
    LP_FETCH_AND_ACCUMULATE,
    LP_COMPARE_AND_SWAP,
    LP_INCREMENT,
    LP_FETCH_AND_INCREMENT,
    LP_SWAP
};
#define LP_TRANSFER_REQUEST 1u  /* `request` completes it at the origin */
#define LP_TRANSFER_BLOCKING 2u /* it is complete on both sides when the call ends */
#define LP_TRANSFER_LOCAL 4u    /* it is complete at the origin when the call ends */

/* What completes or separates one-sided accesses. */
struct lp_synchronize {
    uint32_t window;
    int32_t target;     /* LP_ANY_PEER: all */
    uint32_t operation; /* enum lp_sync_kind */
    uint32_t exclusive; /* of a lock */
};
enum lp_sync_kind {
    LP_FENCE = 1,
    LP_FLUSH,
    LP_FLUSH_LOCAL,
    LP_LOCK,
    LP_UNLOCK,
    LP_POST,
    LP_START_EPOCH,
    LP_COMPLETE_EPOCH,
    LP_WAIT_EPOCH,
    LP_SYNC_MEMORY,
    LP_ACQUIRE,    /* a lock, which the caller has when the call ends */
    LP_WAIT_CHANGE /* of the own memory */
};

/* Of a lock that is one of many: LP_ACQUIRE, LP_UNLOCK. */
struct lp_lock {
    struct lp_synchronize what;
    uint64_t lock; /* all members name it alike */
};

/* A collective operation of a window's members. */
struct lp_rma_collective {
    uint64_t sent;
    uint64_t received;
    uint32_t window;
    int32_t root;       /* as in lp_collective */
    uint32_t completes; /* the window whose accesses are complete at their targets when the call ends; 0: none */
    uint32_t apart;     /* 1: no member waits for another */
};

/* Ids on which all members agree: that of an intra-communicator is (process, counter) of its rank 0; that of an
 * inter-communicator is the pair of both groups' leaders, local one first (zero where the other side is another
 * program); of MPI_Comm_idup each is a hash of the parent's with the number of the duplication. */
struct lp_comm_def {
    uint32_t comm;
    uint32_t flags;
    uint64_t agreed[2];
    uint64_t remote[2];
    int32_t rank;
    int32_t size;
    int32_t remote_size;
    uint32_t parent;
};
#define LP_COMM_WORLD 1u
#define LP_COMM_SELF 2u
#define LP_COMM_INTER 4u
#define LP_COMM_IS_IDUP 8u
#define LP_COMM_UNAGREED 16u /* first seen in use: id is a hash of its members */
#define LP_COMM_SESSIONS 32u /* no communicator: rank and size in mpi://WORLD, of a process without MPI_Init */

struct lp_layout_def {
    uint32_t layout;
    uint32_t regular; /* 1: all blocks alike, at one stride */
    uint64_t blocks;
    uint64_t block_bytes; /* mean, rounded down, when not regular */
    int64_t stride_bytes; /* mean when not regular */
    int64_t extent_bytes;
    uint64_t size_bytes;
};

struct lp_sync {
    uint64_t ticks;
    uint64_t raw_ns;
    uint64_t real_ns;
};

struct lp_offset {
    uint64_t before;    /* own ticks when the question left */
    uint64_t after;     /* own ticks when the answer was there */
    uint64_t reference; /* rank 0's ticks in between */
};

#endif
