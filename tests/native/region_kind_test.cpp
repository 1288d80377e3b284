#include "analyzer/archive/native/definitions/region_kind.hpp"

#include <gtest/gtest.h>
#include <otf2/otf2.h>

namespace logpost::analyzer {
namespace {

CallKind of(std::string_view name, std::uint8_t paradigm = OTF2_PARADIGM_MPI) {
    return region_kind(name, paradigm);
}

TEST(CallKind, KnowsEverySpellingOfSend) {
    for (const auto* name :
         {"MPI_Send", "PMPI_Send", "MPI_Send_c", "mpi_send", "mpi_send_", "mpi_send__", "MPI_SEND", "pmpi_send_",
          "mpi_send_f08_", "mpi_send_f08ts_", "mpi_send_c_f08_", "MPI_Send()", "MPI::Comm::Send",
          "MPI::Comm::Send(void const*, int, MPI::Datatype const&, int, int) const", "MPI::COMM_WORLD.Send",
          "MPI_Rsend"}) {
        EXPECT_EQ(of(name), CallKind::send) << name;
    }
}

TEST(CallKind, DerivesTheKindFromTheNameNotFromTheParadigm) {
    EXPECT_EQ(of("MPI_Irecv", OTF2_PARADIGM_USER), CallKind::receive_nonblocking);
    EXPECT_EQ(of("mpi_waitall_", OTF2_PARADIGM_COMPILER), CallKind::wait_multi);
    EXPECT_EQ(of("main", OTF2_PARADIGM_USER), CallKind::user);
    // Users name functions like this; only the writer's word makes it the library's.
    EXPECT_EQ(of("mpi_setup", OTF2_PARADIGM_USER), CallKind::user);
    EXPECT_EQ(of("MPI_Something_new", OTF2_PARADIGM_MPI), CallKind::other);
    EXPECT_EQ(of("shmem_helper", OTF2_PARADIGM_USER), CallKind::user);
    EXPECT_EQ(of("!$omp parallel @main.c:3", OTF2_PARADIGM_OPENMP), CallKind::user);
}

TEST(CallKind, TellsModesApart) {
    EXPECT_EQ(of("MPI_Ssend"), CallKind::send_synchronous);
    EXPECT_EQ(of("MPI_Issend"), CallKind::send_synchronous);
    EXPECT_EQ(of("MPI_Bsend"), CallKind::send_buffered);
    EXPECT_EQ(of("MPI_Ibsend_c"), CallKind::send_buffered);
    EXPECT_EQ(of("MPI_Isend"), CallKind::send_nonblocking);
    EXPECT_EQ(of("MPI_Send_init"), CallKind::send_nonblocking);
    EXPECT_EQ(of("MPI_Recv"), CallKind::receive);
    EXPECT_EQ(of("MPI_Mrecv"), CallKind::receive);
    EXPECT_EQ(of("MPI_Imrecv"), CallKind::receive_nonblocking);
    EXPECT_EQ(of("MPI_Sendrecv_replace"), CallKind::send_receive);
    EXPECT_EQ(of("MPI_Startall"), CallKind::start);
    EXPECT_EQ(of("MPI_Wait"), CallKind::wait);
    EXPECT_EQ(of("MPI_Waitsome"), CallKind::wait_multi);
    EXPECT_EQ(of("MPI_Testany"), CallKind::test);
    EXPECT_EQ(of("MPI_Improbe"), CallKind::probe);
}

TEST(CallKind, KnowsCollectivesBlockingAndNot) {
    EXPECT_EQ(of("MPI_Barrier"), CallKind::barrier);
    EXPECT_EQ(of("MPI_Ibarrier"), CallKind::collective_nonblocking);
    EXPECT_EQ(of("MPI_Allreduce_c"), CallKind::collective);
    EXPECT_EQ(of("MPI_Iallreduce"), CallKind::collective_nonblocking);
    EXPECT_EQ(of("MPI_Reduce_scatter_block"), CallKind::collective);
    EXPECT_EQ(of("MPI_Ineighbor_alltoallw"), CallKind::collective_nonblocking);
    EXPECT_EQ(of("MPI_Reduce_local"), CallKind::other);
    EXPECT_EQ(of("MPI_Bcast_init"), CallKind::other);
}

TEST(CallKind, KnowsTheRest) {
    EXPECT_EQ(of("MPI_Put"), CallKind::one_sided);
    EXPECT_EQ(of("MPI_Win_fence"), CallKind::one_sided);
    EXPECT_EQ(of("MPI::Win::Put"), CallKind::one_sided);
    EXPECT_EQ(of("MPI_Get_count"), CallKind::other);
    EXPECT_EQ(of("MPI_Init_thread"), CallKind::initialize);
    EXPECT_EQ(of("MPI_Finalize"), CallKind::finalize);
    EXPECT_EQ(of("MPI_File_write_at_all"), CallKind::io);
    EXPECT_EQ(of("MPI::File::Read"), CallKind::io);
    EXPECT_EQ(of("MPI_Comm_dup"), CallKind::other);
    EXPECT_EQ(of("mpi_type_vector_", OTF2_PARADIGM_COMPILER), CallKind::other);
}

TEST(CallKind, KnowsShmem) {
    EXPECT_EQ(of("shmem_putmem", OTF2_PARADIGM_SHMEM), CallKind::one_sided);
    EXPECT_EQ(of("pshmem_double_get", OTF2_PARADIGM_USER), CallKind::one_sided);
    EXPECT_EQ(of("shmem_barrier_all", OTF2_PARADIGM_SHMEM), CallKind::barrier);
    EXPECT_EQ(of("shmem_double_sum_to_all", OTF2_PARADIGM_SHMEM), CallKind::collective);
    EXPECT_EQ(of("start_pes", OTF2_PARADIGM_SHMEM), CallKind::initialize);
    EXPECT_EQ(of("shmem_my_pe", OTF2_PARADIGM_SHMEM), CallKind::other);
}

TEST(CallKind, KnowsCoarrays) {
    EXPECT_EQ(of("_gfortran_caf_send"), CallKind::one_sided);
    EXPECT_EQ(of("_gfortran_caf_sync_images"), CallKind::one_sided);
    EXPECT_EQ(of("_gfortran_caf_sync_all"), CallKind::barrier);
    EXPECT_EQ(of("_gfortran_caf_co_sum"), CallKind::collective);
    EXPECT_EQ(of("_gfortran_caf_register"), CallKind::other);
}

TEST(CallKind, KnowsWhatIsImportedFromGasnet) {
    const auto gasnet = [](std::string_view name) { return of(name, OTF2_PARADIGM_UPC); };
    EXPECT_EQ(gasnet("gasnet_put_nb"), CallKind::one_sided);
    EXPECT_EQ(gasnet("gasnet_amrequest_medium"), CallKind::send);
    EXPECT_EQ(gasnet("gasnet_amreply_short_handler"), CallKind::receive);
    EXPECT_EQ(gasnet("gasnet_barrier"), CallKind::barrier);
    EXPECT_EQ(gasnet("gasnet_coll_barrier_nb"), CallKind::collective_nonblocking);
    EXPECT_EQ(gasnet("gasnet_barrier_async_completion"), CallKind::test);
    EXPECT_EQ(gasnet("gasnet_wait_syncnb"), CallKind::wait);
    EXPECT_EQ(gasnet("gasnet_wait_syncnb_all"), CallKind::wait_multi);
    EXPECT_EQ(gasnet("gasnet_coll_gather_all"), CallKind::other);
    EXPECT_EQ(of("gasnet_put_nb", OTF2_PARADIGM_USER), CallKind::user);  // a user's own function
}

TEST(CallKind, WhatSynchronizesWithAGroupIsToldByItsName) {
    EXPECT_EQ(group_synchronization("MPI_Win_post"), GroupSynchronization::post);
    EXPECT_EQ(group_synchronization("mpi_win_start_"), GroupSynchronization::start);
    EXPECT_EQ(group_synchronization("MPI::Win::Complete"), GroupSynchronization::complete);
    EXPECT_EQ(group_synchronization("MPI_Win_test"), GroupSynchronization::wait);
    EXPECT_EQ(group_synchronization("MPI_Win_fence"), GroupSynchronization::none);
}

}  // namespace
}  // namespace logpost::analyzer
