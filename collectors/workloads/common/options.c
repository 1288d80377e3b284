#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int choice_index(const char* choices, const char* word) {
    size_t length = strlen(word);
    const char* at = choices;
    for (int index = 0; length > 0; index++) {
        size_t here = strcspn(at, "|");
        if (here == length && strncmp(at, word, length) == 0)
            return index;
        if (at[here] == 0)
            break;
        at += here + 1;
    }
    return -1;
}

const char* lp_choice_word(const char* choices, int index, char* word, size_t room) {
    const char* at = choices;
    while (index-- > 0)
        at += strcspn(at, "|") + 1;
    snprintf(word, room, "%.*s", (int)strcspn(at, "|"), at);
    return word;
}

static void print_help(FILE* out, const char* program, const char* about, const struct lp_option* options,
                       int n_options) {
    if (!out)
        return;
    fprintf(out, "%s: %s\n\noptions (defaults in brackets):\n", program, about);
    for (int i = 0; i < n_options; i++) {
        const struct lp_option* o = &options[i];
        char left[160];
        char word[64];
        switch (o->kind) {
            case LP_INTEGER:
                snprintf(left, sizeof left, "--%s N [%lld]", o->name, (long long)*(int64_t*)o->value);
                break;
            case LP_REAL:
                snprintf(left, sizeof left, "--%s X [%g]", o->name, *(double*)o->value);
                break;
            case LP_CHOICE:
                snprintf(left, sizeof left, "--%s %s [%s]", o->name, o->choices,
                         lp_choice_word(o->choices, *(int*)o->value, word, sizeof word));
                break;
            case LP_TEXT:
                snprintf(left, sizeof left, "--%s TEXT [%s]", o->name,
                         *(const char**)o->value ? *(const char**)o->value : "none");
                break;
            case LP_SWITCH:
                snprintf(left, sizeof left, "--%s", o->name);
                break;
        }
        fprintf(out, "  %s\n        %s\n", left, o->help);
    }
    fprintf(out, "  --help\n        this text\n");
}

static const char* read_value(const struct lp_option* o, const char* text) {
    static char problem[240];
    char* end = NULL;
    errno = 0;
    if (o->kind == LP_INTEGER) {
        long long n = strtoll(text, &end, 10);
        if (end == text || *end || errno || (double)n < o->least || (double)n > o->most) {
            snprintf(problem, sizeof problem, "--%s %.60s: must be an integer from %.0f to %.0f", o->name, text,
                     o->least, o->most);
            return problem;
        }
        *(int64_t*)o->value = n;
    } else if (o->kind == LP_REAL) {
        double x = strtod(text, &end);
        if (end == text || *end || errno || !(x >= o->least && x <= o->most)) {
            snprintf(problem, sizeof problem, "--%s %.60s: must be a number from %g to %g", o->name, text, o->least,
                     o->most);
            return problem;
        }
        *(double*)o->value = x;
    } else if (o->kind == LP_CHOICE) {
        int index = choice_index(o->choices, text);
        if (index < 0) {
            snprintf(problem, sizeof problem, "--%s %.60s: must be one of %s", o->name, text, o->choices);
            return problem;
        }
        *(int*)o->value = index;
    } else {
        *(const char**)o->value = text;
    }
    return NULL;
}

enum lp_parse_result lp_parse(int argc, char** argv, const char* program, const char* about,
                              const struct lp_option* options, int n_options, FILE* out, FILE* err) {
    for (int i = 1; i < argc; i++) {
        const char* argument = argv[i];
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            print_help(out, program, about, options, n_options);
            return LP_HELP;
        }
        const struct lp_option* found = NULL;
        size_t length = strncmp(argument, "--", 2) == 0 ? strcspn(argument + 2, "=") : 0;
        for (int k = 0; k < n_options && length > 0; k++)
            if (strlen(options[k].name) == length && strncmp(options[k].name, argument + 2, length) == 0)
                found = &options[k];
        const char* problem = NULL;
        const char* inline_value = length > 0 && argument[2 + length] == '=' ? argument + 3 + length : NULL;
        if (!found) {
            if (err)
                fprintf(err, "%s: unknown option %.60s; --help lists the options\n", program, argument);
            return LP_BAD_USAGE;
        }
        if (found->kind == LP_SWITCH) {
            if (inline_value)
                problem = "takes no value";
            *(int*)found->value = 1;
        } else if (inline_value || i + 1 < argc) {
            problem = read_value(found, inline_value ? inline_value : argv[++i]);
        } else {
            problem = "needs a value";
        }
        if (problem) {
            if (err && problem[0] == '-')
                fprintf(err, "%s: %s\n", program, problem);
            else if (err)
                fprintf(err, "%s: %.60s %s\n", program, argument, problem);
            return LP_BAD_USAGE;
        }
    }
    return LP_RUN;
}
