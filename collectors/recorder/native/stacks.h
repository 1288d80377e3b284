/* From where a call is made: the return addresses above a wrapper, each distinct stack noted once per thread.
 *
 * A stack is unwound when it is new, and remembered under the wrapper's return address and the place of that address on
 * the stack. Each remembered frame keeps the place of its own return address as well, so whether the program is
 * there again is seen by comparing memory, outward from the wrapper: as long as all frames inside agree, the place of
 * the next one is where it was. That costs a load per frame, and is exact without frame pointers. (A function with
 * a frame of varying size, called at the same depth, may leave an old return address in its own place: then the frames
 * beyond it may be those of before. The direct caller is always exact.) */
#ifndef LOGPOST_STACKS_H
#define LOGPOST_STACKS_H

#include "python.h"
#include "recorder.h"

#define LP_STACK_SLOTS 1024u
#define LP_STACK_MAX_FRAMES 64

struct lp_frame {
    const uintptr_t* place; /* where on the stack the return address is; NULL: not known */
    uintptr_t address;
};

struct lp_stack {
    struct lp_stack* next; /* with the same hash */
    uint32_t id;
    uint32_t frames;
    struct lp_frame frame[];
};

struct lp_stacks {
    struct lp_stack* slot[LP_STACK_SLOTS];
    struct lp_stack* former[LP_STACK_SLOTS]; /* those of ended threads, by their addresses: the log has them */
    struct lp_python_known* python;          /* those with Python frames; NULL: none yet */
    uint32_t count;
};
#define LP_MOST_STACKS (1u << 24) /* as many as the numbers in records distinguish */

LP_HIDDEN int lp_stack_depth(void); /* callers that are kept */
LP_HIDDEN uint32_t lp_stack_learn(struct lp_thread* t, uintptr_t address, const uintptr_t* place);
LP_HIDDEN void lp_stacks_free(struct lp_thread* t);
/* Another thread continues: memory at remembered places may be gone. What the log has keeps its number. */
LP_HIDDEN void lp_stacks_forget(struct lp_thread* t);
LP_HIDDEN void lp_stacks_note_modules(struct lp_thread* t); /* the objects that hold code, as far as they are new */
LP_HIDDEN void lp_stacks_begin(struct lp_thread* t);        /* none when LOGPOST_STACK_DEPTH is 0 */

LP_FAST unsigned lp_stack_slot(uintptr_t address, const uintptr_t* place) {
    uint64_t key = (uint64_t)address * 0x9E3779B97F4A7C15ull ^ (uint64_t)(uintptr_t)place * 0xC2B2AE3D27D4EB4Full;
    return (unsigned)(key >> 48) % LP_STACK_SLOTS;
}

LP_FAST int lp_stack_is(const struct lp_stack* s, uintptr_t address, const uintptr_t* place) {
    if (s->frame[0].address != address || s->frame[0].place != place)
        return 0;
    for (uint32_t i = 1; i < s->frames; i++)
        if (*s->frame[i].place != s->frame[i].address)
            return 0;
    return 1;
}

/* Room in the window for a record, outside of signal handlers. */
LP_HIDDEN char* lp_window_room(struct lp_thread* t, size_t bytes);

LP_FAST uint32_t lp_native_stack(struct lp_thread* t, uintptr_t address, const uintptr_t* place) {
    if (LP_UNLIKELY(!t->stacks))
        return 0;
    const struct lp_stack* s = t->stacks->slot[lp_stack_slot(address, place)];
    if (s && __builtin_expect(lp_stack_is(s, address, place), 1))
        return s->id;
    return lp_stack_learn(t, address, place);
}

/* The id of the stack at a wrapper; to be called in the wrapper itself. */
LP_FAST uint32_t lp_stack(struct lp_thread* t, uintptr_t address, const uintptr_t* place) {
    const uint32_t native = lp_native_stack(t, address, place);
    return LP_UNLIKELY(lp_python) ? lp_python_stack(t, native, lp_window_room) : native;
}

/* Address and place, for lp_stack; to be written in the wrapper itself. */
#if defined(__x86_64__)
#define LP_HERE (uintptr_t)__builtin_return_address(0), (const uintptr_t*)__builtin_frame_address(0) + 1
#else /* the place of a return address is the compiler's choice: the direct caller alone */
#define LP_HERE (uintptr_t)__builtin_return_address(0), NULL
#endif
#define LP_STACK_HERE(t) lp_stack(t, LP_HERE)

#endif
