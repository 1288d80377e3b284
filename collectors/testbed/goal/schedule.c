/* The text form of GOAL, as txt2bin of LogGOPSim reads it:
 *
 *   num_ranks N
 *   rank R { LABEL: calc T | LABEL: send Bb to R tag T cpu C nic N | LABEL: recv Bb from R tag T ...
 *            LABEL requires LABEL | LABEL irequires LABEL }
 *
 * One statement a line; labels belong to their rank; // and slash-star comments. */
#include "schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct label {
    char* name;
    int operation;
};

struct reader {
    const char* path;
    int line, rank, inside, wanted; /* rank of the block that the line is in; inside: of the wanted rank's */
    struct schedule* schedule;
    struct label* labels; /* open addressing */
    int used, room;
};

static void* grown(void* memory, size_t bytes) {
    void* result = realloc(memory, bytes);
    if (!result) {
        fprintf(stderr, "goal: out of memory for %zu bytes\n", bytes);
        exit(3);
    }
    return result;
}

void append(struct list* list, int item) {
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 2;
        list->items = grown(list->items, (size_t)list->room * sizeof(int));
    }
    list->items[list->count++] = item;
}

static int complain(const struct reader* in, const char* what, const char* text) {
    fprintf(stderr, "goal: %s, line %d: %s: %.60s\n", in->path, in->line, what, text);
    return 2;
}

/* Where a label is, or belongs. */
static struct label* place_of(struct label* labels, int room, const char* name) {
    uint64_t hash = 1469598103934665603u;
    for (const char* c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    int at = (int)(hash % (uint64_t)room);
    while (labels[at].name && strcmp(labels[at].name, name) != 0)
        at = at + 1 == room ? 0 : at + 1;
    return &labels[at];
}

static struct label* label_of(struct reader* in, const char* name) {
    if (2 * (in->used + 1) > in->room) {
        const int room = in->room ? 2 * in->room : 64;
        struct label* labels = grown(NULL, (size_t)room * sizeof *labels);
        memset(labels, 0, (size_t)room * sizeof *labels);
        for (int i = 0; i < in->room; i++)
            if (in->labels[i].name)
                *place_of(labels, room, in->labels[i].name) = in->labels[i];
        free(in->labels);
        in->labels = labels;
        in->room = room;
    }
    return place_of(in->labels, in->room, name);
}

static struct operation* new_operation(struct reader* in, const char* name) {
    struct schedule* s = in->schedule;
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->operations = grown(s->operations, (size_t)s->room * sizeof *s->operations);
    }
    struct operation* made = &s->operations[s->count];
    memset(made, 0, sizeof *made);
    if (*name) {
        struct label* label = label_of(in, name);
        if (label->name)
            return NULL;
        label->name = strcpy(grown(NULL, strlen(name) + 1), name);
        label->operation = s->count;
        in->used++;
    }
    s->count++;
    return made;
}

/* "calc 5", "send 8b to 1 tag 3 cpu 0 nic 0": what follows a label, if any. */
static int add_operation(struct reader* in, const char* label, const char* text) {
    char word[8] = "", way[8] = "";
    int64_t amount = 0, peer = 0, tag = 0;
    int at = 0;
    struct operation made = {.kind = CALC};
    if (sscanf(text, " calc %" SCNd64 "%n", &amount, &at) == 1 && at > 0) {
        made.kind = CALC;
    } else if (sscanf(text, " %7s %" SCNd64 "b %7s %" SCNd64 "%n", word, &amount, way, &peer, &at) == 4 && at > 0 &&
               ((!strcmp(word, "send") && !strcmp(way, "to")) || (!strcmp(word, "recv") && !strcmp(way, "from")))) {
        made.kind = word[0] == 's' ? SEND : RECV;
        int more = 0;
        if (sscanf(text + at, " tag %" SCNd64 "%n", &tag, &more) == 1 && more > 0)
            at += more;
        const int64_t least = made.kind == RECV ? -1 : 0;
        if (peer < least || peer >= in->schedule->ranks)
            return complain(in, "there is no such rank", text);
        if (tag < least || tag > INT32_MAX)
            return complain(in, "the tag is beyond those of MPI", text);
        if (amount > INT32_MAX)
            return complain(in, "messages above 2 GiB are not played", text);
    } else {
        return complain(in, "expected calc, send or recv", text);
    }
    int ignored = 0, more = 0;
    char where[8] = "";
    while (sscanf(text + at, " %3s %d%n", where, &ignored, &more) == 2 &&
           (!strcmp(where, "cpu") || !strcmp(where, "nic")))
        at += more;
    if (text[at + (int)strspn(text + at, " \t\r")] != '\0')
        return complain(in, "the end of the line is not known", text + at);
    if (amount < 0)
        return complain(in, "a negative amount", text);
    if (!in->inside)
        return 0;
    struct operation* operation = new_operation(in, label);
    if (!operation)
        return complain(in, "the label is there already", label);
    made.amount = amount;
    made.peer = (int)peer;
    made.tag = (int)tag;
    *operation = made;
    return 0;
}

static int add_dependency(struct reader* in, const char* later, const char* how, const char* earlier) {
    if (!in->inside)
        return 0;
    const struct label *to = label_of(in, later), *from = label_of(in, earlier);
    if (!to->name || !from->name)
        return complain(in, "there is no such label before this line", to->name ? earlier : later);
    struct operation* needed = &in->schedule->operations[from->operation];
    in->schedule->operations[to->operation].missing++;
    append(how[0] == 'i' ? &needed->on_begun : &needed->on_done, to->operation);
    return 0;
}

static int read_line(struct reader* in, char* text) {
    char label[256], how[16], other[256];
    int number = 0, at = 0;
    text += strspn(text, " \t");
    text[strcspn(text, "\r\n")] = '\0';
    if (sscanf(text, "num_ranks %d", &number) == 1) {
        in->schedule->ranks = number;
        return number < 1 ? complain(in, "no ranks", text) : 0;
    }
    if (sscanf(text, "rank %d { %n", &number, &at) == 1 && at > 0) {
        in->rank = number;
        in->inside = number == in->wanted;
        return text[at] ? complain(in, "expected the end of the line", text + at) : 0;
    }
    if (text[0] == '}') {
        in->rank = -1;
        in->inside = 0;
        return 0;
    }
    if (in->rank < 0)
        return complain(in, "expected num_ranks or rank N {", text);
    if (sscanf(text, "%255[A-Za-z0-9_] : %n", label, &at) == 1 && at > 0 && text[at - 1] != '\0' && strchr(text, ':'))
        return add_operation(in, label, text + at);
    if (sscanf(text, "%255[A-Za-z0-9_] %15s %255[A-Za-z0-9_]", label, how, other) == 3 &&
        (!strcmp(how, "requires") || !strcmp(how, "irequires")))
        return add_dependency(in, label, how, other);
    return add_operation(in, "", text);
}

/* Blanks out comments; `inside`: whether a slash-star comment continues. */
static int without_comments(char* text, int inside) {
    for (char* c = text; *c; c++) {
        if (inside) {
            if (c[0] == '*' && c[1] == '/') {
                c[1] = ' ';
                inside = 0;
            }
            if (*c != '\n')
                *c = ' ';
        } else if (c[0] == '/' && c[1] == '/') {
            *c = '\0';
            break;
        } else if (c[0] == '/' && c[1] == '*') {
            c[0] = c[1] = ' ';
            inside = 1;
        }
    }
    return inside;
}

int read_schedule(const char* path, int rank, struct schedule* schedule) {
    struct reader in = {.path = path, .rank = -1, .wanted = rank, .schedule = schedule};
    FILE* file = fopen(path, "r");
    if (!file) {
        perror(path);
        return 2;
    }
    char text[1024];
    int status = 0, comment = 0;
    memset(schedule, 0, sizeof *schedule);
    while (!status && fgets(text, sizeof text, file)) {
        in.line++;
        comment = without_comments(text, comment);
        if (text[strspn(text, " \t\r\n")])
            status = read_line(&in, text);
    }
    fclose(file);
    if (!status && schedule->ranks < 1) {
        fprintf(stderr, "goal: %s has no num_ranks\n", path);
        status = 2;
    }
    for (int i = 0; i < in.room; i++)
        free(in.labels[i].name);
    free(in.labels);
    return status;
}
