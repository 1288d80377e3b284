/* What every workload begins and ends with. */
#ifndef LOGPOST_WORKLOADS_APP_H
#define LOGPOST_WORKLOADS_APP_H

#include "options.h"
#include "team.h"

struct app {
    const char* name;
    int rank, ranks;
    struct team team; /* all ranks: results and checks */
};

/* Starts the library and reads the options; rank 0 prints help and complaints. Unless the result is LP_RUN the program
 * must end with `return app_close(&app, result == LP_BAD_USAGE ? 2 : 0)`. */
enum lp_parse_result app_open(struct app* app, int argc, char** argv, const char* name, const char* about,
                              const struct lp_option* options, int n_options);

/* A complaint about options that only the program can judge: one line from rank 0; returns exit status 2. */
int app_refuse(const struct app* app, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the result is right on all ranks. Where it is not, the lowest such rank says what is wrong in one line.
 * Collective; returns the exit status, 0 or 1, the same everywhere. */
int app_verdict(const struct app* app, int right, const char* format, ...) __attribute__((format(printf, 3, 4)));

/* Largest and mean over the ranks. Collective. */
struct spread_of {
    double largest, mean;
};
struct spread_of app_spread(const struct app* app, double value);

/* Ends the library; returns `status`. */
int app_close(struct app* app, int status);

#endif
