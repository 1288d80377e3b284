/* One rank: a put and a put with a request of 2049 MiB each, to itself; a type names the same MiB of the origin again
 * and again, which MPI allows of a target not. And more windows, one after the other, than a library has room for at
 * once, with an access in each hundredth. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char** argv) {
    static char mebibyte[1 << 20];
    const int made = argc > 1 ? atoi(argv[1]) : 0;
    const size_t bytes = 2049ull << 20;
    MPI_Datatype mib, same, each;
    MPI_Request request;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    char* far = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (far == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_contiguous(1 << 20, MPI_BYTE, &mib);
    MPI_Type_create_hvector(2049, 1, 0, mib, &same);
    MPI_Type_contiguous(2049, mib, &each);
    MPI_Type_commit(&same);
    MPI_Type_commit(&each);
    MPI_Win_create(far, bytes, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(mebibyte, 1, same, 0, 0, 1, each, win);
    MPI_Win_flush(0, win);
    MPI_Rput(mebibyte, 1, same, 0, 0, 1, each, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
    MPI_Type_free(&each);
    MPI_Type_free(&same);
    MPI_Type_free(&mib);
    for (int i = 0; i < made; i++) {
        MPI_Win_create(mebibyte, 8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
        if (i % 100 == 99) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            MPI_Put(&i, 4, MPI_BYTE, 0, 4, 4, MPI_BYTE, win);
            MPI_Win_unlock(0, win);
        }
        MPI_Win_free(&win);
    }
    MPI_Finalize();
    return 0;
}
