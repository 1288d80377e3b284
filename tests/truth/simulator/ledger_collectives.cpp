/// Each rank's time in collective operations by cause: the path back from its leave along what happened before, message
/// step by message step and work by work, to the enter of the member that the operation waited for.

#include <algorithm>
#include <map>

#include "ledger.hpp"

namespace logpost::truth {
namespace {

class WayBack {
  public:
    WayBack(const Record& record, Time until) : record_(record), until_(until) {}

    Sums from(int rank, const Call& call) {
        at_ = call.leave;
        rank_ = rank;
        instance_ = call.instance;
        while (at_ > until_ && step()) {
        }
        lay(Cause::residual, until_);
        return sums_;
    }

  private:
    /// [begin, at_] has this cause; then is begin.
    void lay(Cause cause, Time begin) {
        const auto cut = std::max(begin, until_);
        sums_[static_cast<std::size_t>(cause)] += std::max<Time>(0, at_ - cut);
        at_ = std::min(at_, begin);
    }
    [[nodiscard]] const RankRecord& rank() const { return record_.ranks[static_cast<std::size_t>(rank_)]; }

    /// One piece of work or one message further back; false where the way begins.
    bool step() {
        const auto& busy = rank().busy;
        const auto work = std::ranges::lower_bound(busy, at_, {}, &Busy::end);
        if (work != busy.end() && work->end == at_ && work->begin < at_) {
            worked(*work);
            return true;
        }
        // Not held by the processor: the rank's own message has left, or this is the enter.
        for (const auto& m : record_.messages) {
            if (m.internal && m.sender == rank_ && m.rendezvous && m.sent_end == at_) {
                lay(Cause::serialization, m.sent_begin);
                lay(Cause::endpoint_contention, m.injection);
                return true;
            }
        }
        const auto entered = std::ranges::any_of(rank().calls, [&](const Call& call) {
            return call.collective != Collective::none && call.instance == instance_ && call.enter == at_;
        });
        if (entered) {
            lay(Cause::late_sender, until_);  // the ranks that needed it waited for it
        }
        return false;
    }

    void worked(const Busy& work) {
        const auto& m = record_.messages[work.message];
        const auto after_work = [&] {  // the processor went from one piece of work to the next
            const auto& busy = rank().busy;
            const auto before = std::ranges::lower_bound(busy, at_, {}, &Busy::end);
            return before != busy.end() && before->end == at_;
        };
        if (work.begin == m.overhead_begin && m.sender == rank_) {
            lay(Cause::send_overhead, work.begin);
        } else if (m.rendezvous && work.begin == m.clear_begin && m.sender == rank_) {
            lay(Cause::send_overhead, work.begin);
            if (m.clear_arrival == at_ || !after_work()) {
                lay(Cause::latency, m.request_end);
                rank_ = m.receiver;
            }
        } else if (m.rendezvous && work.begin == m.request_begin && m.receiver == rank_) {
            lay(Cause::recv_overhead, work.begin);
            if (m.request_arrival == at_) {
                lay(Cause::latency, m.middleware_end);
                rank_ = m.sender;
            }
        } else {
            lay(Cause::recv_overhead, work.begin);
            if (m.arrival == at_) {
                lay(Cause::serialization, m.received_begin);
                lay(Cause::endpoint_contention, m.sent_begin + m.L);
                lay(Cause::latency, m.sent_begin);
                lay(Cause::endpoint_contention, m.injection);
                rank_ = m.sender;
            }
        }
    }

    const Record& record_;
    Time until_;
    Time at_ = 0;
    int rank_ = 0;
    std::size_t instance_ = 0;
    Sums sums_{};
};

}  // namespace

std::vector<Sums> in_collectives(const Record& record) {
    const auto waits = awaited(record);
    std::vector<Sums> result(record.ranks.size());
    for (std::size_t number = 0; number < record.ranks.size(); ++number) {
        for (const auto& call : record.ranks[number].calls) {
            if (call.collective == Collective::none || call.one_sided || call.part != Part::whole) {
                continue;
            }
            const auto until = waits(call, static_cast<int>(number));
            const auto sums = WayBack(record, until).from(static_cast<int>(number), call);
            for (std::size_t cause = 0; cause < kCauses; ++cause) {
                result[number][cause] += sums[cause];
            }
        }
    }
    return result;
}

}  // namespace logpost::truth
