/* Calls of a program to `logpost record`. A header alone, to be copied next to any program: without the recorder each
 * function does nothing, and nothing has to be linked.
 *
 *   logpost_pause()   recording of this process is off, after this call,
 *   logpost_resume()  and on again. MPI_Pcontrol(0) and MPI_Pcontrol(1) do the same.
 *
 * One iteration of a day-long job: each rank may switch when it gets there.
 *
 *     logpost_pause();                            behind MPI_Init
 *     ...
 *     if (iteration == 1000) logpost_resume();
 *     if (iteration == 1001) logpost_pause();
 *
 *   logpost_region_begin("solve")   a part of the program, until the logpost_region_end() that belongs to it: regions
 * lie logpost_region_end()            within each other. `report` names them, `--region solve` looks at one alone.
 *   logpost_marker("restart")       an instant: a region of no duration
 *
 * With `record --keep`, where the last calls are kept:
 *
 *   logpost_start()  what this process did so far counts as overwritten: an archive begins here. With `record --keep`.
 *   logpost_dump()   requests an archive of the run so far, as `--dump-signal` does. `record --keep` makes it within a
 *                    second or so, while the program continues; calls of several ranks within that time make one
 * archive.
 *
 * One iteration, with the next one's first calls until the archive is made:
 *
 *     if (iteration == 1000) logpost_start();     on every rank
 *     ...
 *     if (iteration == 1001 && rank == 0) logpost_dump();
 *
 * logpost_start() sums up what the ring holds: about 0.3 ms for each MB. Of a process with several threads it cuts the
 * calling thread's log and the ring; what others have done since their last slot was full stays.
 *
 * For phases of the program use MPI_Pcontrol(level) from 2 on, which is MPI's own: the level is in the archive.
 */
#ifndef LOGPOST_H
#define LOGPOST_H

#ifdef __cplusplus
extern "C" {
#endif

extern void logpost_cut_here(void) __attribute__((weak)); /* of the recorder, where there is one */
extern void logpost_ask_for_archive(void) __attribute__((weak));
extern void logpost_switch_off(void) __attribute__((weak));
extern void logpost_switch_on(void) __attribute__((weak));
extern void logpost_region_enter(const char* name) __attribute__((weak));
extern void logpost_region_leave(void) __attribute__((weak));
extern void logpost_mark_here(const char* name) __attribute__((weak));
/* Under a separate name, so that it does not contradict <dlfcn.h>. */
extern void* logpost_dlsym_(void*, const char*) __asm__("dlsym") __attribute__((weak));

/* In a program that is linked to a fixed address (-no-pie -fno-pie) the linker has decided that a weak function which
 * no library had is none; the one that was preloaded since has to be looked for. */
/* With -finstrument-functions, these are none of the program's functions: a region that begins in one ends elsewhere.
 */
#define LOGPOST_INLINE_ __attribute__((no_instrument_function)) static inline

typedef union {
    void* address;
    void (*plain)(void);
    void (*named)(const char* name);
} logpost_hook_;

LOGPOST_INLINE_ logpost_hook_ logpost_find_(logpost_hook_ hook, const char* name) {
    if (!hook.address && logpost_dlsym_)
        hook.address = logpost_dlsym_((void*)0, name); /* RTLD_DEFAULT */
    return hook;
}

/* Looked for once in each source file. */
#define LOGPOST_CALL_(kind, hook, arguments) \
    static logpost_hook_ found;              \
    static int looked;                       \
    if (!looked) {                           \
        found.kind = hook;                   \
        found = logpost_find_(found, #hook); \
        looked = 1;                          \
    }                                        \
    if (found.address)                       \
    found.kind arguments

LOGPOST_INLINE_ void logpost_start(void) {
    LOGPOST_CALL_(plain, logpost_cut_here, ());
}

LOGPOST_INLINE_ void logpost_dump(void) {
    LOGPOST_CALL_(plain, logpost_ask_for_archive, ());
}

LOGPOST_INLINE_ void logpost_pause(void) {
    LOGPOST_CALL_(plain, logpost_switch_off, ());
}

LOGPOST_INLINE_ void logpost_resume(void) {
    LOGPOST_CALL_(plain, logpost_switch_on, ());
}

LOGPOST_INLINE_ void logpost_region_begin(const char* name) {
    LOGPOST_CALL_(named, logpost_region_enter, (name));
}

LOGPOST_INLINE_ void logpost_region_end(void) {
    LOGPOST_CALL_(plain, logpost_region_leave, ());
}

LOGPOST_INLINE_ void logpost_marker(const char* name) {
    LOGPOST_CALL_(named, logpost_mark_here, (name));
}

#ifdef __cplusplus
}
#endif

#endif
