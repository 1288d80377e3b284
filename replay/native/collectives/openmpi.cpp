/// Open MPI's coll/tuned with its fixed rules: open-mpi/ompi v4.1.4 to v5.0.9,
/// ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, ompi_coll_tuned_*_intra_dec_fixed; gatherv and scatterv are
/// coll/basic's.
///
/// Chains, binary, k-nomial and butterfly trees, neighbour exchange and what is composed of other operations are no
/// algorithms of ours: `not_known`.

#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "replay/native/collectives/chain.hpp"
#include "replay/native/collectives/selector.hpp"

namespace logpost::replay {
namespace {

using enum Algorithm;

/// The first row with more members and more bytes than an operation has decides.
struct TunedRule {
    std::uint64_t members_below;
    std::uint64_t bytes_below;  ///< of what the file compares: a member's part, or that of all
    Algorithm algorithm;
};
constexpr auto kAny = std::numeric_limits<std::uint64_t>::max();

constexpr TunedRule kTunedAllreduce[]{{4, 8, ring},
                                      {4, 4096, recursive_doubling},
                                      {4, 8192, ring},
                                      {4, 16384, recursive_doubling},
                                      {4, 262144, ring},
                                      {4, kAny, rabenseifner},
                                      {8, 16, ring},
                                      {8, 8192, recursive_doubling},
                                      {8, kAny, rabenseifner},
                                      {16, 8192, recursive_doubling},
                                      {16, kAny, rabenseifner},
                                      {32, 64, ring},
                                      {32, 4096, recursive_doubling},
                                      {32, kAny, rabenseifner},
                                      {64, 128, ring},
                                      {64, kAny, rabenseifner},
                                      {128, 262144, recursive_doubling},
                                      {128, kAny, rabenseifner},
                                      {256, 131072, not_known},
                                      {256, 262144, recursive_doubling},
                                      {256, kAny, rabenseifner},
                                      {512, 4096, not_known},
                                      {512, kAny, rabenseifner},
                                      {2048, 2048, not_known},
                                      {2048, 16384, recursive_doubling},
                                      {2048, kAny, rabenseifner},
                                      {4096, 2048, not_known},
                                      {4096, 4096, ring},
                                      {4096, 16384, recursive_doubling},
                                      {4096, kAny, rabenseifner},
                                      {kAny, 2048, not_known},
                                      {kAny, 16384, ring},
                                      {kAny, 32768, recursive_doubling},
                                      {kAny, kAny, rabenseifner}};
constexpr TunedRule kTunedAlltoall[]{
    {3, 32768, pairwise},   {3, 262144, linear},  {3, kAny, pairwise},   {8, 524288, linear},   {8, 1048576, pairwise},
    {8, kAny, linear},      {16, kAny, linear},   {32, 4, linear},       {32, 512, bruck},      {32, kAny, linear},
    {64, 512, bruck},       {64, kAny, linear},   {256, 1024, bruck},    {256, 262144, linear}, {256, kAny, pairwise},
    {512, 1024, bruck},     {512, 32768, linear}, {512, kAny, pairwise}, {1024, 512, bruck},    {1024, 262144, linear},
    {1024, kAny, pairwise}, {2048, 512, bruck},   {2048, kAny, linear},  {4096, 1024, bruck},   {4096, kAny, linear},
    {kAny, 2048, bruck},    {kAny, kAny, linear}};
constexpr TunedRule kTunedAlltoallv[]{{4, kAny, pairwise}, {64, kAny, linear},     {128, kAny, pairwise},
                                      {256, kAny, linear}, {1024, kAny, pairwise}, {kAny, kAny, linear}};
constexpr TunedRule kTunedBarrier[]{{4, kAny, recursive_doubling},  {8, kAny, linear},
                                    {64, kAny, recursive_doubling}, {256, kAny, dissemination},
                                    {512, kAny, binomial},          {1024, kAny, dissemination},
                                    {4096, kAny, binomial},         {kAny, kAny, dissemination}};
constexpr TunedRule kTunedBcast[]{
    {4, 32, chain},         {4, 256, not_known},     {4, 512, chain},       {4, 1024, not_known},
    {4, 32768, linear},     {4, 262144, not_known},  {4, 524288, linear},   {4, 1048576, binomial},
    {4, kAny, not_known},   {8, 64, not_known},      {8, 128, binomial},    {8, 2048, not_known},
    {8, 8192, binomial},    {8, 1048576, linear},    {8, kAny, not_known},  {16, 16384, not_known},
    {16, 32768, binomial},  {16, kAny, linear},      {32, 4096, not_known}, {32, 1048576, binomial},
    {32, kAny, not_known},  {64, 2048, binomial},    {64, kAny, not_known}, {128, kAny, not_known},
    {256, 2, binomial},     {256, 16384, not_known}, {256, 32768, linear},  {256, kAny, not_known},
    {kAny, kAny, not_known}};
constexpr TunedRule kTunedReduce[]{
    {4, 16, not_known},      {4, 32, chain},          {4, 262144, linear},      {4, 524288, chain},
    {4, 1048576, not_known}, {4, kAny, chain},        {8, 65536, not_known},    {8, 262144, binomial},
    {8, 524288, linear},     {8, 1048576, binomial},  {8, kAny, linear},        {16, 8192, not_known},
    {16, kAny, binomial},    {32, 4096, not_known},   {32, kAny, binomial},     {256, kAny, binomial},
    {512, 8192, binomial},   {512, 16384, not_known}, {512, kAny, binomial},    {2048, kAny, binomial},
    {4096, 512, binomial},   {4096, 1024, not_known}, {4096, 8192, binomial},   {4096, 16384, not_known},
    {4096, kAny, binomial},  {kAny, 16, binomial},    {kAny, 32, not_known},    {kAny, 1024, binomial},
    {kAny, 2048, not_known}, {kAny, 8192, binomial},  {kAny, 16384, not_known}, {kAny, kAny, binomial}};
constexpr TunedRule kTunedReduceScatter[]{{4, 65536, ring},
                                          {4, 131072, not_known},
                                          {4, kAny, ring},
                                          {8, 8, not_known},
                                          {8, 262144, recursive_doubling},
                                          {8, kAny, ring},
                                          {32, 262144, recursive_doubling},
                                          {32, kAny, ring},
                                          {64, 64, not_known},
                                          {64, 2048, recursive_doubling},
                                          {64, 524288, not_known},
                                          {64, kAny, ring},
                                          {128, 256, not_known},
                                          {128, 512, recursive_doubling},
                                          {128, 2048, not_known},
                                          {128, 4096, recursive_doubling},
                                          {128, kAny, not_known},
                                          {256, 256, not_known},
                                          {256, 512, recursive_doubling},
                                          {256, kAny, not_known},
                                          {512, 256, not_known},
                                          {512, 1024, recursive_doubling},
                                          {512, kAny, not_known},
                                          {1024, 512, not_known},
                                          {1024, 2048, recursive_doubling},
                                          {1024, 8192, not_known},
                                          {1024, 16384, recursive_doubling},
                                          {1024, kAny, not_known},
                                          {2048, 512, not_known},
                                          {2048, 4096, recursive_doubling},
                                          {2048, 16384, not_known},
                                          {2048, 32768, recursive_doubling},
                                          {2048, kAny, not_known},
                                          {4096, 512, not_known},
                                          {4096, 4096, recursive_doubling},
                                          {4096, kAny, not_known},
                                          {kAny, 1024, not_known},
                                          {kAny, 8192, recursive_doubling},
                                          {kAny, kAny, not_known}};
constexpr TunedRule kTunedReduceScatterBlock[]{{4, 8, not_known},
                                               {4, 16, recursive_doubling},
                                               {4, 128, not_known},
                                               {4, 256, recursive_doubling},
                                               {4, 4096, not_known},
                                               {4, 8192, recursive_doubling},
                                               {4, kAny, not_known},
                                               {8, 8, recursive_doubling},
                                               {8, 256, not_known},
                                               {8, 8192, recursive_doubling},
                                               {8, 16384, not_known},
                                               {8, 1048576, recursive_doubling},
                                               {8, kAny, not_known},
                                               {16, 4, not_known},
                                               {16, 32, recursive_doubling},
                                               {16, 128, not_known},
                                               {16, 524288, recursive_doubling},
                                               {16, kAny, not_known},
                                               {32, 32, not_known},
                                               {32, 524288, recursive_doubling},
                                               {32, 2097152, not_known},
                                               {32, 4194304, recursive_doubling},
                                               {32, kAny, not_known},
                                               {kAny, 4, recursive_doubling},
                                               {kAny, kAny, not_known}};
constexpr TunedRule kTunedAllgather[]{{32, kAny, recursive_doubling},
                                      {64, 1024, recursive_doubling},
                                      {64, 65536, not_known},
                                      {64, kAny, ring},
                                      {128, 512, recursive_doubling},
                                      {128, 65536, not_known},
                                      {128, kAny, ring},
                                      {256, 512, recursive_doubling},
                                      {256, 131072, not_known},
                                      {256, 524288, ring},
                                      {256, 1048576, not_known},
                                      {256, kAny, ring},
                                      {512, 32, recursive_doubling},
                                      {512, 128, bruck},
                                      {512, 1024, recursive_doubling},
                                      {512, 131072, not_known},
                                      {512, 524288, ring},
                                      {512, 1048576, not_known},
                                      {512, kAny, ring},
                                      {1024, 64, recursive_doubling},
                                      {1024, 256, bruck},
                                      {1024, 2048, recursive_doubling},
                                      {1024, kAny, not_known},
                                      {2048, 4, recursive_doubling},
                                      {2048, 8, bruck},
                                      {2048, 16, recursive_doubling},
                                      {2048, 32, bruck},
                                      {2048, 256, recursive_doubling},
                                      {2048, 512, bruck},
                                      {2048, 4096, recursive_doubling},
                                      {2048, kAny, not_known},
                                      {4096, 32, bruck},
                                      {4096, 128, recursive_doubling},
                                      {4096, 512, bruck},
                                      {4096, 4096, recursive_doubling},
                                      {4096, kAny, not_known},
                                      {kAny, 2, recursive_doubling},
                                      {kAny, 8, bruck},
                                      {kAny, 16, recursive_doubling},
                                      {kAny, 512, bruck},
                                      {kAny, 4096, recursive_doubling},
                                      {kAny, kAny, not_known}};
constexpr TunedRule kTunedGather[]{
    {4, 2, not_known},     {4, 4, linear},       {4, 32768, binomial},  {4, 65536, linear},
    {4, 131072, binomial}, {4, kAny, not_known}, {8, 1024, binomial},   {8, 8192, linear},
    {8, 32768, binomial},  {8, 262144, linear},  {8, kAny, not_known},  {256, kAny, binomial},
    {512, 2048, binomial}, {512, 8192, linear},  {512, kAny, binomial}, {kAny, kAny, binomial}};
constexpr TunedRule kTunedScatter[]{
    {4, kAny, linear},     {8, 2048, binomial},   {8, 4096, linear},   {8, 8192, binomial}, {8, kAny, linear},
    {32, 16384, binomial}, {32, kAny, linear},    {64, 512, binomial}, {64, 8192, linear},  {64, 16384, binomial},
    {64, kAny, linear},    {kAny, 512, binomial}, {kAny, kAny, linear}};

std::optional<Algorithm> decided(std::span<const TunedRule> rules, std::uint32_t members,
                                 std::uint64_t bytes) noexcept {
    for (const auto& rule : rules) {
        if (members < rule.members_below && (bytes < rule.bytes_below || rule.bytes_below == kAny)) {
            return rule.algorithm == not_known ? std::nullopt : std::optional(rule.algorithm);
        }
    }
    return std::nullopt;
}

/// An element has 1 to 16 bytes (MPI_C_DOUBLE_COMPLEX).
constexpr std::uint64_t kMostOfElement = 16;

/// Rings and Rabenseifner's need an element for each member, or for each of the largest power of two
/// (ompi/mca/coll/base/coll_base_allreduce.c): else recursive doubling, or linear.
std::optional<Algorithm> tuned_allreduce(const Pattern& pattern) noexcept {
    const auto rule = decided(kTunedAllreduce, pattern.size, pattern.bytes);
    if (rule != ring && rule != rabenseifner) {
        return rule;
    }
    const std::uint64_t parts = rule == ring ? pattern.size : std::bit_floor(pattern.size);
    if (pattern.bytes < parts) {
        return rule == ring ? recursive_doubling : linear;
    }
    return pattern.bytes >= parts * kMostOfElement ? rule : std::nullopt;
}

/// Whole messages are forwarded, without segments: chains here have them from two segments on.
std::optional<Algorithm> unsegmented(std::optional<Algorithm> rule, std::uint64_t bytes) noexcept {
    return rule == chain && bytes >= 2 * schedule::kChainSegment ? std::nullopt : rule;
}

}  // namespace

std::optional<Algorithm> selected_by_openmpi(const Pattern& pattern) noexcept {
    const auto& [operation, size, bytes, group, other_bytes] = pattern;
    switch (operation) {
        case Operation::barrier:
            return decided(kTunedBarrier, size, 0);
        case Operation::allreduce:
            return tuned_allreduce(pattern);
        case Operation::bcast:
            return unsegmented(decided(kTunedBcast, size, bytes), bytes);
        case Operation::reduce:
            return unsegmented(decided(kTunedReduce, size, bytes), bytes);
        case Operation::alltoall:
            return decided(kTunedAlltoall, size, bytes);
        case Operation::alltoallv:
            return decided(kTunedAlltoallv, size, bytes);
        case Operation::allgather:
            return decided(kTunedAllgather, size, bytes);
        case Operation::reduce_scatter:
            return decided(kTunedReduceScatter, size, bytes * size);
        case Operation::reduce_scatter_block:
            return decided(kTunedReduceScatterBlock, size, bytes);
        case Operation::gather:
            return decided(kTunedGather, size, bytes);
        case Operation::scatter:
            return decided(kTunedScatter, size, bytes);
        case Operation::gatherv:
        case Operation::scatterv:
            return linear;
        default:
            return std::nullopt;
    }
}

}  // namespace logpost::replay
