#include "app.h"

#include <stdarg.h>

enum lp_parse_result app_open(struct app* app, int argc, char** argv, const char* name, const char* about,
                              const struct lp_option* options, int n_options) {
    MPI_Init(&argc, &argv);
    app->name = name;
    MPI_Comm_dup(MPI_COMM_WORLD, &app->comm);
    MPI_Comm_set_name(app->comm, name);
    MPI_Comm_rank(app->comm, &app->rank);
    MPI_Comm_size(app->comm, &app->ranks);
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
    int speaker = right ? app->ranks : app->rank;
    MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, app->comm);
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
    struct spread_of result = {0, 0};
    MPI_Reduce(&value, &result.largest, 1, MPI_DOUBLE, MPI_MAX, 0, app->comm);
    MPI_Reduce(&value, &result.mean, 1, MPI_DOUBLE, MPI_SUM, 0, app->comm);
    result.mean /= app->ranks;
    return result;
}

int app_close(struct app* app, int status) {
    MPI_Comm_free(&app->comm);
    MPI_Finalize();
    return status;
}
