/* Traffic that is bound by its network: traffic pingpong|halo BYTES ROUNDS.
 * pingpong: rank 0 and rank 1. halo: each rank of a ring exchanges with both neighbours, computes for a tenth of a
 * millisecond, and every tenth round sums a number over all. Prints nothing; fails where the received data are wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pingpong(int rank, char* data, int bytes, int rounds) {
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            data[0]++;
            MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0 && data[0] != (char)rounds) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void halo(int rank, int ranks, char* data, int bytes, int rounds) {
    char *from_left = data + bytes, *from_right = data + 2 * bytes;
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int i = 0; i < rounds; i++) {
        MPI_Request requests[4];
        double one = 1.0, sum = 0.0;
        data[0] = (char)(rank + i);
        MPI_Irecv(from_left, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(from_right, bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(data, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(data, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        if (from_left[0] != (char)(left + i) || from_right[0] != (char)(right + i)) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        const double until = MPI_Wtime() + 1e-4;
        while (MPI_Wtime() < until) {
        }
        if (i % 10 == 0) {
            MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int bytes = atoi(argv[2]), rounds = atoi(argv[3]);
    char* data = calloc(3, (size_t)bytes);
    if (strcmp(argv[1], "halo") == 0) {
        halo(rank, ranks, data, bytes, rounds);
    } else {
        pingpong(rank, data, bytes, rounds);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
