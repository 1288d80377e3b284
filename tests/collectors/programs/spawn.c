/* Two ranks spawn two children, which are this program with an argument; messages both ways, then a merge. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, x = 1, y;
    MPI_Comm parent, inter, merged;
    char* args[] = {"child", 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
        MPI_Send(&x, 1, MPI_INT, rank, 10, inter);
        MPI_Recv(&y, 1, MPI_INT, rank, 11, inter, MPI_STATUS_IGNORE);
    } else {
        inter = parent;
        MPI_Recv(&y, 1, MPI_INT, rank, 10, inter, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, rank, 11, inter);
    }
    MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &merged);
    MPI_Comm_set_name(merged, "together");
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}
