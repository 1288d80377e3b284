#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// Roots of inter-communicators as their members name them, until operations are grouped: the process itself, and one
/// of its own group that only the others name.
inline constexpr replay::Rank kRootSelf{-2};
inline constexpr replay::Rank kRootInThisGroup{-3};

/// Groups collective records into operations: the k-th operation of every member of a communicator is one instance
/// (MPI demands the same order on all members). Persistent operations are made in the same order and may be started in
/// another: Collective::instance distinguishes them until it is filled (kNone: not persistent), and the k-th starts of
/// one are one instance. Members that disagree on the operation or the root, or of which some operations are missing,
/// leave the records ungrouped (instance kNone) and counted. Members without any record of the communicator, window or
/// persistent operation (their event file is missing) do not: the order of the others is whole, so these are grouped,
/// and counted too. Fills Collective::instance and Trace::collective_instances; roots become
/// places among Communicator::members(). A process next to the root of an inter-communicator (MPI_PROC_NULL) has no
/// instance: it moves no data.
void group_collectives(Trace& trace, const std::vector<replay::Location>& owner, QualityCounts& quality);

/// The same in steps: every process is added, then operations are numbered, then every process's records are assigned
/// to them, on any machine that has the numbers of the sequences of this process.
class CollectiveGroups {
  public:
    /// A sequence in which operations are counted: those of a communicator, window, or persistent operation of one.
    struct Sequence {
        std::uint32_t of;          // communicator or, behind all of them, window
        std::uint32_t persistent;  // which operation of it; kNone: all others
    };
    /// Of the k-th operation of a sequence.
    struct Number {
        std::uint32_t instance;  // kNone: not grouped
        replay::Rank root;       // as its members name it
    };

    /// `definitions` has communicators and windows, and must outlive this object.
    explicit CollectiveGroups(const Trace& definitions);

    /// Counts the records of a process on its locations. Processes are added in their order.
    void add(std::size_t process, std::span<LocationTrace* const> locations, QualityCounts& quality);
    /// All are added. `off`: by process, whether its measurement was ever switched off.
    void number(const std::vector<char>& off, QualityCounts& quality);
    /// Fills the records of a process. Processes are assigned in their order.
    void assign(std::size_t process, std::span<LocationTrace* const> locations);

    /// Instances that operations have, and then those of members that are alone in a communicator.
    [[nodiscard]] std::uint32_t grouped() const noexcept { return grouped_; }
    [[nodiscard]] std::uint32_t alone() const noexcept { return alone_; }
    /// The sequences that were added to since the last call, ascending.
    [[nodiscard]] std::vector<std::uint32_t> take_touched();
    [[nodiscard]] const Sequence& sequence(std::uint32_t number) const noexcept { return sequences_[number]; }
    [[nodiscard]] std::vector<Number> numbers(std::uint32_t sequence) const;
    /// What another object has numbered, for `assign` alone.
    void set(Sequence sequence, const std::vector<Number>& numbers);
    void set_next_alone(std::uint32_t instance) noexcept { next_alone_ = instance; }

  private:
    /// One operation while it is put together.
    struct Forming {
        std::uint32_t members = 0;
        replay::Rank root = kNoRank;
        Operation operation = Operation::unknown;
        bool inconsistent = false;
        std::uint32_t instance = kNone;
    };
    [[nodiscard]] std::uint32_t of(const Collective& record) const noexcept;
    [[nodiscard]] const Communicator& communicator(const Collective& record) const noexcept {
        return trace_.communicators[static_cast<std::size_t>(record.comm)];
    }
    [[nodiscard]] bool is_member(std::size_t process, std::uint32_t of) const;
    /// The number of a sequence, which is a new one the first time.
    std::uint32_t at(Sequence sequence);

    const Trace& trace_;
    std::vector<std::uint32_t> expected_;                 // by communicator or window: how many members it has
    std::vector<std::vector<replay::Location>> members_;  // sorted
    std::vector<Sequence> sequences_;                     // those of communicators and windows first
    std::unordered_map<std::uint64_t, std::uint32_t> persistent_;
    std::vector<std::vector<Forming>> operations_;  // by sequence
    std::vector<std::uint32_t> recorded_;           // members of a sequence that have records of it
    std::vector<std::uint32_t> touched_;
    std::uint32_t grouped_ = 0;
    std::uint32_t alone_ = 0;
    std::uint32_t next_alone_ = 0;
};

}  // namespace logpost::analyzer
