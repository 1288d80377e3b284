/* Command line options of the workloads: a table of options, `--name value` or `--name=value`, and --help. */
#ifndef LOGPOST_WORKLOADS_OPTIONS_H
#define LOGPOST_WORKLOADS_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

enum lp_option_kind {
    LP_INTEGER, /* int64_t */
    LP_REAL,    /* double */
    LP_CHOICE,  /* int: index of the word in `choices` */
    LP_TEXT,    /* const char * */
    LP_SWITCH   /* int: 1 when given; takes no value */
};

struct lp_option {
    const char* name; /* without the dashes */
    enum lp_option_kind kind;
    void* value;         /* holds the default before, the user's value after */
    const char* choices; /* LP_CHOICE: words separated by '|' */
    double least, most;  /* LP_INTEGER, LP_REAL: admitted range */
    const char* help;    /* with unit and paper */
};

enum lp_parse_result { LP_RUN = 0, LP_HELP = 1, LP_BAD_USAGE = 2 };

/* Reads argv into the options. Messages and help go to `out` / `err`; either may be NULL (ranks other than 0). */
enum lp_parse_result lp_parse(int argc, char** argv, const char* program, const char* about,
                              const struct lp_option* options, int n_options, FILE* out, FILE* err);

/* The word of an LP_CHOICE option, copied into `word` (at most `room` bytes with the 0). */
const char* lp_choice_word(const char* choices, int index, char* word, size_t room);

#endif
