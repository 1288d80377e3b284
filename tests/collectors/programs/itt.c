/* Tasks of ITT, whose static library looks for a tool that listens: nested, and one that began before MPI_Init. */
#include <ittnotify.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    __itt_domain* domain = __itt_domain_create("solver");
    __itt_string_handle* early = __itt_string_handle_create("before the library");
    __itt_task_begin(domain, __itt_null, __itt_null, early);
    MPI_Init(&argc, &argv);
    __itt_string_handle* step = __itt_string_handle_create("step");
    __itt_string_handle* inner = __itt_string_handle_create("inner");
    for (int i = 0; i < 2; i++) {
        __itt_task_begin(domain, __itt_null, __itt_null, step);
        MPI_Barrier(MPI_COMM_WORLD);
        __itt_task_begin(domain, __itt_null, __itt_null, inner);
        __itt_task_end(domain);
        __itt_task_end(domain);
    }
    __itt_task_end(domain);
    MPI_Finalize();
    puts("done");
    return 0;
}
