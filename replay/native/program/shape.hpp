#pragma once

#include "replay/native/program/program.hpp"

namespace logpost::replay {

/// Which members a collective operation's members wait for.
enum class Shape : std::uint8_t {
    all_to_all,
    one_to_all,
    all_to_one,
    prefix,
    agreement,  ///< creation or release of a handle, operation on a file: each for all, if all are in it concurrently
    none
};

inline Shape shape(Operation operation) noexcept {
    switch (operation) {
        case Operation::barrier:
        case Operation::fence:
        case Operation::allgather:
        case Operation::allgatherv:
        case Operation::alltoall:
        case Operation::alltoallv:
        case Operation::alltoallw:
        case Operation::allreduce:
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block:
            return Shape::all_to_all;
        case Operation::bcast:
        case Operation::scatter:
        case Operation::scatterv:
            return Shape::one_to_all;
        case Operation::reduce:
        case Operation::gather:
        case Operation::gatherv:
            return Shape::all_to_one;
        case Operation::scan:
        case Operation::exscan:
            return Shape::prefix;
        case Operation::create_handle:
        case Operation::destroy_handle:
        case Operation::allocate:
        case Operation::deallocate:
        case Operation::create_and_allocate:
        case Operation::destroy_and_deallocate:
            return Shape::agreement;
        default:
            return Shape::none;
    }
}

/// Whether one member gives all, or gets all: the root.
constexpr bool has_root(Shape kind) noexcept {
    return kind == Shape::one_to_all || kind == Shape::all_to_one;
}

/// Whether each member waits for each other one.
constexpr bool synchronizes_all(Shape kind) noexcept {
    return kind == Shape::all_to_all || kind == Shape::agreement;
}

/// Whether an operation synchronizes although its members exchange no bytes.
constexpr bool is_synchronization(Operation operation) noexcept {
    return operation == Operation::barrier || operation == Operation::fence;
}
/// Whether a member takes from the others something that it must wait for. Libraries return at once from counts of 0.
inline bool gets_something(const Collective& one) noexcept {
    return is_synchronization(one.operation) || one.bytes_received > 0;
}
/// Whether a member has something for the others to wait for.
inline bool gives_something(const Collective& one) noexcept {
    return is_synchronization(one.operation) || one.bytes_sent > 0;
}

/// Whether members may exchange something with some of the others only: what they give and get in all does not show
/// with which.
constexpr bool may_skip_members(Operation operation) noexcept {
    return operation == Operation::alltoallv || operation == Operation::alltoallw;
}

/// Whether an operation has no use for a member: of an inter-communicator, the root's own group looks on.
inline bool looks_on(const Program& program, Operation operation, std::int32_t comm, Rank root, Rank member) noexcept {
    return has_root(shape(operation)) && program.has_groups(comm) && member != root &&
           program.group_of(comm, member) == program.group_of(comm, root);
}

}  // namespace logpost::replay
