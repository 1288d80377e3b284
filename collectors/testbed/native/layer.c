/* What the collector's wrappers call: the layer's functions where it has one, else SMPI's own. */
#include <dlfcn.h>
#include <string.h>

#include "layer.h"

static int layer_Init(int* argc, char*** argv) {
    lpt_open();
    return PMPI_Init(argc, argv);
}

static int layer_Init_thread(int* argc, char*** argv, int required, int* provided) {
    lpt_open();
    return PMPI_Init_thread(argc, argv, required, provided);
}

static const struct lp_layer_call begin[] = {
    LP_LAYER_CALL(Init),
    LP_LAYER_CALL(Init_thread),
    {NULL, NULL},
};

struct lp_api lp_mpi;
struct lp_constants lp_k;

void* lp_find(const char* name) {
    return dlsym(RTLD_DEFAULT, name);
}

void* lp_find_object(const char* name) {
    return dlsym(RTLD_DEFAULT, name);
}

static int missing(void) {
    return MPI_ERR_OTHER;
}

void* lp_real(const char* pmpi_name, const void* caller) {
    (void)caller;
    static const struct lp_layer_call* const parts[] = {begin, lp_layer_receives, lp_layer_sends, lp_layer_completions,
                                                        lp_layer_one_sided};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const struct lp_layer_call* call = parts[i]; call->name; call++)
            if (!strcmp(call->name, pmpi_name))
                return call->function;
    void* symbol = lp_find(pmpi_name);
    return symbol ? symbol : (void*)missing;
}

int lp_library_fits(const void* caller) {
    (void)caller;
#define X(name) lp_mpi.name = (__typeof__(lp_mpi.name))lp_find("PMPI_" #name);
    LP_API(X)
#undef X
    lp_mpi.Comm_get_parent = NULL; /* SMPI ends the program in functions that it does not have */
    lp_k = (struct lp_constants){MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL, MPI_REQUEST_NULL, MPI_DATATYPE_NULL,
                                 MPI_UINT64_T,   MPI_BYTE,      MPI_MAX,       MPI_GROUP_NULL,   MPI_NO_OP};
    return 1;
}
