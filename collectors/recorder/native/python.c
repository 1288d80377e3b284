/* A thread reads its own frames, which nothing else changes, whether it holds the interpreter's lock or not (mpi4py
 * releases it): a frame that is at work keeps its code object and that object's names alive, so no reference is
 * counted. In calls the frames are complete, and are loaded. In signal handlers the interpreter may be making one, and
 * process_vm_readv reads them, which reports a wrong address instead of ending the program; so are all structures when
 * they are seen first. Each code object is known by its type before it is used.
 *
 * Where frames, code objects and names have their parts is known by version: CPython 3.9 to 3.13. A build whose objects
 * begin otherwise (without the interpreter's lock, or with traced references) has no code object where one is expected,
 * and keeps native frames. */
#include "python.h"

#include "frames.h"
#include "hash.h"
#include "recorder.h"
#include "stacks.h"

int lp_python = 0;

#if LP_HAS_FRAMES

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KNOWN = 4096, PROBES = 8, LONGEST = 200 };

enum { DIRECT = -1 };           /* the thread has its frame without a _PyCFrame between */
enum { OF_INTERPRETER = 3 };    /* FRAME_OWNED_BY_CSTACK: begins a call from C, and has no function */
enum { MOST_OF_A_FRAME = 112 }; /* bytes up to the last part that is read, and padding */

/* Bytes from the begin of each structure, on systems of 64 bits, as the compiler lays out CPython's headers of each
 * version: cpython/pystate.h, cpython/frameobject.h (to 3.10), internal/pycore_frame.h (from 3.11), cpython/code.h,
 * cpython/unicodeobject.h. */
static const struct layout {
    const char* version;
    unsigned thread_frame;                                               /* _ts.frame, .cframe or .current_frame */
    int cframe_frame;                                                    /* _PyCFrame.current_frame */
    unsigned frame_code, frame_previous, frame_instruction, frame_owner; /* 0: frames have no owner */
    unsigned instruction_unit; /* bytes of f_lasti's units; 0: the instruction is an address */
    unsigned code_file, code_name, code_instructions;
    unsigned text_length, text_state, text_ascii, text_other; /* of a str, and where its characters are */
} layouts[] = {
    {"3.9.", 24, DIRECT, 32, 24, 104, 0, 1, 104, 112, 0, 16, 32, 48, 72},
    {"3.10.", 24, DIRECT, 32, 24, 96, 0, 2, 104, 112, 0, 16, 32, 48, 72},
    {"3.11.", 56, 8, 32, 48, 56, 69, 0, 112, 128, 184, 16, 32, 48, 72},
    {"3.12.", 56, 0, 0, 8, 56, 70, 0, 112, 128, 192, 16, 32, 40, 56},
    {"3.13.", 72, DIRECT, 0, 8, 56, 70, 0, 112, 128, 200, 16, 32, 40, 56},
};

struct lp_python_known {
    uint64_t hash; /* of the native stack and the frames; 0: none */
    uint32_t id;
};

static const struct layout* layout;
static uintptr_t (*current_thread)(void);
static int (*line_of)(const void*, int);
static uintptr_t code_type, text_type;

static int read_at(uintptr_t address, void* to, size_t bytes) {
    const struct iovec here = {to, bytes}, there = {(void*)address, bytes};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* In a call, once the structures are known to be as expected. */
static int load(uintptr_t address, void* to, size_t bytes, int careful) {
    if (careful)
        return read_at(address, to, bytes);
    memcpy(to, (const void*)address, bytes);
    return 1;
}

static int is_a(uintptr_t object, uintptr_t type) {
    uintptr_t found = 0;
    return object && read_at(object + sizeof(uintptr_t), &found, sizeof found) && found == type;
}

void lp_python_prepare(int rank) {
    const char* (*version)(void) = (const char* (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "Py_GetVersion");
    if (layout || !version)
        return;
    for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (!strncmp(version(), layouts[i].version, strlen(layouts[i].version)))
            layout = &layouts[i];
    current_thread = (uintptr_t (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    line_of = (int (*)(const void*, int))(uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Addr2Line");
    code_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
    text_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyUnicode_Type");
    uintptr_t type = 0;
    const int readable = code_type && read_at(code_type + sizeof type, &type, sizeof type);
    if (!layout && rank == 0)
        lp_say("calls have no Python functions: of Python %.20s it is not known where its frames are", version());
    else if (rank == 0 && (!readable || !current_thread || !line_of || !text_type))
        lp_say("calls have no Python functions: process_vm_readv of its own memory is not permitted");
    lp_python = layout && readable && current_thread && line_of && text_type;
}

struct frame {
    uintptr_t code;
    intptr_t instruction; /* in bytes, from the first one */
};

static intptr_t instruction_of(const unsigned char* frame, uintptr_t code) {
    if (!layout->instruction_unit) {
        uintptr_t address = 0;
        memcpy(&address, frame + layout->frame_instruction, sizeof address);
        return (intptr_t)(address - code - layout->code_instructions);
    }
    int32_t last = 0;
    memcpy(&last, frame + layout->frame_instruction, sizeof last);
    return (intptr_t)last * (int)layout->instruction_unit;
}

/* Innermost first. */
static int frames(struct frame* frame, int room, int careful, int* cut) {
    unsigned char bytes[MOST_OF_A_FRAME];
    const size_t used = layout->frame_owner ? layout->frame_owner + 1 : layout->frame_instruction + sizeof(int32_t);
    const uintptr_t thread = current_thread();
    uintptr_t at = 0;
    int count = 0;
    *cut = 0;
    if (!thread || !load(thread + layout->thread_frame, &at, sizeof at, careful) ||
        (layout->cframe_frame != DIRECT && !load(at + (unsigned)layout->cframe_frame, &at, sizeof at, careful)))
        return 0;
    for (int steps = 0; at && load(at, bytes, used, careful); steps++) {
        if (count == room || steps == 2 * room) { /* before each function there is at most one frame of C */
            *cut = 1;
            break;
        }
        memcpy(&at, bytes + layout->frame_previous, sizeof at);
        if (layout->frame_owner && bytes[layout->frame_owner] == OF_INTERPRETER)
            continue;
        memcpy(&frame[count].code, bytes + layout->frame_code, sizeof(uintptr_t));
        frame[count].instruction = instruction_of(bytes, frame[count].code);
        count++;
    }
    return count;
}

/* The characters of a str as UTF-8, without those that separate fields. Returns the number of bytes. */
static size_t text_of(uintptr_t text, char* to) {
    unsigned char head[36]; /* up to the state */
    size_t length = 0, used = 0;
    uint32_t state = 0;
    if (!is_a(text, text_type) || !read_at(text, head, sizeof head))
        return 0;
    memcpy(&length, head + layout->text_length, sizeof length);
    memcpy(&state, head + layout->text_state, sizeof state);
    const unsigned width = state >> 2 & 7, compact = state >> 5 & 1, ascii = state >> 6 & 1;
    if (!compact || (width != 1 && width != 2 && width != 4))
        return 0;
    /* The end of a path says more than its begin. */
    const size_t skip = length > LONGEST ? length - LONGEST : 0;
    uintptr_t at = text + (ascii ? layout->text_ascii : layout->text_other) + skip * width;
    for (size_t i = skip; i < length && used + 4 <= LONGEST; i++, at += width) {
        uint32_t c = 0;
        if (!read_at(at, &c, width))
            return 0;
        if (c < 0x20 || c == 0x7f)
            c = '?';
        if (c < 0x80) {
            to[used++] = (char)c;
        } else if (c < 0x800) {
            to[used++] = (char)(0xc0 | c >> 6);
            to[used++] = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            to[used++] = (char)(0xe0 | c >> 12);
            to[used++] = (char)(0x80 | (c >> 6 & 0x3f));
            to[used++] = (char)(0x80 | (c & 0x3f));
        } else {
            to[used++] = (char)(0xf0 | (c >> 18 & 7));
            to[used++] = (char)(0x80 | (c >> 12 & 0x3f));
            to[used++] = (char)(0x80 | (c >> 6 & 0x3f));
            to[used++] = (char)(0x80 | (c & 0x3f));
        }
    }
    return used;
}

/* `name TAB file TAB line NEWLINE` of a frame; returns the number of bytes. */
static size_t describe(struct frame f, char* to) {
    uintptr_t name = 0, file = 0;
    size_t used = 0;
    if (!is_a(f.code, code_type) || !read_at(f.code + layout->code_name, &name, sizeof name) ||
        !read_at(f.code + layout->code_file, &file, sizeof file))
        return 0;
    int line = line_of((const void*)f.code, (int)f.instruction);
    used += text_of(name, to);
    to[used++] = '\t';
    used += text_of(file, to + used);
    to[used++] = '\t';
    char digits[12];
    int count = 0;
    for (line = line > 0 ? line : 0; line || !count; line /= 10)
        digits[count++] = (char)('0' + line % 10);
    while (count)
        to[used++] = digits[--count];
    to[used++] = '\n';
    return used;
}

uint32_t lp_python_stack(struct lp_thread* t, uint32_t native, lp_room room) {
    static int known_good; /* a walk that found code objects alone */
    struct frame frame[LP_STACK_MAX_FRAMES];
    const int in_call = room == lp_window_room;
    int cut = 0;
    if (!t->stacks)
        return native;
    const int count = frames(frame, lp_stack_depth(), !in_call || !known_good, &cut);
    if (!count)
        return native;
    for (int i = 0; !known_good && i < count; i++)
        if (!is_a(frame[i].code, code_type)) {
            lp_python = !in_call; /* in a call, frames are complete: these are other structures */
            return native;
        }
    known_good = known_good || in_call;
    if (!t->stacks->python && !(t->stacks->python = in_call ? calloc(KNOWN, sizeof *t->stacks->python) : NULL))
        return native;
    const uint64_t hash = lp_hash(lp_hash(LP_HASH, &native, sizeof native), frame, (size_t)count * sizeof *frame) | 1;
    unsigned at = (unsigned)(hash >> 32) % KNOWN;
    struct lp_python_known* known = t->stacks->python;
    for (int i = 0; i < PROBES && known[at].hash && known[at].hash != hash; i++)
        at = (at + 1) % KNOWN;
    if (known[at].hash == hash)
        return known[at].id;
    const size_t fixed = sizeof(struct lp_head) + sizeof(struct lp_python_def);
    const size_t most = fixed + (size_t)count * (2 * LONGEST + 16) + 8;
    char* to = t->stacks->count + 1 < LP_MOST_STACKS ? room(t, most) : NULL;
    if (!to)
        return native;
    struct lp_python_def* def = (struct lp_python_def*)(to + sizeof(struct lp_head));
    char* text = (char*)(def + 1);
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        const size_t one = describe(frame[i], text + used);
        if (!one)
            return native;
        used += one;
    }
    text[used++] = 0;
    while (used % 8)
        text[used++] = 0;
    *def = (struct lp_python_def){++t->stacks->count, native, cut != 0, 0};
    known[at] = (struct lp_python_known){hash, def->stack};
    lp_publish(t, LP_DEF_PYTHON, 0, fixed + used, lp_now());
    return def->stack;
}

#else

void lp_python_prepare(int rank) {
    (void)rank;
}

uint32_t lp_python_stack(struct lp_thread* t, uint32_t native, lp_room room) {
    (void)t, (void)room;
    return native;
}

#endif
