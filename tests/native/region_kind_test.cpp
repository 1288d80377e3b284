#include "region_kind.hpp"

#include <gtest/gtest.h>
#include <otf2/otf2.h>

namespace logpost::analyzer {
namespace {

RegionKind of(std::string_view name, std::uint8_t paradigm = OTF2_PARADIGM_MPI) {
    return region_kind(name, paradigm);
}

TEST(RegionKind, KnowsEverySpellingOfSend) {
    for (const auto* name :
         {"MPI_Send", "PMPI_Send", "MPI_Send_c", "mpi_send", "mpi_send_", "mpi_send__", "MPI_SEND", "pmpi_send_",
          "mpi_send_f08_", "mpi_send_f08ts_", "mpi_send_c_f08_", "MPI_Send()", "MPI::Comm::Send",
          "MPI::Comm::Send(void const*, int, MPI::Datatype const&, int, int) const", "MPI::COMM_WORLD.Send",
          "MPI_Rsend"}) {
        EXPECT_EQ(of(name), RegionKind::send) << name;
    }
}

TEST(RegionKind, DerivesTheKindFromTheNameNotFromTheParadigm) {
    EXPECT_EQ(of("MPI_Irecv", OTF2_PARADIGM_USER), RegionKind::receive_nonblocking);
    EXPECT_EQ(of("mpi_waitall_", OTF2_PARADIGM_COMPILER), RegionKind::wait_multi);
    EXPECT_EQ(of("main", OTF2_PARADIGM_USER), RegionKind::user);
    // Users name functions like this; only the writer's word makes it the library's.
    EXPECT_EQ(of("mpi_setup", OTF2_PARADIGM_USER), RegionKind::user);
    EXPECT_EQ(of("MPI_Something_new", OTF2_PARADIGM_MPI), RegionKind::other);
    EXPECT_EQ(of("shmem_helper", OTF2_PARADIGM_USER), RegionKind::user);
    EXPECT_EQ(of("!$omp parallel @main.c:3", OTF2_PARADIGM_OPENMP), RegionKind::user);
}

TEST(RegionKind, TellsModesApart) {
    EXPECT_EQ(of("MPI_Ssend"), RegionKind::send_synchronous);
    EXPECT_EQ(of("MPI_Issend"), RegionKind::send_synchronous);
    EXPECT_EQ(of("MPI_Bsend"), RegionKind::send_buffered);
    EXPECT_EQ(of("MPI_Ibsend_c"), RegionKind::send_buffered);
    EXPECT_EQ(of("MPI_Isend"), RegionKind::send_nonblocking);
    EXPECT_EQ(of("MPI_Send_init"), RegionKind::send_nonblocking);
    EXPECT_EQ(of("MPI_Recv"), RegionKind::receive);
    EXPECT_EQ(of("MPI_Mrecv"), RegionKind::receive);
    EXPECT_EQ(of("MPI_Imrecv"), RegionKind::receive_nonblocking);
    EXPECT_EQ(of("MPI_Sendrecv_replace"), RegionKind::send_receive);
    EXPECT_EQ(of("MPI_Startall"), RegionKind::start);
    EXPECT_EQ(of("MPI_Wait"), RegionKind::wait);
    EXPECT_EQ(of("MPI_Waitsome"), RegionKind::wait_multi);
    EXPECT_EQ(of("MPI_Testany"), RegionKind::test);
    EXPECT_EQ(of("MPI_Improbe"), RegionKind::probe);
}

TEST(RegionKind, KnowsCollectivesBlockingAndNot) {
    EXPECT_EQ(of("MPI_Barrier"), RegionKind::barrier);
    EXPECT_EQ(of("MPI_Ibarrier"), RegionKind::collective_nonblocking);
    EXPECT_EQ(of("MPI_Allreduce_c"), RegionKind::collective);
    EXPECT_EQ(of("MPI_Iallreduce"), RegionKind::collective_nonblocking);
    EXPECT_EQ(of("MPI_Reduce_scatter_block"), RegionKind::collective);
    EXPECT_EQ(of("MPI_Ineighbor_alltoallw"), RegionKind::collective_nonblocking);
    EXPECT_EQ(of("MPI_Reduce_local"), RegionKind::other);
    EXPECT_EQ(of("MPI_Bcast_init"), RegionKind::other);
}

TEST(RegionKind, KnowsTheRest) {
    EXPECT_EQ(of("MPI_Put"), RegionKind::one_sided);
    EXPECT_EQ(of("MPI_Win_fence"), RegionKind::one_sided);
    EXPECT_EQ(of("MPI::Win::Put"), RegionKind::one_sided);
    EXPECT_EQ(of("MPI_Get_count"), RegionKind::other);
    EXPECT_EQ(of("MPI_Init_thread"), RegionKind::init_finalize);
    EXPECT_EQ(of("MPI_Finalize"), RegionKind::init_finalize);
    EXPECT_EQ(of("MPI_File_write_at_all"), RegionKind::io);
    EXPECT_EQ(of("MPI::File::Read"), RegionKind::io);
    EXPECT_EQ(of("MPI_Comm_dup"), RegionKind::other);
    EXPECT_EQ(of("mpi_type_vector_", OTF2_PARADIGM_COMPILER), RegionKind::other);
}

TEST(RegionKind, KnowsShmem) {
    EXPECT_EQ(of("shmem_putmem", OTF2_PARADIGM_SHMEM), RegionKind::one_sided);
    EXPECT_EQ(of("pshmem_double_get", OTF2_PARADIGM_USER), RegionKind::one_sided);
    EXPECT_EQ(of("shmem_barrier_all", OTF2_PARADIGM_SHMEM), RegionKind::barrier);
    EXPECT_EQ(of("shmem_double_sum_to_all", OTF2_PARADIGM_SHMEM), RegionKind::collective);
    EXPECT_EQ(of("start_pes", OTF2_PARADIGM_SHMEM), RegionKind::init_finalize);
    EXPECT_EQ(of("shmem_my_pe", OTF2_PARADIGM_SHMEM), RegionKind::other);
}

}  // namespace
}  // namespace logpost::analyzer
