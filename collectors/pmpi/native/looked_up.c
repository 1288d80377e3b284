/* Programs that open MPI by dlopen and look its functions up by dlsym (ctypes, MPI.jl): they get the wrappers.
 *
 * Only lookups of names that begin with MPI are looked at, and only those that find a function of the MPI library that
 * a wrapper calls. All others jump to the C library's dlsym with the caller's return address in place: what
 * RTLD_NEXT and RTLD_DEFAULT mean depends on it. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "library.h"

#if defined(__x86_64__) && defined(__GLIBC__)

LP_HIDDEN void* (*lp_real_dlsym)(void*, const char*);
LP_HIDDEN void* lp_looked_up(void* handle, const char* name);

/* dlsym(handle, name): what lp_looked_up returns, else on to the real one. The C library has it by two versions. */
__asm__(
    ".text\n"
    ".globl lp_dlsym, lp_dlsym_old\n"
    ".type lp_dlsym,@function\n"
    ".type lp_dlsym_old,@function\n"
    "lp_dlsym:\n"
    "lp_dlsym_old:\n"
    ".cfi_startproc\n"
    "  endbr64\n"
    "  pushq %rdi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rsi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  subq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call lp_looked_up\n"
    "  addq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rsi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rdi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  testq %rax, %rax\n"
    "  jne 1f\n"
    "  jmp *lp_real_dlsym(%rip)\n"
    "1: ret\n"
    ".cfi_endproc\n"
    ".size lp_dlsym, . - lp_dlsym\n"
    ".size lp_dlsym_old, . - lp_dlsym_old\n"
    ".symver lp_dlsym,dlsym@GLIBC_2.34\n"
    ".symver lp_dlsym_old,dlsym@GLIBC_2.2.5\n");

static char path[1024]; /* of the first library whose functions the program looked up, while it is loaded */
static int known;
static char changing;

static void find_real(void) {
    if (lp_real_dlsym)
        return;
    void* real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!real)
        real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    lp_real_dlsym = (void* (*)(void*, const char*))(uintptr_t)real;
}

void* lp_symbol(void* handle, const char* name) {
    find_real();
    return lp_real_dlsym(handle, name);
}

static int is_mpi(const char* name) {
    return !strncmp(name + (*name == 'P'), "MPI", 3);
}

/* What a library that is loaded later finds in this one: the wrappers of functions that the program's MPI has. A module
 * for several versions of MPI refers weakly to what only some of them have, and uses whatever it finds. */
static void show_wrappers_of(const struct lp_library* library) {
    static ElfW(Addr) * values; /* of the symbols, as they were linked */
    struct link_map* map = NULL;
    Dl_info self;
    ElfW(Sym)* symbols = NULL;
    const char* names = NULL;
    const ElfW(Word)* hash = NULL;
    if (!dladdr1((void*)(uintptr_t)show_wrappers_of, &self, (void**)&map, RTLD_DL_LINKMAP) || !map)
        return;
    for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols = (ElfW(Sym)*)d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB)
            names = (const char*)d->d_un.d_ptr;
        if (d->d_tag == DT_HASH)
            hash = (const ElfW(Word)*)d->d_un.d_ptr;
    }
    if (!symbols || !names || !hash)
        return;
    const size_t count = hash[1]; /* chains of the table: one per symbol */
    const ElfW(Ehdr)* file = self.dli_fbase;
    const ElfW(Phdr)* part = (const ElfW(Phdr)*)((const char*)file + file->e_phoff);
    const ElfW(Phdr)* const last = part + file->e_phnum;
    const uintptr_t at = (uintptr_t)symbols, to = (uintptr_t)(symbols + count);
    while (part < last && !(part->p_type == PT_LOAD && at >= map->l_addr + part->p_vaddr &&
                            to <= map->l_addr + part->p_vaddr + part->p_memsz))
        part++;
    if (part == last)
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = at & ~(page - 1);
    const int rights = PROT_READ | (part->p_flags & PF_W ? PROT_WRITE : 0) | (part->p_flags & PF_X ? PROT_EXEC : 0);
    if (!values && (values = malloc(count * sizeof *values)) != NULL)
        for (size_t i = 0; i < count; i++)
            values[i] = symbols[i].st_value;
    if (values && !mprotect((void*)from, to - from, rights | PROT_WRITE)) {
        for (size_t i = 0; i < count; i++) {
            const char* name = names + symbols[i].st_name;
            if (is_mpi(name)) {
                const int has = library->abi == LP_OWN_ABI && lp_symbol(library->handle, name);
                __atomic_store_n(&symbols[i].st_value, has ? values[i] : 0, __ATOMIC_RELEASE);
            }
        }
        mprotect((void*)from, to - from, rights);
    }
}

struct lp_library lp_looked_up_library(void) {
    return __atomic_load_n(&known, __ATOMIC_ACQUIRE) ? lp_owner_in(path) : lp_owner(NULL);
}

static void* wrapper_of(const void* theirs, const char* name) {
    struct lp_library library = lp_owner(theirs), ours = lp_decided();
    if (!library.handle)
        return NULL;
    if (!ours.handle)
        ours = lp_looked_up_library();
    if (!ours.handle && !__atomic_test_and_set(&changing, __ATOMIC_ACQUIRE)) {
        strcpy(path, library.path);
        __atomic_store_n(&known, 1, __ATOMIC_RELEASE);
        show_wrappers_of(&library);
        ours = library;
        __atomic_clear(&changing, __ATOMIC_RELEASE);
    }
    return library.base == ours.base && library.abi == LP_OWN_ABI ? dlvsym(RTLD_DEFAULT, name, "LOGPOST_1") : NULL;
}

void* lp_looked_up(void* handle, const char* name) {
    find_real();
    if (!name || !is_mpi(name) || handle == RTLD_NEXT || !getenv("LOGPOST_RAW_DIR"))
        return NULL;
    const void* theirs = lp_real_dlsym(handle, name);
    void* wrapper = theirs ? wrapper_of(theirs, name) : NULL;
    if (wrapper)
        dlerror(); /* forgets what was looked for here and not found */
    return wrapper;
}

#else

void* lp_symbol(void* handle, const char* name) {
    return dlsym(handle, name);
}

struct lp_library lp_looked_up_library(void) {
    return lp_owner(NULL);
}

#endif
