/// SimGrid SMPI's default selector, smpi/coll-selector "default": simgrid/simgrid@0ed0027626af,
/// src/smpi/colls/smpi_default_selector.cpp, whose linear algorithms are those of src/smpi/colls/smpi_nbc_impl.cpp.

#include "replay/native/collectives/selector.hpp"

namespace logpost::replay {

std::optional<Algorithm> selected_by_simgrid(const Pattern& pattern) noexcept {
    switch (pattern.operation) {
        case Operation::bcast:  // bcast__binomial_tree
            return Algorithm::binomial;
        case Operation::allreduce:  // reduce__default, bcast__default
            return Algorithm::linear_then_tree;
        case Operation::barrier:  // barrier__ompi_basic_linear
        case Operation::reduce:
        case Operation::gather:
        case Operation::gatherv:
        case Operation::scatter:
        case Operation::scatterv:
        case Operation::alltoallv:
        case Operation::alltoallw:
            return Algorithm::linear;
        case Operation::alltoall:  // alltoall__ompi: the rules of Open MPI
            return selected_by_openmpi(pattern);
        default:  // all to all at once, or a reduction and a scatter: no algorithm of ours
            return std::nullopt;
    }
}

}  // namespace logpost::replay
