#include "replay/native/collectives/every_message.hpp"

#include "replay/native/collectives/schedule.hpp"
#include "replay/native/program/shape.hpp"

namespace logpost::replay {
namespace {

class Listing {
  public:
    static constexpr bool kEveryRound = true;

    explicit Listing(EveryMessage& found) : found_(found) {}

    void message(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
        add(from, to, bytes);
        ++step_;
    }
    template <class Source>
    void round(std::uint32_t count, Source&& source, std::uint64_t bytes, std::uint32_t repeat) {
        for (std::uint32_t again = 0; again < repeat; ++again, ++step_) {
            for (std::uint32_t i = 0; i < count; ++i) {
                add(source(i), i, bytes);
            }
        }
    }
    void burst(std::uint32_t count, std::uint32_t rounds, std::uint64_t bytes) {
        for (std::uint32_t k = 1; k <= rounds; ++k) {
            for (std::uint32_t i = 0; i < count; ++i) {
                add((i + count - k) % count, i, bytes);
            }
        }
        ++step_;
    }

  private:
    void add(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
        found_.from.push_back(static_cast<std::int32_t>(from));
        found_.to.push_back(static_cast<std::int32_t>(to));
        found_.step.push_back(step_);
        found_.bytes.push_back(bytes);
    }

    EveryMessage& found_;
    std::int32_t step_ = 0;
};

}  // namespace

Algorithm usual(const Pattern& pattern) noexcept {
    switch (pattern.operation) {
        case Operation::barrier:
        case Operation::fence:
            return Algorithm::dissemination;
        case Operation::allreduce:
            return Algorithm::recursive_doubling;
        case Operation::alltoall:
        case Operation::alltoallv:
        case Operation::alltoallw:
            return Algorithm::pairwise;
        default:
            break;
    }
    if (has_root(shape(pattern.operation))) {
        return Algorithm::binomial;
    }
    const auto possible = candidates(pattern);
    return possible.empty() ? Algorithm::not_known : possible.front();
}

EveryMessage every_message(const Pattern& pattern, Algorithm algorithm) {
    EveryMessage found;
    visit_schedule(pattern, algorithm, Listing(found));
    return found;
}

}  // namespace logpost::replay
