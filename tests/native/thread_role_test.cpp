#include "analyzer/archive/native/trace/thread_role.hpp"

#include <gtest/gtest.h>
#include <otf2/otf2.h>

namespace logpost::analyzer {
namespace {

TEST(ThreadRole, ANameOfOpari2OrOmptDecidesWhateverTheRoleSays) {
    const auto role = [](const char* name) { return thread_role(name, OTF2_REGION_ROLE_UNKNOWN, OTF2_PARADIGM_USER); };
    EXPECT_EQ(role("!$omp parallel @a.c:1"), ThreadRole::parallel);
    EXPECT_EQ(role("!$omp parallel@0x4021"), ThreadRole::parallel);
    EXPECT_EQ(role("!$omp implicit_task"), ThreadRole::implicit_task);
    EXPECT_EQ(role("!$omp implicit barrier @a.c:2"), ThreadRole::implicit_barrier);
    EXPECT_EQ(role("!$omp barrier @a.c:2"), ThreadRole::barrier);
    EXPECT_EQ(role("!$omp critical @a.c:3"), ThreadRole::synchronization);
    EXPECT_EQ(role("!$omp critical sblock @a.c:3"), ThreadRole::block);
    EXPECT_EQ(role("!$omp task @a.c:4"), ThreadRole::task);
    EXPECT_EQ(role("!$omp taskloop @a.c:4"), ThreadRole::none);
    EXPECT_EQ(role("!$omp for @a.c:5"), ThreadRole::none);
    EXPECT_EQ(thread_role("!$omp offloading overhead", OTF2_REGION_ROLE_IMPLICIT_BARRIER, OTF2_PARADIGM_OPENMP),
              ThreadRole::none);
}

TEST(ThreadRole, AnotherNameHasItsRoleIfItIsOfOpenMP) {
    EXPECT_EQ(thread_role("loop.region", OTF2_REGION_ROLE_PARALLEL, OTF2_PARADIGM_OPENMP), ThreadRole::parallel);
    EXPECT_EQ(thread_role("omp_set_lock", OTF2_REGION_ROLE_WRAPPER, OTF2_PARADIGM_OPENMP), ThreadRole::synchronization);
    EXPECT_EQ(thread_role("omp_unset_lock", OTF2_REGION_ROLE_WRAPPER, OTF2_PARADIGM_OPENMP), ThreadRole::none);
    EXPECT_EQ(thread_role("MPI_Barrier", OTF2_REGION_ROLE_BARRIER, OTF2_PARADIGM_MPI), ThreadRole::none);
    EXPECT_EQ(thread_role("cudaSynchronize", OTF2_REGION_ROLE_IMPLICIT_BARRIER, OTF2_PARADIGM_CUDA), ThreadRole::none);
}

}  // namespace
}  // namespace logpost::analyzer
