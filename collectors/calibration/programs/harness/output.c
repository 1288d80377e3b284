/* The lines that rank 0 writes. */
#include "parts.h"

#include <string.h>
#include <time.h>

/* As a JSON text. */
static void put_text(FILE* out, const char* text) {
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    }
    fputc('"', out);
}

void cal_put_host(const struct cal* c) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", date[32];
    int length;
    time_t now = time(NULL);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(c->out, "{\"family\": \"host\", \"ranks\": %d, \"hosts\": [", c->ranks);
    for (int i = 0; i < c->ranks; i++) {
        fputs(i ? ", " : "", c->out);
        put_text(c->out, c->places[i].host);
    }
    fputs("], \"cpus\": [", c->out);
    for (int i = 0; i < c->ranks; i++) {
        fputs(i ? ", " : "", c->out);
        put_text(c->out, c->places[i].cpus);
    }
    fputs("], \"sockets\": [", c->out);
    for (int i = 0; i < c->ranks; i++)
        fprintf(c->out, "%s%d", i ? ", " : "", c->places[i].socket);
    fputs("], \"mpi_library\": ", c->out);
    put_text(c->out, library);
    fprintf(c->out, ", \"clock\": \"MPI_Wtime%s\", \"clock_resolution_s\": %.4g, \"date\": \"%s\"}\n",
            SIMULATED ? " (simulated)" : "", c->clock_resolution_s, date);
}

void cal_emit(struct cal* c, const struct cal_result* r, int round, const char* family, const char* locality,
              int64_t bytes, const char* keys) {
    if (c->rank != 0 || c->counting || r->samples == 0)
        return;
    fprintf(c->out, "{\"family\": \"%s\", \"locality\": \"%s\", \"bytes\": %lld, ", family, locality, (long long)bytes);
    fprintf(c->out, "%s%s", keys, keys[0] ? ", " : "");
    fprintf(c->out, "\"minimum_s\": %.9g, \"median_s\": %.9g, \"mean_s\": %.9g, \"half_width_s\": %.4g, ", r->minimum_s,
            r->median_s, r->mean_s, r->half_width_s);
    fprintf(c->out, "\"samples\": %d, \"batches\": %d, \"reached\": %s, \"round\": %d, \"repeat\": %d}\n", r->samples,
            r->batches, r->reached ? "true" : "false", round, r->repeat);
}
