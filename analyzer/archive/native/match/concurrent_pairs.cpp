#include "analyzer/archive/native/match/concurrent_pairs.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace logpost::analyzer {
namespace {

constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
constexpr auto kFar = std::numeric_limits<std::int32_t>::max() / 2;

using Numbers = std::vector<std::uint32_t>;

/// For each of the next places, how many of them are free beyond what must be there or before: a tree of minima.
class Slack {
  public:
    explicit Slack(const std::vector<std::int32_t>& slack) {
        while (size_ < slack.size()) {
            size_ *= 2;
        }
        least_.assign(2 * size_, kFar);
        std::ranges::copy(slack, least_.begin() + static_cast<std::ptrdiff_t>(size_));
        more_.assign(2 * size_, 0);
        for (auto i = size_; i-- > 1;) {
            least_[i] = std::min(least_[2 * i], least_[2 * i + 1]);
        }
    }

    /// One place fewer for what must be before `end`.
    void take(std::size_t end) { add(1, 0, size_, end); }

    /// The first place up to which none is free, or the number of places.
    [[nodiscard]] std::size_t first_full() const {
        if (least_[1] + more_[1] > 0) {
            return size_;
        }
        std::size_t at = 1;
        auto more = more_[1];
        while (at < size_) {
            at *= 2;
            if (least_[at] + more_[at] + more > 0) {
                ++at;
            }
            more += more_[at];
        }
        return at - size_;
    }

    /// A place that is past is never full.
    void pass(std::size_t place) {
        auto at = place + size_;
        least_[at] = kFar;
        for (at /= 2; at > 0; at /= 2) {
            update(at);
        }
    }

  private:
    void update(std::size_t at) {
        least_[at] = std::min(least_[2 * at] + more_[2 * at], least_[2 * at + 1] + more_[2 * at + 1]);
    }
    void add(std::size_t at, std::size_t from, std::size_t to, std::size_t end) {
        if (end <= from) {
            return;
        }
        if (to <= end) {
            --more_[at];
            return;
        }
        const auto middle = (from + to) / 2;
        add(2 * at, from, middle, end);
        add(2 * at + 1, middle, to, end);
        update(at);
    }

    std::size_t size_ = 1;
    std::vector<std::int32_t> least_;  // below a node, without `more_` of the node itself and those above
    std::vector<std::int32_t> more_;
};

/// The receives of one channel, put into the order in which they take its messages: unit jobs with deadlines, of which
/// the one that was called first is first as long as all others can still keep theirs. (Due dates that respect what
/// is behind: Lawler, Management Science 19(5), 1973.)
class OneChannel {
  public:
    OneChannel(std::span<const Sent> sends, const Numbers& sent, std::span<const Posted> receives, Numbers& posted)
        : sends_(sends), sent_(sent), receives_(receives), posted_(posted), mine_(posted) {}

    void order() {
        by_thread();
        if (threads_.size() < 2) {
            return;
        }
        find_due();
        auto slack = find_slack();
        std::vector<std::size_t> next(threads_.size(), 0);
        for (std::size_t place = 0; place < posted_.size(); ++place) {
            const auto i = next_one(next, slack.first_full());
            posted_[place] = mine_[i];
            slack.take(last_place_[i]);
            slack.pass(place);
        }
    }

  private:
    [[nodiscard]] const Posted& at(std::size_t i) const { return receives_[mine_[i]]; }

    void by_thread() {
        std::unordered_map<replay::Location, std::size_t> number;
        for (std::size_t i = 0; i < mine_.size(); ++i) {
            const auto [thread, fresh] = number.try_emplace(at(i).location, threads_.size());
            if (fresh) {
                threads_.emplace_back();
            }
            threads_[thread->second].push_back(i);
        }
    }

    /// When a receive must have its message: at its end, and no later than those behind it.
    void find_due() {
        const auto n = mine_.size();
        due_.assign(n, kNever);
        std::vector<std::int64_t> soonest(n + 1, kNever);  // of those from here on
        std::unordered_map<replay::Location, std::int64_t> of_thread;
        for (auto i = n; i-- > 0;) {
            const auto& receive = at(i);
            const auto behind = std::upper_bound(
                mine_.begin() + static_cast<std::ptrdiff_t>(i), mine_.end(), receive.leave_ps,
                [&](std::int64_t leave_ps, std::uint32_t other) { return leave_ps < receives_[other].enter_ps; });
            auto& own = of_thread.try_emplace(receive.location, kNever).first->second;
            due_[i] = std::min({receive.complete_ps, soonest[static_cast<std::size_t>(behind - mine_.begin())], own});
            own = due_[i];
            soonest[i] = std::min(soonest[i + 1], due_[i]);
        }
    }

    /// Up to the last message that was sent by a receive's due date; one without a due date is put where it fits.
    Slack find_slack() {
        const auto n = mine_.size();
        std::vector<std::int32_t> slack(n, 0);
        for (std::size_t i = 0; i < n; ++i) {
            const auto sent = std::upper_bound(sent_.begin(), sent_.end(), due_[i], [&](std::int64_t due, auto send) {
                return due < sends_[send].enter_ps;
            });
            const auto places = due_[i] == kNever ? n : static_cast<std::size_t>(sent - sent_.begin());
            last_place_.push_back(std::min(places > 0 ? places - 1 : 0, n - 1));
            ++slack[last_place_.back()];
        }
        std::int32_t here = 0;
        for (std::size_t place = 0; place < n; ++place) {
            here += slack[place];
            slack[place] = static_cast<std::int32_t>(place) + 1 - here;
        }
        return Slack(slack);
    }

    /// Of the threads' next receives that no other one's call precedes: where all places up to `full` are needed, one
    /// of those that need them; of these the one whose call began first.
    std::size_t next_one(std::vector<std::size_t>& next, std::size_t full) const {
        auto first_end = kNever;
        for (std::size_t t = 0; t < threads_.size(); ++t) {
            if (next[t] < threads_[t].size()) {
                first_end = std::min(first_end, at(threads_[t][next[t]]).leave_ps);
            }
        }
        const auto rank = [&](std::size_t i) {
            return std::tuple(last_place_[i] > full, last_place_[i] > full ? due_[i] : 0, i);
        };
        auto best = threads_.size();
        for (std::size_t t = 0; t < threads_.size(); ++t) {
            if (next[t] == threads_[t].size() || at(threads_[t][next[t]]).enter_ps > first_end) {
                continue;
            }
            if (best == threads_.size() || rank(threads_[t][next[t]]) < rank(threads_[best][next[best]])) {
                best = t;
            }
        }
        return threads_[best][next[best]++];
    }

    std::span<const Sent> sends_;
    const Numbers& sent_;
    std::span<const Posted> receives_;
    Numbers& posted_;
    const Numbers mine_;  // as they were: by the begin of their calls
    std::vector<std::vector<std::size_t>> threads_;
    std::vector<std::int64_t> due_;
    std::vector<std::size_t> last_place_;
};

/// Numbers by channel, those of a channel by the begin of their calls.
template <class End>
Numbers by_channel(std::span<const End> ends) {
    Numbers numbers(ends.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::ranges::stable_sort(numbers, {}, [&](std::uint32_t i) { return std::tie(ends[i].channel, ends[i].enter_ps); });
    return numbers;
}

template <class End>
void by_size(std::span<const End> ends, Numbers& numbers) {
    std::ranges::stable_sort(numbers, {}, [&](std::uint32_t i) { return ends[i].bytes; });
}

/// What of `numbers` from `begin` on is alike.
template <class Key>
Numbers alike(const Numbers& numbers, Numbers::const_iterator begin, Key key) {
    const auto end = std::find_if(begin, numbers.end(), [&](auto i) { return key(i) != key(*begin); });
    return {begin, end};
}

}  // namespace

std::vector<std::uint32_t> concurrent_pairs(std::span<const Sent> sends, std::span<const Posted> receives) {
    Numbers found(receives.size(), kNone);
    const auto pair = [&](const Numbers& sent, Numbers posted) {
        OneChannel(sends, sent, receives, posted).order();
        for (std::size_t k = 0; k < std::min(sent.size(), posted.size()); ++k) {
            found[posted[k]] = sent[k];
        }
    };
    const auto all_sent = by_channel(sends);
    const auto all_posted = by_channel(receives);
    const auto channel_sent = [&](std::uint32_t i) { return sends[i].channel; };
    const auto bytes_sent = [&](std::uint32_t i) { return sends[i].bytes; };
    const auto bytes_posted = [&](std::uint32_t i) { return receives[i].bytes; };
    for (auto at = all_posted.begin(); at != all_posted.end();) {
        auto posted = alike(all_posted, at, [&](std::uint32_t i) { return receives[i].channel; });
        const auto& channel = receives[*at].channel;
        at += static_cast<std::ptrdiff_t>(posted.size());
        const auto first = std::ranges::lower_bound(all_sent, channel, {}, channel_sent);
        if (first == all_sent.end() || sends[*first].channel != channel) {
            continue;
        }
        auto sent = alike(all_sent, first, channel_sent);
        auto sized_sent = sent;
        auto sized_posted = posted;
        by_size(sends, sized_sent);
        by_size(receives, sized_posted);
        if (!std::ranges::equal(sized_sent, sized_posted, {}, bytes_sent, bytes_posted)) {
            pair(sent, posted);
            continue;
        }
        for (auto begin = sized_sent.cbegin(), with = sized_posted.cbegin(); begin != sized_sent.cend();) {
            const auto some = alike(sized_sent, begin, bytes_sent);
            const auto n = static_cast<std::ptrdiff_t>(some.size());
            pair(some, Numbers(with, with + n));
            begin += n;
            with += n;
        }
    }
    return found;
}

}  // namespace logpost::analyzer
