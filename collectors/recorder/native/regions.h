/* Regions that the program names, in addition to the calls of its libraries. */
#ifndef LOGPOST_REGIONS_H
#define LOGPOST_REGIONS_H

#include "recorder.h"

LP_HIDDEN void lp_regions_prepare(void);

/* For ../../logpost.h. */
void logpost_region_enter(const char* name);
void logpost_region_leave(void);
void logpost_mark_here(const char* name);

#endif
