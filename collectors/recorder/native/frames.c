/* Unwinding by .eh_frame (DWARF 4, section 6.4, and the Linux Standard Base's chapter on it). Registers have DWARF's
 * numbers for x86-64: 0 to 15, of which 7 is rsp, and 16 the return address. */
#include "frames.h"

#if LP_HAS_FRAMES

#include <dlfcn.h>
#include <ucontext.h>

enum { RBP = 6, RSP = 7, RIP = 16, REGISTERS = 17, REMEMBERED = 4, OPERANDS = 8 };

/* What glibc 2.35 and later define for unwinders in signal handlers. */
struct found_object {
    unsigned long long flags;
    void* begin;
    void* end;
    void* map;
    void* eh_frame_hdr;
    unsigned long long reserved[7];
};
static int (*find_object)(void*, struct found_object*);

int lp_frames_prepare(void) {
    if (!find_object)
        find_object = (int (*)(void*, struct found_object*))(uintptr_t)dlsym(RTLD_DEFAULT, "_dl_find_object");
    return find_object != NULL;
}

/* --- numbers in the tables --------------------------------------------------------------------------------------- */

struct bytes {
    const unsigned char *at, *end;
};

static uint64_t fixed(struct bytes* b, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(b->end - b->at) < size) {
        b->at = b->end;
        return 0;
    }
    memcpy(&value, b->at, size);
    b->at += size;
    return value;
}

static uint64_t unsigned_leb(struct bytes* b) {
    uint64_t value = 0;
    for (unsigned shift = 0; b->at < b->end; shift += 7) {
        const unsigned char one = *b->at++;
        if (shift < 64)
            value |= (uint64_t)(one & 0x7f) << shift;
        if (!(one & 0x80))
            break;
    }
    return value;
}

static int64_t signed_leb(struct bytes* b) {
    uint64_t value = 0;
    unsigned shift = 0;
    unsigned char one = 0x80;
    while ((one & 0x80) && b->at < b->end) {
        one = *b->at++;
        if (shift < 64)
            value |= (uint64_t)(one & 0x7f) << shift;
        shift += 7;
    }
    if (shift < 64 && (one & 0x40))
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

/* A pointer by its encoding (DW_EH_PE_*): absolute or relative to its place. 0: another encoding. */
static uintptr_t pointer(struct bytes* b, unsigned encoding) {
    const uintptr_t place = (uintptr_t)b->at;
    uintptr_t value;
    switch (encoding & 0x0f) {
        case 0x00:
        case 0x04:
        case 0x0c:
            value = (uintptr_t)fixed(b, 8);
            break;
        case 0x03:
            value = (uintptr_t)fixed(b, 4);
            break;
        case 0x0b:
            value = (uintptr_t)(int64_t)(int32_t)fixed(b, 4);
            break;
        default:
            return 0;
    }
    const unsigned relative_to = encoding & 0x70;
    return relative_to == 0x10 ? place + value : relative_to == 0 ? value : 0;
}

/* --- the entry of a function ------------------------------------------------------------------------------------- */

struct entry {
    uintptr_t begin, end; /* of the function */
    uint64_t code_unit;
    int64_t data_unit;
    struct bytes common, own; /* instructions of the CIE, and of the FDE */
    int signal;               /* it is the return from a signal handler: the address is that of an instruction */
};

static int read_common(struct entry* e, const unsigned char* at, unsigned* encoding, int* augmented) {
    struct bytes head = {at, at + 4};
    const uint64_t length = fixed(&head, 4);
    if (!length || length >= 0xfffffff0u)
        return 0;
    struct bytes b = {at + 4, at + 4 + length};
    if (fixed(&b, 4) != 0)
        return 0;
    const uint64_t version = fixed(&b, 1);
    const char* augmentation = (const char*)b.at;
    while (b.at < b.end && *b.at)
        b.at++;
    b.at++;
    if (b.at >= b.end || (version != 1 && version != 3))
        return 0;
    e->code_unit = unsigned_leb(&b);
    e->data_unit = signed_leb(&b);
    if ((version == 1 ? fixed(&b, 1) : unsigned_leb(&b)) != RIP)
        return 0;
    *encoding = 0;
    *augmented = *augmentation == 'z';
    if (*augmented) {
        const uint64_t size = unsigned_leb(&b);
        if (size > (size_t)(b.end - b.at))
            return 0;
        const unsigned char* const after = b.at + size;
        for (const char* c = augmentation + 1; *c; c++) {
            unsigned other;
            if (*c == 'R') {
                *encoding = (unsigned)fixed(&b, 1);
            } else if (*c == 'P') {
                other = (unsigned)fixed(&b, 1);
                pointer(&b, other & 0x0f);
            } else if (*c == 'L') {
                fixed(&b, 1);
            } else if (*c == 'S') {
                e->signal = 1;
            }
        }
        b.at = after;
    } else if (*augmentation) {
        return 0;
    }
    e->common = b;
    return 1;
}

static int read_entry(struct entry* e, const unsigned char* at, uintptr_t address) {
    struct bytes head = {at, at + 4};
    const uint64_t length = fixed(&head, 4);
    if (!length || length >= 0xfffffff0u)
        return 0;
    struct bytes b = {at + 4, at + 4 + length};
    const unsigned char* const place = b.at;
    const uint64_t back = fixed(&b, 4);
    unsigned encoding;
    int augmented;
    if (!back || !read_common(e, place - back, &encoding, &augmented))
        return 0;
    e->begin = pointer(&b, encoding);
    e->end = e->begin + pointer(&b, encoding & 0x0f);
    if (address < e->begin || address >= e->end)
        return 0;
    if (augmented) {
        const uint64_t size = unsigned_leb(&b);
        if (size > (size_t)(b.end - b.at))
            return 0;
        b.at += size;
    }
    e->own = b;
    return 1;
}

/* By the object's sorted table (.eh_frame_hdr), whose entries linkers write as pairs of 32 bits relative to it. */
static int find_entry(struct entry* e, uintptr_t address) {
    struct found_object object;
    if (find_object((void*)address, &object) || !object.eh_frame_hdr)
        return 0;
    const unsigned char* const table = object.eh_frame_hdr;
    if (table[0] != 1 || table[3] != 0x3b || (table[2] != 0x03 && table[2] != 0x0b))
        return 0;
    struct bytes b = {table + 4, table + 4 + 8 + 8};
    pointer(&b, table[1]);
    const uint64_t count = fixed(&b, 4);
    const int32_t (*const pairs)[2] = (const int32_t (*)[2])(const void*)b.at;
    const int64_t wanted = (int64_t)(address - (uintptr_t)table);
    uint64_t low = 0, high = count;
    while (low < high) { /* the last that begins at or before the address */
        const uint64_t middle = low + (high - low) / 2;
        if (pairs[middle][0] <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low && read_entry(e, table + pairs[low - 1][1], address);
}

/* --- its rules at an address ------------------------------------------------------------------------------------- */

enum rule_kind { SAME, UNDEFINED, AT_OFFSET, IS_OFFSET, IN_REGISTER, AT_EXPRESSION, IS_EXPRESSION };

struct rule {
    enum rule_kind kind;
    uint32_t base; /* of the CFA: a register */
    int64_t value; /* an offset, or a register, or where an expression is */
};

struct rules {
    struct rule cfa; /* IS_OFFSET of `base`, or IS_EXPRESSION */
    struct rule of[REGISTERS];
};

static void set(struct rules* r, uint64_t number, enum rule_kind kind, int64_t value) {
    if (number < REGISTERS)
        r->of[number] = (struct rule){kind, 0, value};
}

static int64_t expression(struct bytes* b) {
    const int64_t place = (int64_t)(uintptr_t)b->at;
    const uint64_t size = unsigned_leb(b);
    b->at = size < (size_t)(b->end - b->at) ? b->at + size : b->end;
    return place;
}

/* Executes instructions up to an address; `first`: the rules behind those of the CIE. 0: one is not known. */
static int execute(struct rules* r, const struct entry* e, struct bytes b, uintptr_t address,
                   const struct rules* first) {
    struct rules remembered[REMEMBERED];
    int depth = 0;
    uintptr_t location = e->begin;
    while (b.at < b.end && location <= address) {
        const unsigned char one = *b.at++;
        const unsigned low = one & 0x3f;
        uint64_t number;
        switch (one & 0xc0) {
            case 0x40:
                location += low * e->code_unit;
                continue;
            case 0x80:
                set(r, low, AT_OFFSET, (int64_t)unsigned_leb(&b) * e->data_unit);
                continue;
            case 0xc0:
                if (first && low < REGISTERS)
                    r->of[low] = first->of[low];
                continue;
            default:
                break;
        }
        switch (low) {
            case 0x00: /* nop */
                break;
            case 0x02: /* advance_loc1, 2, 4 */
                location += fixed(&b, 1) * e->code_unit;
                break;
            case 0x03:
                location += fixed(&b, 2) * e->code_unit;
                break;
            case 0x04:
                location += fixed(&b, 4) * e->code_unit;
                break;
            case 0x05: /* offset_extended */
                number = unsigned_leb(&b);
                set(r, number, AT_OFFSET, (int64_t)unsigned_leb(&b) * e->data_unit);
                break;
            case 0x06: /* restore_extended */
                number = unsigned_leb(&b);
                if (first && number < REGISTERS)
                    r->of[number] = first->of[number];
                break;
            case 0x07:
                set(r, unsigned_leb(&b), UNDEFINED, 0);
                break;
            case 0x08:
                set(r, unsigned_leb(&b), SAME, 0);
                break;
            case 0x09:
                number = unsigned_leb(&b);
                set(r, number, IN_REGISTER, (int64_t)unsigned_leb(&b));
                break;
            case 0x0a: /* remember_state */
                if (depth == REMEMBERED)
                    return 0;
                remembered[depth++] = *r;
                break;
            case 0x0b: /* restore_state */
                if (!depth)
                    return 0;
                *r = remembered[--depth];
                break;
            case 0x0c: /* def_cfa */
                number = unsigned_leb(&b);
                r->cfa = (struct rule){IS_OFFSET, (uint32_t)number, (int64_t)unsigned_leb(&b)};
                break;
            case 0x0d: /* def_cfa_register */
                r->cfa.base = (uint32_t)unsigned_leb(&b);
                break;
            case 0x0e: /* def_cfa_offset */
                r->cfa.value = (int64_t)unsigned_leb(&b);
                break;
            case 0x0f: /* def_cfa_expression */
                r->cfa = (struct rule){IS_EXPRESSION, 0, expression(&b)};
                break;
            case 0x10: /* expression */
                number = unsigned_leb(&b);
                set(r, number, AT_EXPRESSION, expression(&b));
                break;
            case 0x11: /* offset_extended_sf */
                number = unsigned_leb(&b);
                set(r, number, AT_OFFSET, signed_leb(&b) * e->data_unit);
                break;
            case 0x12: /* def_cfa_sf */
                number = unsigned_leb(&b);
                r->cfa = (struct rule){IS_OFFSET, (uint32_t)number, signed_leb(&b) * e->data_unit};
                break;
            case 0x13: /* def_cfa_offset_sf */
                r->cfa.value = signed_leb(&b) * e->data_unit;
                break;
            case 0x14: /* val_offset */
                number = unsigned_leb(&b);
                set(r, number, IS_OFFSET, (int64_t)unsigned_leb(&b) * e->data_unit);
                break;
            case 0x16: /* val_expression */
                number = unsigned_leb(&b);
                set(r, number, IS_EXPRESSION, expression(&b));
                break;
            case 0x2e: /* GNU_args_size */
                unsigned_leb(&b);
                break;
            default:
                return 0;
        }
    }
    return 1;
}

/* --- the caller's registers -------------------------------------------------------------------------------------- */

struct registers {
    uint64_t value[REGISTERS];
};

static int load(struct lp_stack_bounds stack, uint64_t address, uint64_t* value) {
    if (address < stack.low || address > stack.high - 8)
        return 0;
    memcpy(value, (const void*)(uintptr_t)address, 8);
    return 1;
}

/* Those operations that compilers write: of realigned stacks and of procedure linkage tables. */
static int evaluate(int64_t place, const struct registers* r, struct lp_stack_bounds stack, const uint64_t* begin,
                    uint64_t* result) {
    struct bytes b = {(const unsigned char*)(uintptr_t)place, (const unsigned char*)(uintptr_t)place + 10};
    const uint64_t size = unsigned_leb(&b);
    b.end = b.at + size;
    uint64_t operand[OPERANDS + 1] = {0};
    int depth = 0;
    if (begin)
        operand[depth++] = *begin;
    while (b.at < b.end) {
        const unsigned char one = *b.at++;
        if (one >= 0x70 && one <= 0x80) { /* breg0 to breg16 */
            if (depth == OPERANDS)
                return 0;
            operand[depth++] = r->value[one - 0x70] + (uint64_t)signed_leb(&b);
            continue;
        }
        if (one >= 0x30 && one <= 0x4f) { /* lit0 to lit31 */
            if (depth == OPERANDS)
                return 0;
            operand[depth++] = one - 0x30u;
            continue;
        }
        if (one == 0x06) { /* deref */
            if (!depth || !load(stack, operand[depth - 1], &operand[depth - 1]))
                return 0;
            continue;
        }
        if (one == 0x23) { /* plus_uconst */
            if (!depth)
                return 0;
            operand[depth - 1] += unsigned_leb(&b);
            continue;
        }
        if (depth < 2)
            return 0;
        const uint64_t second = operand[--depth];
        uint64_t* const to = &operand[depth - 1];
        switch (one) {
            case 0x1a:
                *to &= second;
                break;
            case 0x1c:
                *to -= second;
                break;
            case 0x22:
                *to += second;
                break;
            case 0x24:
                *to = second < 64 ? *to << second : 0;
                break;
            case 0x2a:
                *to = (int64_t)*to >= (int64_t)second;
                break;
            default:
                return 0;
        }
    }
    if (!depth)
        return 0;
    *result = operand[depth - 1];
    return 1;
}

enum caller { NONE, KNOWN, UNKNOWN };

/* Registers become those of the caller. */
static enum caller step(struct registers* r, struct lp_stack_bounds stack, int* exact) {
    struct entry e = {0};
    const uintptr_t address = (uintptr_t)r->value[RIP] - (*exact ? 0 : 1); /* a call may be its function's last word */
    if (!find_entry(&e, address))
        return UNKNOWN;
    struct rules rules = {0}, first;
    if (!execute(&rules, &e, e.common, UINTPTR_MAX, NULL))
        return UNKNOWN;
    first = rules;
    if (!execute(&rules, &e, e.own, address, &first))
        return UNKNOWN;
    if (rules.of[RIP].kind == UNDEFINED) /* as the thread's first function says */
        return NONE;
    uint64_t cfa = 0;
    if (rules.cfa.kind == IS_EXPRESSION) {
        if (!evaluate(rules.cfa.value, r, stack, NULL, &cfa))
            return UNKNOWN;
    } else if (rules.cfa.base < RIP) {
        cfa = r->value[rules.cfa.base] + (uint64_t)rules.cfa.value;
    }
    if (cfa <= r->value[RSP] || cfa > stack.high) /* stacks grow downward: each caller is above */
        return UNKNOWN;
    const struct registers before = *r;
    for (int i = 0; i < REGISTERS; i++) {
        const struct rule* rule = &rules.of[i];
        uint64_t place;
        switch (rule->kind) {
            case AT_OFFSET:
                if (!load(stack, cfa + (uint64_t)rule->value, &r->value[i]))
                    return UNKNOWN;
                break;
            case IS_OFFSET:
                r->value[i] = cfa + (uint64_t)rule->value;
                break;
            case IN_REGISTER:
                if (rule->value < 0 || rule->value >= REGISTERS)
                    return UNKNOWN;
                r->value[i] = before.value[rule->value];
                break;
            case AT_EXPRESSION:
                if (!evaluate(rule->value, &before, stack, &cfa, &place) || !load(stack, place, &r->value[i]))
                    return UNKNOWN;
                break;
            case IS_EXPRESSION:
                if (!evaluate(rule->value, &before, stack, &cfa, &r->value[i]))
                    return UNKNOWN;
                break;
            default:
                break;
        }
    }
    if (rules.of[RIP].kind == SAME) /* nothing says where the return address is */
        return UNKNOWN;
    if (rules.of[RSP].kind == SAME)
        r->value[RSP] = cfa;
    *exact = e.signal;
    return r->value[RIP] ? KNOWN : NONE;
}

int lp_frames(const void* context, struct lp_stack_bounds stack, uint64_t* address, int room, int* cut) {
    static const int place[REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                                         REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    const ucontext_t* interrupted = context;
    struct registers r;
    for (int i = 0; i < REGISTERS; i++)
        r.value[i] = (uint64_t)interrupted->uc_mcontext.gregs[place[i]];
    *cut = 1;
    if (r.value[RSP] < stack.low || r.value[RSP] >= stack.high)
        return 0;
    stack.low = (uintptr_t)r.value[RSP]; /* what is below may not be mapped */
    int count = 0, exact = 1;
    enum caller caller;
    while ((caller = step(&r, stack, &exact)) == KNOWN && count < room)
        address[count++] = r.value[RIP];
    *cut = caller != NONE;
    return count;
}

#else

int lp_frames_prepare(void) {
    return 0;
}

int lp_frames(const void* context, struct lp_stack_bounds stack, uint64_t* address, int room, int* cut) {
    (void)context, (void)stack, (void)address, (void)room;
    *cut = 1;
    return 0;
}

#endif
