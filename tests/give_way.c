// Preloaded into the ranks of a test: a rank that waits in UCX gives the core to another.
//
// UCX polls without end, and a turn of the scheduler passes until the rank that it waits for runs: 4 ranks on 2 cores
// need tens of seconds for what is done in one. Open MPI has a switch for this (mpi_yield_when_idle), MPICH has none.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker);

static unsigned (*progress)(void*);

unsigned ucp_worker_progress(void* worker) {
    if (!progress) {
        // Not RTLD_NEXT: an interpreter loads its MPI, and UCX with it, out of sight of what is preloaded.
        void* ucx = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        progress = (unsigned (*)(void*))dlsym(ucx, "ucp_worker_progress");
    }
    const unsigned done = progress(worker);
    if (!done) {
        sched_yield();
    }
    return done;
}
