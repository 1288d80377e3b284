#include "gasnet_survey.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <ranges>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "gasnet_messages.hpp"

namespace logpost::assembler::gasnet {
namespace {

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

std::size_t mixed(std::size_t a, std::size_t b) {
    return (a ^ b) * 0x9E3779B97F4A7C15ULL + (a >> 29U);
}

// Per ordered pair of processes, by part of the run: the least time from sending to receiving, each on its own clock.
class Lags {
  public:
    void note(std::uint32_t from, std::uint32_t to, std::uint64_t sent, std::uint64_t received) {
        ++pairs_;
        const auto lag = static_cast<std::int64_t>(received) - static_cast<std::int64_t>(sent);
        auto& least = least_[{from, to}].try_emplace(sent / part_us, lag).first->second;
        least = std::min(least, lag);
    }

    // Of a part, or of the whole run.
    std::int64_t least(std::uint32_t from, std::uint32_t to, std::optional<std::uint64_t> part) const {
        const auto at = least_.find({from, to});
        if (at == least_.end()) {
            return unknown;
        }
        if (part) {
            const auto found = at->second.find(*part);
            return found != at->second.end() ? found->second : unknown;
        }
        return std::ranges::min(at->second | std::views::values);
    }

    const auto& all() const { return least_; }

    // The parts in which any pair has messages.
    std::set<std::uint64_t> parts() const {
        std::set<std::uint64_t> found;
        for (const auto& [pair, parts] : least_) {
            const auto keys = parts | std::views::keys;
            found.insert(keys.begin(), keys.end());
        }
        return found;
    }
    std::uint64_t pairs() const { return pairs_; }

  private:
    // By part, those with messages alone: a damaged time makes no memory of all parts before it.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint64_t, std::int64_t>> least_;
    std::uint64_t pairs_ = 0;
};

// Pairs sending with receiving lines: the n-th sent with the n-th received of the same text between the same two.
class Pairing {
  public:
    explicit Pairing(Lags& lags) : lags_(lags) {}

    void line(std::uint32_t process, const Line& line, const ActiveMessage& message) {
        if (message.what == ActiveMessage::What::handled || !message.peer || *message.peer == process) {
            return;
        }
        const bool sent = message.what == ActiveMessage::What::sent;
        const std::uint32_t from = sent ? process : *message.peer;
        const std::uint32_t to = sent ? *message.peer : process;
        std::size_t key = std::hash<std::string_view>{}(message.arguments);
        for (const std::size_t part : {std::size_t{from}, std::size_t{to}, std::size_t{message.handler},
                                       std::size_t{message.bytes}, std::size_t{message.reply}}) {
            key = mixed(key, part);
        }
        auto& others = (sent ? received_ : sent_)[key];
        if (others.empty()) {
            (sent ? sent_ : received_)[key].push_back(line.us);
            (sent ? received_ : sent_).erase(key);
            return;
        }
        const std::uint64_t other = others.front();
        others.pop_front();
        if (others.empty()) {
            (sent ? received_ : sent_).erase(key);
        }
        lags_.note(from, to, sent ? line.us : other, sent ? other : line.us);
    }

  private:
    using Waiting = std::unordered_map<std::size_t, std::deque<std::uint64_t>>;
    Lags& lags_;
    Waiting sent_;
    Waiting received_;
};

struct Reader {
    File file;
    ProcessSurvey* process;
    std::map<std::uint64_t, Messages> messages;
    std::string text;  // of `line`
    Line line;

    bool advance() {
        while (const auto next = file.next()) {
            text = *next;
            if (const auto parsed = parse(text)) {
                if (parsed->process != process->header.rank) {
                    throw std::runtime_error(process->path + " holds lines of processes " +
                                             std::to_string(*process->header.rank) + " and " +
                                             std::to_string(parsed->process) +
                                             "; set GASNET_TRACEFILE to a name with % in it, a file per process");
                }
                line = *parsed;
                return true;
            }
        }
        process->cut = file.cut();
        return false;
    }
};

// Numbers what many lines have in common.
template <typename T>
class Numbers {
  public:
    std::uint32_t of(const T& value) {
        const auto [at, fresh] = numbers_.try_emplace(value, static_cast<std::uint32_t>(order_.size()));
        if (fresh) {
            order_.push_back(value);
        }
        return at->second;
    }
    std::vector<T> order() && { return std::move(order_); }

  private:
    std::map<T, std::uint32_t> numbers_;
    std::vector<T> order_;
};

struct Shared {
    Numbers<std::string> names;
    Numbers<std::pair<std::string, std::uint32_t>> places;
};

void take_line(Reader& reader, Pairing& pairing, Shared& shared) {
    auto& process = *reader.process;
    const Line& line = reader.line;
    const auto [thread, fresh] = process.threads.try_emplace(line.thread);
    if (fresh) {
        thread->second.index = static_cast<std::uint32_t>(process.threads.size() - 1);
    }
    if (const auto waited = waited_ns(line)) {
        const std::uint64_t us = (*waited + 999) / 1000;
        thread->second.waits.push_back({us <= line.us ? line.us - us : line.us, shared.names.of(std::string(line.name)),
                                        shared.places.of({std::string(line.file), line.line})});
        process.first_us = std::min(process.first_us, thread->second.waits.back().begin_us);
    }
    if (line.category == 'A') {
        bool known = false;
        if (const auto message = reader.messages[line.thread].of(line, known)) {
            pairing.line(*process.header.rank, line, *message);
        }
    }
    process.last_us = std::max(process.last_us, line.us);
}

void read_in_step(const std::vector<std::unique_ptr<Reader>>& readers, Pairing& pairing, Shared& shared) {
    using Next = std::pair<std::uint64_t, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    for (std::size_t i = 0; i < readers.size(); ++i) {
        if (readers[i]->advance()) {
            readers[i]->process->first_us = readers[i]->line.us;
            queue.emplace(readers[i]->line.us, i);
        }
    }
    while (!queue.empty()) {
        const auto i = queue.top().second;
        queue.pop();
        take_line(*readers[i], pairing, shared);
        if (readers[i]->advance()) {
            queue.emplace(readers[i]->line.us, i);
        }
    }
}

struct Edge {
    double ahead = 0;  // of `to`'s clock to `from`'s
    double error = 0;
};

std::optional<Edge> edge(const Lags& lags, std::uint32_t from, std::uint32_t to, std::optional<std::uint64_t> part) {
    const auto there = lags.least(from, to, part);
    const auto back = lags.least(to, from, part);
    if (there == unknown || back == unknown) {
        return std::nullopt;
    }
    return Edge{static_cast<double>(there - back) / 2, static_cast<double>(there + back) / 2};
}

// The surest path from the first process to each: by rank, which process is before it.
std::map<std::uint32_t, std::uint32_t> ways(const Lags& lags, const std::vector<ProcessSurvey>& processes) {
    std::map<std::uint32_t, std::set<std::uint32_t>> neighbours;
    for (const auto& [pair, parts] : lags.all()) {
        if (edge(lags, pair.first, pair.second, std::nullopt)) {
            neighbours[pair.first].insert(pair.second);
        }
    }
    std::map<std::uint32_t, double> found;
    std::map<std::uint32_t, std::uint32_t> before;
    using Next = std::tuple<double, std::uint32_t, std::uint32_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    const std::uint32_t first = *processes.front().header.rank;
    queue.emplace(0, first, first);
    while (!queue.empty()) {
        const auto [error, rank, from] = queue.top();
        queue.pop();
        if (!found.try_emplace(rank, error).second) {
            continue;
        }
        before[rank] = from;
        for (const auto next : neighbours[rank]) {
            const auto step = edge(lags, rank, next, std::nullopt);
            queue.emplace(error + std::max(0.0, step->error), next, rank);
        }
    }
    return before;
}

void find_offsets(Survey& run, const Lags& lags) {
    const auto before = ways(lags, run.processes);
    std::map<std::uint32_t, const ProcessSurvey*> by_rank;
    for (const auto& process : run.processes) {
        by_rank[*process.header.rank] = &process;
    }
    const std::uint32_t first = *run.processes.front().header.rank;
    const auto along = [&](std::uint32_t rank, std::optional<std::uint64_t> part) -> std::optional<Edge> {
        Edge sum;
        while (rank != first) {
            const auto from = before.at(rank);
            const bool one_host = by_rank[from]->header.host == by_rank[rank]->header.host;
            const auto step = edge(lags, from, rank, one_host ? std::nullopt : part);
            if (!step) {
                return std::nullopt;
            }
            sum = {sum.ahead + step->ahead, sum.error + step->error};
            rank = from;
        }
        return sum;
    };
    const auto parts = lags.parts();
    std::size_t contradictory = 0;
    std::size_t without = 0;
    for (auto& process : run.processes) {
        const std::uint32_t rank = *process.header.rank;
        if (rank == first) {
            process.offsets.push_back({});
            continue;
        }
        if (!before.contains(rank)) {
            ++without;
            continue;
        }
        const bool one_host = process.header.host == run.processes.front().header.host;
        for (const auto part : parts) {
            if (one_host || part > process.last_us / part_us) {
                break;
            }
            if (const auto found = along(rank, part)) {
                process.offsets.push_back({part * part_us + part_us / 2, found->ahead, found->error});
            }
        }
        if (process.offsets.empty()) {
            const auto found = along(rank, std::nullopt);
            process.offsets.push_back({process.first_us, found->ahead, found->error});
        }
        contradictory += std::ranges::any_of(process.offsets, [](const Offset& o) { return o.error_us < 0; }) ? 1U : 0U;
    }
    if (without != 0) {
        run.warnings.push_back("the clocks of " + std::to_string(without) +
                               " processes are not aligned with the first one's: no active messages in both directions "
                               "(record with A in GASNET_TRACEMASK)");
    }
    if (contradictory != 0) {
        run.warnings.push_back("the clocks of " + std::to_string(contradictory) +
                               " processes contradict themselves: messages arrive before they are sent in both "
                               "directions; are the files of one run?");
    }
}

void check_together(const std::vector<ProcessSurvey>& processes) {
    const auto& first = processes.front();
    std::map<std::uint32_t, const ProcessSurvey*> seen;
    for (const auto& process : processes) {
        if (const auto [at, fresh] = seen.try_emplace(*process.header.rank, &process); !fresh) {
            throw std::runtime_error(at->second->path + " and " + process.path + " both are of process " +
                                     std::to_string(*process.header.rank) + "; give the files of one run");
        }
        if (process.header.size != first.header.size || process.header.program != first.header.program) {
            throw std::runtime_error(first.path + " is of " + first.header.program + " on " +
                                     std::to_string(first.header.size) + " processes, " + process.path + " of " +
                                     process.header.program + " on " + std::to_string(process.header.size) +
                                     "; give the files of one run");
        }
    }
}

}  // namespace

std::optional<std::uint64_t> waited_ns(const Line& line) {
    if (line.category != 'S' && line.category != 'B' && line.category != 'X') {
        return std::nullopt;
    }
    return nanoseconds(line.rest, "waittime = ");
}

Survey survey(const std::vector<std::string>& paths) {
    Survey run;
    std::vector<std::unique_ptr<Reader>> readers;
    run.processes.resize(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
        auto& process = run.processes[i];
        process.path = paths[i];
        readers.push_back(std::make_unique<Reader>(Reader{File(paths[i]), &process, {}, {}, {}}));
        process.header = readers.back()->file.header();
        if (!process.header.rank || process.header.size == 0 || *process.header.rank >= process.header.size) {
            throw std::runtime_error(paths[i] +
                                     " is no trace of GASNet: it does not begin with its process and the job's size "
                                     "(run a GASNet built with --enable-trace, GASNET_TRACEFILE=trace-%)");
        }
    }
    check_together(run.processes);
    run.size = run.processes.front().header.size;
    Lags lags;
    Pairing pairing(lags);
    Shared shared;
    read_in_step(readers, pairing, shared);
    run.wait_names = std::move(shared.names).order();
    run.wait_places = std::move(shared.places).order();
    readers.clear();
    std::ranges::sort(run.processes, {}, [](const ProcessSurvey& p) { return *p.header.rank; });
    run.pairs = lags.pairs();
    if (run.processes.size() > 1) {
        find_offsets(run, lags);
    } else {
        run.processes.front().offsets.push_back({});
    }
    return run;
}

}  // namespace logpost::assembler::gasnet
