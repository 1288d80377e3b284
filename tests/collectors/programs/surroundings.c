/* What a program may do around MPI. The first argument says which. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int x, y;
static int rank;

static void exchange(int times) {
    for (int i = 0; i < times; i++)
        MPI_Sendrecv(&x, 1, MPI_INT, 1 - rank, 5, &y, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void calls(int times) {
    int size;
    for (int i = 0; i < times; i++)
        MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* A child calls MPI functions that it may not call; nothing of it may reach the parent's log. */
static void forks(void) {
    exchange(10);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int size;
        calls(100);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        exit(size == 2 ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    exchange(10);
}

static void closes_files(void) {
    for (int fd = 3; fd < 4096; fd++) /* as daemons do; the MPI's own descriptors stay */
        if (fcntl(fd, F_GETFD) >= 0) {
            char link[64], path[512];
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t n = readlink(link, path, sizeof path - 1);
            path[n > 0 ? n : 0] = 0;
            if (strstr(path, ".raw"))
                puts("a descriptor of the log is open");
        }
    chdir("/");
    calls(20000);
}

static void files(const char* path) {
    MPI_File f;
    MPI_Status s;
    int data[64] = {0};
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(f, 64 * rank, data, 64, MPI_INT, &s);
    MPI_File_read_at_all(f, 64 * rank, data, 64, MPI_INT, &s);
    MPI_File_close(&f);
}

static void errors(void) {
    int big[4], small[1];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        MPI_Send(big, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
    else
        printf("truncated %d\n", MPI_Recv(small, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    printf("bad rank %d\n", MPI_Send(small, 1, MPI_INT, 77, 1, MPI_COMM_WORLD) != MPI_SUCCESS);
    exchange(1);
}

static void one_sided(void) {
    MPI_Win w;
    int* base;
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    MPI_Win_fence(0, w);
    MPI_Put(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[1], "fork"))
        forks();
    if (!strcmp(argv[1], "files"))
        files(argv[2]);
    if (!strcmp(argv[1], "close"))
        closes_files();
    if (!strcmp(argv[1], "errors"))
        errors();
    if (!strcmp(argv[1], "rma"))
        one_sided();
    if (!strcmp(argv[1], "many"))
        calls(atoi(argv[2]));
    if (!strcmp(argv[1], "small files")) {
        struct rlimit limit = {1 << 20, 1 << 20}; /* growing a file beyond it is a SIGXFSZ, whose default is death */
        setrlimit(RLIMIT_FSIZE, &limit);
        calls(atoi(argv[2]));
    }
    MPI_Finalize();
    if (!strcmp(argv[1], "many")) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("peak %ld\n", usage.ru_maxrss * 1024);
    }
    fprintf(stderr, "rank %d is through\n", rank);
    return 0;
}
