#include <mpi.h>

#include <vector>

namespace field {
template <class T, int N>
struct Field {
    std::vector<T> data;
    __attribute__((noinline)) void exchange(const std::vector<T>& from) {
        double in = from.empty() ? N : 1, out = 0;
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* at reduce */
        data.push_back(static_cast<T>(out));
    }
};
}  // namespace field

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    field::Field<double, 3> f;
    f.exchange({}); /* at exchange */
    MPI_Finalize();
    return f.data.empty();
}
