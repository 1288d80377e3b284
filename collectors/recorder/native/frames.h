/* The callers of interrupted code, as a signal handler may find them: by the unwinding tables that C++ exceptions use,
 * with no allocation, no lock and no system call. Memory is read in the thread's stack and in the tables alone. */
#ifndef LOGPOST_FRAMES_H
#define LOGPOST_FRAMES_H

#include <stdint.h>

#include "recorder.h"

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(LOGPOST_SIMULATED)
#define LP_HAS_FRAMES 1
#else
#define LP_HAS_FRAMES 0
#endif

/* The stack of a thread: [low, high). */
struct lp_stack_bounds {
    uintptr_t low, high;
};

/* Before the first signal, and not in a handler. 0: the C library cannot name objects in one. */
LP_HIDDEN int lp_frames_prepare(void);

/* Return addresses, innermost first, of what `context` (a ucontext_t) interrupted; at most `room`. *cut: there are
 * callers beyond them. Nothing on a stack that is not the thread's own. */
LP_HIDDEN int lp_frames(const void* context, struct lp_stack_bounds stack, uint64_t* address, int room, int* cut);

#endif
