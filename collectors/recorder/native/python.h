/* The Python functions above a call, in a process that runs CPython. */
#ifndef LOGPOST_PYTHON_H
#define LOGPOST_PYTHON_H

#include <stddef.h>
#include <stdint.h>

struct lp_thread;

/* 1: frames can be read; set once, where the process has an interpreter of a known version. */
extern __attribute__((visibility("hidden"))) int lp_python;
__attribute__((visibility("hidden"))) void lp_python_prepare(int rank);

/* The number of the calling thread's Python frames together with a native stack's, which is noted when it is new; that
 * of the native stack where there are none. `room`: gives space in the thread's window; in a signal handler it is
 * another one than outside. */
typedef char* (*lp_room)(struct lp_thread* t, size_t bytes);
__attribute__((visibility("hidden"))) uint32_t lp_python_stack(struct lp_thread* t, uint32_t native, lp_room room);

#endif
