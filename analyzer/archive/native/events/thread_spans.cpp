#include "analyzer/archive/native/events/thread_spans.hpp"

#include <otf2/otf2.h>

#include <algorithm>
#include <limits>
#include <map>

namespace logpost::analyzer {
namespace {

constexpr auto kForever = std::numeric_limits<std::int64_t>::max();

bool wraps(ThreadRole role) {
    return role == ThreadRole::fork || role == ThreadRole::team || role == ThreadRole::parallel ||
           role == ThreadRole::implicit_task;
}

bool is_barrier(ThreadRole role) {
    return role == ThreadRole::barrier || role == ThreadRole::implicit_barrier;
}

/// An outermost execution of a parallel region on one thread, with its records.
struct Execution {
    std::int64_t begin, end;
    std::size_t first, last;  // of the thread's records
    std::int32_t callpath = kUndefined;
    bool nested = false;  // there are further parallel regions in it
};

std::int64_t overlap(const Execution& a, const Execution& b) {
    return std::max<std::int64_t>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

struct Thread {
    replay::Location location;
    std::vector<ThreadRecord> records;  // by begin, the longer first
    std::vector<Execution> executions;
};

/// What an innermost region makes of a thread's time.
enum class Doing : std::uint8_t { work, barrier, synchronization, communication };

struct Piece {
    std::int64_t begin, end;
    Doing doing;
    std::int32_t place;
    std::size_t barrier;  // of Doing::barrier: which of the thread's
};

struct Barrier {
    std::int64_t ready;  // the thread enters it, or ends the last task in it
    std::int32_t place;
    bool implicit;
};

/// A thread in an execution of a parallel region.
struct Body {
    std::int64_t begin, end;
    bool implicit_task = false;  // as OMPT states it
    std::vector<Piece> pieces;
    std::vector<Barrier> barriers;
};

/// The records of a location, which are in the order of their ends, in the order of their begins: each before the
/// records inside it, even those of no duration.
std::vector<ThreadRecord> by_begin(const std::vector<ThreadRecord>& ended) {
    std::vector<ThreadRecord> records;
    std::vector<std::size_t> open;  // ends of what `ended` has from each number on: its outermost records
    records.reserve(ended.size());
    for (const auto& record : ended) {
        auto at = records.size();
        while (!open.empty() && records[open.back()].depth > record.depth) {
            at = open.back();
            open.pop_back();
        }
        records.insert(records.begin() + static_cast<std::ptrdiff_t>(at), record);
        open.push_back(at);
    }
    return records;
}

Thread thread_of(const Trace& trace, std::size_t location) {
    Thread thread{replay::location_at(location), by_begin(trace.traces[location].threads), {}};
    const auto& records = thread.records;
    std::uint32_t outermost = 0;  // depth of the open execution
    bool inside = false;
    int regions = 0;
    int forks = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& record = records[i];
        auto& executions = thread.executions;
        if (!inside || record.depth <= outermost) {
            inside = wraps(record.role);
            if (!inside) {
                continue;  // an orphaned construct, outside of parallel regions
            }
            outermost = record.depth;
            executions.push_back({record.enter_ps, record.leave_ps, i, i, record.callpath});
            regions = forks = 0;
        }
        auto& open = executions.back();
        open.last = i + 1;
        forks += record.role == ThreadRole::fork ? 1 : 0;
        regions += record.role == ThreadRole::parallel ? 1 : 0;
        if (record.role == ThreadRole::parallel && regions == 1) {
            open.callpath = record.callpath;
        }
        open.nested = regions > 1 || forks > 1;
    }
    return thread;
}

/// Divides a thread's time in an execution by the innermost region, within bounds.
class Sweep {
  public:
    Sweep(const Trace& trace, const Thread& thread, const Execution& execution, std::int64_t from, std::int64_t until,
          bool whole)
        : begin_(std::max(from, execution.begin)), end_(std::min(until, execution.end)) {
        std::vector<Region> regions;
        for (auto i = execution.first; i < execution.last; ++i) {
            const auto& record = thread.records[i];
            if (!wraps(record.role)) {
                regions.push_back({record.enter_ps, record.leave_ps, record.callpath, doing(record.role),
                                   record.role == ThreadRole::implicit_barrier});
            } else if (!whole) {
                begin_ = std::max(begin_, record.enter_ps);
                end_ = std::min(end_, record.leave_ps);
                body_.implicit_task |= record.role == ThreadRole::implicit_task;
            }
        }
        add_calls(trace.traces[replay::index(thread.location)], regions);
        end_ = std::max(begin_, end_);
        now_ = begin_;
        for (const auto& region : regions) {
            leave_until(region.enter);
            emit(region.enter);
            enter(region);
        }
        leave_until(kForever);
        emit(end_);
        body_.begin = begin_;
        body_.end = end_;
    }

    Body take() { return std::move(body_); }

  private:
    struct Region {
        std::int64_t enter, leave;
        std::int32_t place;
        Doing doing;
        bool implicit = false;
        std::size_t barrier = 0;
    };

    static Doing doing(ThreadRole role) {
        if (is_barrier(role)) {
            return Doing::barrier;
        }
        return role == ThreadRole::synchronization ? Doing::synchronization : Doing::work;
    }

    void add_calls(const LocationTrace& location, std::vector<Region>& regions) const {
        const auto& calls = location.calls;
        auto at = calls.partition_point([&](const Call& call) { return call.leave_ps <= begin_; });
        const auto before = regions.size();
        for (; at < calls.size() && calls[at].enter_ps < end_; ++at) {
            regions.push_back({calls[at].enter_ps, calls[at].leave_ps, calls[at].callpath, Doing::communication});
        }
        if (regions.size() != before) {
            std::ranges::stable_sort(regions, [](const Region& a, const Region& b) {
                return a.enter != b.enter ? a.enter < b.enter : a.leave > b.leave;
            });
        }
    }

    void enter(Region region) {
        if (region.doing == Doing::barrier) {
            const auto outer = std::ranges::find(open_, Doing::barrier, &Region::doing);
            if (outer != open_.end()) {
                region.barrier = outer->barrier;  // the wait within it
            } else {
                region.barrier = body_.barriers.size();
                body_.barriers.push_back({std::clamp(region.enter, begin_, end_), region.place, region.implicit});
            }
        }
        open_.push_back(region);
    }

    void leave_until(std::int64_t time) {
        while (!open_.empty() && open_.back().leave <= time) {
            emit(open_.back().leave);
            open_.pop_back();
        }
    }

    void emit(std::int64_t until) {
        until = std::min(until, end_);
        if (until <= now_) {
            return;
        }
        Piece piece{now_, until, Doing::work, kUndefined, 0};
        if (!open_.empty()) {
            const auto& top = open_.back();
            piece.doing = top.doing;
            piece.place = top.doing == Doing::work ? kUndefined : top.place;
            piece.barrier = top.barrier;
            const auto barrier = std::ranges::find(open_, Doing::barrier, &Region::doing);
            if (barrier != open_.end() && top.doing != Doing::barrier) {
                body_.barriers[barrier->barrier].ready = until;
            }
        }
        body_.pieces.push_back(piece);
        now_ = until;
    }

    std::int64_t begin_, end_, now_ = 0;
    std::vector<Region> open_;
    Body body_{};
};

/// Gathers the spans of one thread, in the order of time.
class Spans {
  public:
    explicit Spans(replay::Location location) : location_(location) {}

    void region(std::int32_t instance, std::int32_t callpath) {
        instance_ = instance;
        callpath_ = callpath;
    }
    void add(std::int64_t begin, std::int64_t end, ThreadCategory category, std::int32_t place = kUndefined) {
        if (end <= begin) {
            return;
        }
        place = place == kUndefined ? callpath_ : place;
        if (!rows.empty()) {
            auto& last = rows.back();
            if (last.end_ps == begin && last.category == category && last.place == place &&
                last.instance == instance_) {
                last.end_ps = end;
                return;
            }
        }
        rows.push_back({begin, end, location_, instance_, callpath_, place, category});
    }

    std::vector<ThreadSpan> rows;

  private:
    replay::Location location_;
    std::int32_t instance_ = kUndefined, callpath_ = kUndefined;
};

ThreadCategory category_of(Doing doing) {
    switch (doing) {
        case Doing::barrier:
            return ThreadCategory::imbalance;
        case Doing::synchronization:
            return ThreadCategory::synchronization;
        case Doing::communication:
            return ThreadCategory::communication;
        default:
            return ThreadCategory::parallel;
    }
}

/// A process whose threads share parallel regions; its first thread is first.
class Process {
  public:
    Process(const Trace& trace, std::vector<Thread> threads) : trace_(trace), threads_(std::move(threads)) {
        for (const auto& thread : threads_) {
            spans_.emplace_back(thread.location);
        }
    }

    void divide(std::int32_t& instances, std::vector<ThreadSpan>& out) {
        std::vector<std::size_t> next(threads_.size(), 0);
        const auto& firsts = threads_.front().executions;
        for (std::size_t i = 0; i < firsts.size(); ++i) {
            const auto& execution = firsts[i];
            std::vector<std::vector<const Execution*>> of(threads_.size());
            bool nested = execution.nested;
            for (std::size_t t = 0; t < threads_.size(); ++t) {
                const auto& all = threads_[t].executions;
                for (; next[t] < all.size() && all[next[t]].begin < execution.end; ++next[t]) {
                    if (all[next[t]].end <= execution.begin) {
                        alone(t, all[next[t]], after(t), execution.begin);
                        continue;
                    }
                    if (i + 1 < firsts.size() &&
                        overlap(all[next[t]], firsts[i + 1]) > overlap(all[next[t]], execution)) {
                        break;  // it is in the next one, before which its clock has it begin
                    }
                    of[t].push_back(&all[next[t]]);
                    nested |= all[next[t]].nested;
                }
                nested |= of[t].size() > 1;
            }
            for (auto& spans : spans_) {
                spans.region(nested ? kUndefined : instances, execution.callpath);
            }
            if (nested) {
                divide_nested(execution, of);
            } else {
                divide_flat(execution, of);
                ++instances;
            }
        }
        for (std::size_t t = 0; t < threads_.size(); ++t) {
            for (const auto& all = threads_[t].executions; next[t] < all.size(); ++next[t]) {
                alone(t, all[next[t]], after(t), kForever);
            }
        }
        const auto& first = trace_.traces[replay::index(threads_.front().location)];
        for (auto& spans : spans_) {
            for (auto& row : spans.rows) {  // the process's time is its first thread's
                row.begin_ps = std::clamp(row.begin_ps, first.first_ps, first.last_ps);
                row.end_ps = std::clamp(row.end_ps, first.first_ps, first.last_ps);
                if (row.begin_ps < row.end_ps) {
                    out.push_back(row);
                }
            }
        }
    }

  private:
    [[nodiscard]] std::int64_t after(std::size_t t) const {
        return spans_[t].rows.empty() ? std::numeric_limits<std::int64_t>::min() : spans_[t].rows.back().end_ps;
    }

    /// A thread in a parallel region while the first one is in none.
    void alone(std::size_t t, const Execution& execution, std::int64_t from, std::int64_t until) {
        spans_[t].region(kUndefined, execution.callpath);
        undivided(t, execution, from, until);
    }

    /// The time of an execution whose team is not known: waiting at barriers is not divided further.
    void undivided(std::size_t t, const Execution& execution, std::int64_t from, std::int64_t until) {
        for (const auto& piece : Sweep(trace_, threads_[t], execution, from, until, true).take().pieces) {
            spans_[t].add(piece.begin, piece.end, category_of(piece.doing), piece.place);
        }
    }

    void divide_nested(const Execution& whole, const std::vector<std::vector<const Execution*>>& of) {
        for (std::size_t t = 0; t < threads_.size(); ++t) {
            auto now = whole.begin;
            for (const auto* execution : of[t]) {
                const auto begin = std::max(now, execution->begin);
                spans_[t].add(now, begin, ThreadCategory::not_in_team);
                undivided(t, *execution, begin, whole.end);
                now = std::max(begin, std::min(execution->end, whole.end));
            }
            spans_[t].add(now, whole.end, ThreadCategory::not_in_team);
        }
    }

    void divide_flat(const Execution& whole, const std::vector<std::vector<const Execution*>>& of) {
        std::vector<std::size_t> team;
        std::vector<Body> bodies;
        for (std::size_t t = 0; t < threads_.size(); ++t) {
            if (of[t].empty()) {
                spans_[t].add(whole.begin, whole.end, ThreadCategory::not_in_team);
                continue;
            }
            team.push_back(t);
            bodies.push_back(Sweep(trace_, threads_[t], *of[t].front(), whole.begin, whole.end, false).take());
        }
        const auto last_in = Last(bodies);
        for (std::size_t i = 0; i < team.size(); ++i) {
            const auto& body = bodies[i];
            auto& spans = spans_[team[i]];
            spans.add(whole.begin, body.begin, ThreadCategory::management);
            for (const auto& piece : body.pieces) {
                if (piece.doing != Doing::barrier) {
                    spans.add(piece.begin, piece.end, category_of(piece.doing), piece.place);
                    continue;
                }
                const auto last = std::clamp(last_in.at(body, piece.barrier), piece.begin, piece.end);
                const auto place = last_in.place(body, piece.barrier);
                spans.add(piece.begin, last, ThreadCategory::imbalance, place);
                spans.add(last, piece.end, ThreadCategory::management);
            }
            const auto last = std::clamp(last_in.at_end(), body.end, whole.end);
            spans.add(body.end, last, ThreadCategory::imbalance);
            spans.add(last, whole.end, ThreadCategory::management);
        }
    }

    /// When the last thread of a team arrives at each barrier. All threads of a team meet at the same barriers, so the
    /// n-th ones belong together, and those at the end; of more than others have, nothing is known.
    class Last {
      public:
        explicit Last(const std::vector<Body>& bodies) {
            common_ = std::numeric_limits<std::size_t>::max();
            for (const auto& body : bodies) {
                common_ = std::min(common_, body.barriers.size());
                const bool ends_in_it = !body.barriers.empty() && (body.barriers.back().implicit || body.implicit_task);
                ends_in_barrier_ = ends_in_barrier_ && ends_in_it;
            }
            times_.assign(common_, std::numeric_limits<std::int64_t>::min());
            places_.assign(common_, kUndefined);
            for (const auto& body : bodies) {
                for (std::size_t b = 0; b < body.barriers.size(); ++b) {
                    if (const auto n = number(body, b); n < common_) {
                        times_[n] = std::max(times_[n], body.barriers[b].ready);
                        places_[n] = places_[n] == kUndefined ? body.barriers[b].place : places_[n];
                    }
                }
                end_ = std::max(end_, body.end);
            }
            if (ends_in_barrier_ && common_ != 0) {
                end_ = times_.back();
            }
        }
        [[nodiscard]] std::int64_t at(const Body& body, std::size_t barrier) const {
            const auto n = number(body, barrier);
            return n < common_ ? times_[n] : kForever;
        }
        [[nodiscard]] std::int32_t place(const Body& body, std::size_t barrier) const {
            const auto n = number(body, barrier);
            return n < common_ ? places_[n] : body.barriers[barrier].place;
        }
        /// At the end of the region. Threads may leave it without waiting there, as OMPT states it.
        [[nodiscard]] std::int64_t at_end() const { return end_; }

      private:
        [[nodiscard]] std::size_t number(const Body& body, std::size_t barrier) const {
            if (ends_in_barrier_ && barrier + 1 == body.barriers.size()) {
                return common_ - 1;
            }
            const auto known = common_ - (ends_in_barrier_ ? 1 : 0);
            return barrier < known ? barrier : common_;
        }

        std::size_t common_ = 0;
        bool ends_in_barrier_ = true;
        std::int64_t end_ = std::numeric_limits<std::int64_t>::min();
        std::vector<std::int64_t> times_;   // by number
        std::vector<std::int32_t> places_;  // on the first thread that has it
    };

    const Trace& trace_;
    std::vector<Thread> threads_;
    std::vector<Spans> spans_;
};

}  // namespace

std::vector<ThreadSpan> thread_spans(const Trace& trace) {
    std::map<std::int32_t, std::vector<std::size_t>> processes;
    for (std::size_t l = 0; l < trace.traces.size(); ++l) {
        const auto& location = trace.locations[l];
        if (!trace.traces[l].threads.empty() && location.type == OTF2_LOCATION_TYPE_CPU_THREAD &&
            location.group != kUndefined) {
            auto& members = processes[location.group];
            // The first thread is the rank where there is one.
            if (location.rank != kNoRank) {
                members.insert(members.begin(), l);
            } else {
                members.push_back(l);
            }
        }
    }
    std::int32_t instances = 0;
    std::vector<ThreadSpan> spans;
    for (const auto& [group, members] : processes) {
        std::vector<Thread> threads;
        for (const auto l : members) {
            threads.push_back(thread_of(trace, l));
        }
        std::erase_if(threads, [](const Thread& thread) { return thread.executions.empty(); });
        if (threads.size() > 1) {
            Process(trace, std::move(threads)).divide(instances, spans);
        }
    }
    std::ranges::stable_sort(spans, {}, &ThreadSpan::location);
    return spans;
}

}  // namespace logpost::analyzer
