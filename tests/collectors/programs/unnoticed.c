/* What a program can see of a library that measured within MPI_Init. Two runs that print the same saw the same.
 * The first argument: the level of threads to ask for (0: MPI_Init). */
#define _GNU_SOURCE /* for sched_getaffinity */
#include <dirent.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static int entries(const char* path) {
    int n = 0;
    DIR* directory = opendir(path);
    while (directory && readdir(directory))
        n++;
    if (directory)
        closedir(directory);
    return n;
}

static const char* handler_of(MPI_Comm comm) {
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(comm, &handler);
    const char* name = handler == MPI_ERRORS_ARE_FATAL ? "fatal" : handler == MPI_ERRORS_RETURN ? "return" : "another";
    MPI_Errhandler_free(&handler);
    return name;
}

static void show_attribute(const char* name, int key) {
    int *value, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    printf("%d: %s %d %d\n", rank, name, found, found ? *value : 0);
}

static int pending(MPI_Comm comm) {
    int here = 0;
    for (int i = 0; i < 200 && !here; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &here, MPI_STATUS_IGNORE);
    return here;
}

/* Handles and contexts that were given back are reused: as numbers, and without anybody's messages. */
static void show_communicators(void) {
    enum { MANY = 40 };
    MPI_Comm made[MANY], half;
    int strays = pending(MPI_COMM_WORLD) + pending(MPI_COMM_SELF);
    for (int i = 0; i < MANY; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
        strays += pending(made[i]);
        printf("%d: dup %d handle %d, %s\n", rank, i, (int)MPI_Comm_c2f(made[i]), handler_of(made[i]));
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    strays += pending(half);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) {
        int got = -1, sent = 1000 * rank + i;
        MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, made[i],
                     MPI_STATUS_IGNORE);
        strays += got != 1000 * ((rank + size - 1) % size) + i;
        MPI_Comm_free(&made[i]);
    }
    MPI_Comm_free(&half);
    printf("%d: strays %d\n", rank, strays);
}

static int no_copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
}

static void show_handles(void) {
    int key;
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Comm_create_keyval(no_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Type_contiguous(3, MPI_INT, &type);
    printf("%d: keyval %d group %d type %d\n", rank, key, (int)MPI_Group_c2f(group), (int)MPI_Type_c2f(type));
    MPI_Group_free(&group);
    MPI_Type_free(&type);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    printf("%d: named %s\n", rank, name);
}

int main(int argc, char** argv) {
    int wanted = argc > 1 ? atoi(argv[1]) : 0, provided = 0;
    if (wanted)
        MPI_Init_thread(&argc, &argv, wanted, &provided);
    else
        MPI_Init(&argc, &argv);
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%d: threads %d, %d of the process, files %d, processors %d, random %d\n", rank, provided,
           entries("/proc/self/task"), entries("/proc/self/fd"), CPU_COUNT(&set), rand());
    printf("%d: handlers %s %s\n", rank, handler_of(MPI_COMM_WORLD), handler_of(MPI_COMM_SELF));
    show_attribute("tag_ub", MPI_TAG_UB);
    show_attribute("host", MPI_HOST);
    show_attribute("io", MPI_IO);
    show_attribute("wtime_is_global", MPI_WTIME_IS_GLOBAL);
    show_attribute("universe", MPI_UNIVERSE_SIZE);
    show_attribute("appnum", MPI_APPNUM);
    show_attribute("lastusedcode", MPI_LASTUSEDCODE);
    show_handles();
    show_communicators();
    MPI_Finalize();
    return 0;
}
