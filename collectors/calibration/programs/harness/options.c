/* The options of a program: pairs of a name and a value. */
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* cal_text(const struct cal* c, const char* option, const char* otherwise) {
    for (int i = 1; i + 1 < c->argc; i += 2)
        if (strncmp(c->argv[i], "--", 2) == 0 && strcmp(c->argv[i] + 2, option) == 0)
            return c->argv[i + 1];
    return otherwise;
}

static double number_in(const struct cal* c, const char* text, char** end) {
    double value = strtod(text, end);
    if (*end == text || !isfinite(value) || value < 0)
        cal_refuse(c, "not a number of at least 0", text);
    return value;
}

double cal_number(const struct cal* c, const char* option, double otherwise) {
    const char* text = cal_text(c, option, NULL);
    char* end;
    if (text == NULL)
        return otherwise;
    double value = number_in(c, text, &end);
    if (*end != '\0')
        cal_refuse(c, "not a number of at least 0", text);
    return value;
}

struct cal_list cal_list(const struct cal* c, const char* option, const char* otherwise) {
    const char* text = cal_text(c, option, otherwise);
    struct cal_list list = {0, cal_memory(c, (int64_t)(strlen(text) + 1) * (int64_t)sizeof(double))};
    while (*text != '\0') {
        char* end;
        list.value[list.count++] = number_in(c, text, &end);
        if (*end != ',' && *end != '\0')
            cal_refuse(c, "not a comma-separated list of numbers", text);
        text = *end == ',' ? end + 1 : end;
    }
    return list;
}

double cal_largest(struct cal_list list) {
    double largest = 0;
    for (int i = 0; i < list.count; i++)
        largest = fmax(largest, list.value[i]);
    return largest;
}

bool cal_wants(const struct cal* c, const char* option, const char* word, const char* otherwise) {
    const char* text = cal_text(c, option, otherwise);
    const size_t length = strlen(word);
    for (const char* found = strstr(text, word); found != NULL; found = strstr(found + 1, word))
        if ((found == text || found[-1] == ',') && (found[length] == ',' || found[length] == '\0'))
            return true;
    return false;
}
