/* What the parts of the harness share; the programs include calibration.h alone. */
#ifndef LOGPOST_CALIBRATION_PARTS_H
#define LOGPOST_CALIBRATION_PARTS_H

#include "calibration.h"

/* smpicc includes smpi_helpers.h in front of everything. */
#if defined(SMPI_HELPERS_H) || defined(SMPI_H)
#define SIMULATED 1
#else
#define SIMULATED 0
#endif

struct cal_place {
    char host[128];
    char cpus[96]; /* the processors that the rank is bound to, e.g. "0-3,8" */
    int socket;    /* of these; -1 when they are of several, or unknown */
};

/* place.c: where this rank is. */
void cal_find_place(struct cal_place* place);

/* clock.c: what reading the clock costs, its step, and the speed of the computation. */
void cal_measure_clock(struct cal* c);

/* options.c: the value of an option as it was given. */
const char* cal_text(const struct cal* c, const char* option, const char* otherwise);

/* places.c: where all ranks are, after each took a processor of its own if `binding`, and the pairs. */
void cal_find_places(struct cal* c, bool binding);

/* output.c: rank 0 writes the first line. */
void cal_put_host(const struct cal* c);

#endif
