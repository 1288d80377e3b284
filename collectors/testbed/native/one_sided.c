/* One-sided operations: the target's processor takes no part. */
#include "layer.h"

#define ONE_SIDED(name, parameters, arguments) \
    static int layer_##name parameters {       \
        lpt_one_sided(1);                      \
        int rc = PMPI_##name arguments;        \
        lpt_one_sided(0);                      \
        return rc;                             \
    }
ONE_SIDED(Win_fence, (int assertion, MPI_Win win), (assertion, win))
ONE_SIDED(Win_complete, (MPI_Win win), (win))
ONE_SIDED(Win_wait, (MPI_Win win), (win))
ONE_SIDED(Win_unlock, (int rank, MPI_Win win), (rank, win))
ONE_SIDED(Win_unlock_all, (MPI_Win win), (win))
ONE_SIDED(Win_flush, (int rank, MPI_Win win), (rank, win))
ONE_SIDED(Win_flush_all, (MPI_Win win), (win))
ONE_SIDED(Win_flush_local, (int rank, MPI_Win win), (rank, win))
ONE_SIDED(Win_flush_local_all, (MPI_Win win), (win))
ONE_SIDED(Win_free, (MPI_Win * win), (win))

const struct lp_layer_call lp_layer_one_sided[] = {
    LP_LAYER_CALL(Win_fence),
    LP_LAYER_CALL(Win_complete),
    LP_LAYER_CALL(Win_wait),
    LP_LAYER_CALL(Win_unlock),
    LP_LAYER_CALL(Win_unlock_all),
    LP_LAYER_CALL(Win_flush),
    LP_LAYER_CALL(Win_flush_all),
    LP_LAYER_CALL(Win_flush_local),
    LP_LAYER_CALL(Win_flush_local_all),
    LP_LAYER_CALL(Win_free),
    {NULL, NULL},
};
