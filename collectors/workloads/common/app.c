#include "app.h"

#include <stdarg.h>

enum lp_parse_result app_open(struct app* app, int argc, char** argv, const char* name, const char* about,
                              const struct lp_option* options, int n_options) {
    app->name = name;
    app->team = team_open(argc, argv, name);
    app->rank = app->team.rank;
    app->ranks = app->team.ranks;
    const int speaks = app->rank == 0;
    return lp_parse(argc, argv, name, about, options, n_options, speaks ? stdout : NULL, speaks ? stderr : NULL);
}

int app_refuse(const struct app* app, const char* format, ...) {
    if (app->rank == 0) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "%s: ", app->name);
        vfprintf(stderr, format, arguments);
        fprintf(stderr, "\n");
        va_end(arguments);
    }
    return 2;
}

int app_verdict(const struct app* app, int right, const char* format, ...) {
    const int speaker = team_lowest(&app->team, right ? app->ranks : app->rank);
    if (speaker == app->rank) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "%s: wrong result on rank %d: ", app->name, app->rank);
        vfprintf(stderr, format, arguments);
        fprintf(stderr, "\n");
        va_end(arguments);
    }
    return speaker == app->ranks ? 0 : 1;
}

struct spread_of app_spread(const struct app* app, double value) {
    struct spread_of result = {team_largest(&app->team, value), value};
    team_sum(&app->team, &result.mean, 1);
    result.mean /= app->ranks;
    return result;
}

int app_close(struct app* app, int status) {
    team_close(&app->team);
    return status;
}
