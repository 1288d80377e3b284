/* Ranges of NVTX 3, whose headers look for a tool that listens: nested, of a domain, with a message that is registered,
 * by attributes, and an instant. */
#include <mpi.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static nvtxEventAttributes_t named(const char* text) {
    nvtxEventAttributes_t a = {0};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = text;
    return a;
}

int main(int argc, char** argv) {
    nvtxRangePushA("before the library");
    nvtxRangePop();
    MPI_Init(&argc, &argv);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
    nvtxEventAttributes_t registered = named("");
    registered.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    registered.message.registered = nvtxDomainRegisterStringA(domain, "inner");
    const nvtxEventAttributes_t step = named("step");
    nvtxRangePushA("solve");
    for (int i = 0; i < 2; i++) {
        nvtxRangePushEx(&step);
        MPI_Barrier(MPI_COMM_WORLD);
        nvtxDomainRangePushEx(domain, &registered);
        nvtxMarkA("half way");
        nvtxDomainRangePop(domain);
        nvtxRangePop();
    }
    nvtxRangePop();
    nvtxDomainDestroy(domain);
    MPI_Finalize();
    puts("done");
    return 0;
}
