/* What a program may tell `logpost record`. A header alone, to be copied beside any program: without the recorder each
 * function does nothing, and nothing has to be linked.
 *
 *   logpost_start()  what this process did so far counts as overwritten: an archive begins here. With `record --keep`.
 *   logpost_dump()   asks for an archive of the run so far, as `--dump-signal` does. `record --keep` makes it within a
 *                    second or so, while the program goes on; calls of several ranks within that time make one archive.
 *
 * One iteration of a day-long job, with the next one's first calls until the archive is made:
 *
 *     if (iteration == 1000) logpost_start();     on every rank
 *     ...
 *     if (iteration == 1001 && rank == 0) logpost_dump();
 *
 * logpost_start() sums up what the ring holds: about 0.3 ms for each MB. Of a process with several threads it cuts the
 * calling thread's log and the ring; what others have done since their last slot was full stays.
 *
 * For phases of the program use MPI_Pcontrol(level), which is MPI's own: the level stands in the archive.
 */
#ifndef LOGPOST_H
#define LOGPOST_H

#ifdef __cplusplus
extern "C" {
#endif

extern void logpost_cut_here(void) __attribute__((weak)); /* of the recorder, where there is one */
extern void logpost_ask_for_archive(void) __attribute__((weak));
/* Under a name of its own, so that it does not contradict <dlfcn.h>. */
extern void* logpost_dlsym_(void*, const char*) __asm__("dlsym") __attribute__((weak));

/* In a program that is linked to a fixed address (-no-pie -fno-pie) the linker has decided that a weak function which
 * no library had is none; the one that was preloaded since has to be looked for. */
static inline void logpost_tell_(void (*hook)(void), const char* name) {
    union {
        void* address;
        void (*hook)(void);
    } found = {0};
    if (!hook && logpost_dlsym_) {
        found.address = logpost_dlsym_((void*)0, name); /* RTLD_DEFAULT */
        hook = found.hook;
    }
    if (hook)
        hook();
}

static inline void logpost_start(void) {
    logpost_tell_(logpost_cut_here, "logpost_cut_here");
}

static inline void logpost_dump(void) {
    logpost_tell_(logpost_ask_for_archive, "logpost_ask_for_archive");
}

#ifdef __cplusplus
}
#endif

#endif
