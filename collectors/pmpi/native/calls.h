/* MPI as the calibration's sources call it (../../calibration/programs), led to the library behind the wrappers: they
 * are compiled with `-include calls.h`. A call that fails ends nothing; it is noted, and its calibration is not used.
 *
 * Constants are looked up once: Open MPI's are objects that have to be found by name, which costs as much as a message.
 */
#ifndef LOGPOST_CALLS_H
#define LOGPOST_CALLS_H

#include "runtime.h"

extern LP_HIDDEN int lp_call_failed;

static inline int lp_try(int rc) {
    if (LP_UNLIKELY(rc != MPI_SUCCESS))
        lp_call_failed = 1;
    return rc;
}

#define MPI_Allgather(...) lp_try(lp_mpi.Allgather(__VA_ARGS__))
#define MPI_Allreduce(...) lp_try(lp_mpi.Allreduce(__VA_ARGS__))
#define MPI_Barrier(...) lp_try(lp_mpi.Barrier(__VA_ARGS__))
#define MPI_Bcast(...) lp_try(lp_mpi.Bcast(__VA_ARGS__))
#define MPI_Comm_create_group(...) lp_try(lp_mpi.Comm_create_group(__VA_ARGS__))
#define MPI_Comm_dup(...) lp_try(lp_mpi.Comm_dup(__VA_ARGS__))
#define MPI_Comm_free(...) lp_try(lp_mpi.Comm_free(__VA_ARGS__))
#define MPI_Comm_group(...) lp_try(lp_mpi.Comm_group(__VA_ARGS__))
#define MPI_Comm_rank(...) lp_try(lp_mpi.Comm_rank(__VA_ARGS__))
#define MPI_Comm_set_errhandler(...) lp_try(lp_mpi.Comm_set_errhandler(__VA_ARGS__))
#define MPI_Comm_size(...) lp_try(lp_mpi.Comm_size(__VA_ARGS__))
#define MPI_Gather(...) lp_try(lp_mpi.Gather(__VA_ARGS__))
#define MPI_Get(...) lp_try(lp_mpi.Get(__VA_ARGS__))
#define MPI_Get_library_version(...) lp_try(lp_mpi.Get_library_version(__VA_ARGS__))
#define MPI_Group_free(...) lp_try(lp_mpi.Group_free(__VA_ARGS__))
#define MPI_Group_incl(...) lp_try(lp_mpi.Group_incl(__VA_ARGS__))
#define MPI_Iprobe(...) lp_try(lp_mpi.Iprobe(__VA_ARGS__))
#define MPI_Irecv(...) lp_try(lp_mpi.Irecv(__VA_ARGS__))
#define MPI_Isend(...) lp_try(lp_mpi.Isend(__VA_ARGS__))
#define MPI_Put(...) lp_try(lp_mpi.Put(__VA_ARGS__))
#define MPI_Recv(...) lp_try(lp_mpi.Recv(__VA_ARGS__))
#define MPI_Reduce_local(...) lp_try(lp_mpi.Reduce_local(__VA_ARGS__))
#define MPI_Send(...) lp_try(lp_mpi.Send(__VA_ARGS__))
#define MPI_Test(...) lp_try(lp_mpi.Test(__VA_ARGS__))
#define MPI_Type_commit(...) lp_try(lp_mpi.Type_commit(__VA_ARGS__))
#define MPI_Type_contiguous(...) lp_try(lp_mpi.Type_contiguous(__VA_ARGS__))
#define MPI_Type_free(...) lp_try(lp_mpi.Type_free(__VA_ARGS__))
#define MPI_Type_vector(...) lp_try(lp_mpi.Type_vector(__VA_ARGS__))
#define MPI_Wait(...) lp_try(lp_mpi.Wait(__VA_ARGS__))
#define MPI_Waitall(...) lp_try(lp_mpi.Waitall(__VA_ARGS__))
#define MPI_Win_allocate(...) lp_try(lp_mpi.Win_allocate(__VA_ARGS__))
#define MPI_Win_create(...) lp_try(lp_mpi.Win_create(__VA_ARGS__))
#define MPI_Win_flush(...) lp_try(lp_mpi.Win_flush(__VA_ARGS__))
#define MPI_Win_free(...) lp_try(lp_mpi.Win_free(__VA_ARGS__))
#define MPI_Win_lock(...) lp_try(lp_mpi.Win_lock(__VA_ARGS__))
#define MPI_Win_set_errhandler(...) lp_try(lp_mpi.Win_set_errhandler(__VA_ARGS__))
#define MPI_Win_unlock(...) lp_try(lp_mpi.Win_unlock(__VA_ARGS__))
#define MPI_Wtick() lp_mpi.Wtick()
#define MPI_Wtime() lp_mpi.Wtime()

#undef MPI_BYTE
#undef MPI_COMM_NULL
#undef MPI_DOUBLE
#undef MPI_INFO_NULL
#undef MPI_INT
#undef MPI_REQUEST_NULL
#undef MPI_SUM
#define MPI_BYTE lp_k.byte
#define MPI_COMM_NULL lp_k.comm_null
#define MPI_DOUBLE lp_k.real
#define MPI_INFO_NULL lp_k.info_null
#define MPI_INT lp_k.integer
#define MPI_REQUEST_NULL lp_k.request_null
#define MPI_SUM lp_k.sum

#endif
