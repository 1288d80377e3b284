#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// What a region does, from its name: MPI in its C spelling (with PMPI_ and the large-count _c forms), Fortran's
/// (mpi_send_, MPI_SEND, mpi_send_f08_, pmpi_…), the C++ bindings' (MPI::Comm::Send), SHMEM's, and those of
/// imported GASNet traces (paradigm UPC).
/// A name that looks like the library's but is none of its functions counts only if the writer's paradigm says so:
/// users call functions `mpi_setup` too.
CallKind region_kind(std::string_view name, std::uint8_t paradigm);

/// Whether a send in a call of that region is ended by a later one: MPI_Isend, MPI_Issend, MPI_Send_init, MPI_Start.
/// `kind` of the region.
bool begins_request(std::string_view name, CallKind kind);

/// Whether a call of that region moves data of a window, a symmetric object or a coarray: MPI_Put, MPI_Fetch_and_op,
/// shmem_int_get. `kind` of the region.
bool moves_one_sided(std::string_view name, CallKind kind);

/// What a call that synchronizes with a group does to its window.
enum class GroupSynchronization : std::uint8_t { none, post, start, complete, wait };

/// By the function's name: MPI_Win_post, MPI_Win_start, MPI_Win_complete, and MPI_Win_wait, which MPI_Win_test is, too,
/// where it has a record.
GroupSynchronization group_synchronization(std::string_view name);

}  // namespace logpost::analyzer
