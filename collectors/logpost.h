/* What a program may tell `logpost record`. A header alone, to be copied beside any program: without the recorder each
 * function does nothing, and nothing has to be linked.
 *
 *   logpost_dump()   asks for an archive of the run so far, as `--dump-signal` does. `record --keep` makes it within a
 *                    second or so, while the program goes on; calls of several ranks within that time make one archive.
 *
 * For phases of the program use MPI_Pcontrol(level), which is MPI's own: the level stands in the archive.
 */
#ifndef LOGPOST_H
#define LOGPOST_H

#ifdef __cplusplus
extern "C" {
#endif

extern void logpost_ask_for_archive(void) __attribute__((weak)); /* of the recorder, where there is one */

static inline void logpost_dump(void) {
    if (logpost_ask_for_archive)
        logpost_ask_for_archive();
}

#ifdef __cplusplus
}
#endif

#endif
