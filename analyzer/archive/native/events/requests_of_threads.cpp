#include "analyzer/archive/native/events/requests_of_threads.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyzer/archive/native/events/decoding.hpp"

namespace logpost::analyzer {
namespace {

using Begun = PendingRequests::Entry;

struct Place {
    std::size_t location;
    Begun begun;
    bool several;
};
using Places = std::unordered_map<std::uint64_t, Place>;

/// Whether the operation could be what ends.
bool fits(const Begun& begun, RequestEnd::What what) {
    using What = RequestEnd::What;
    switch (begun.what) {
        case PendingRequests::What::send:
            return what == What::send || what == What::cancelled;
        case PendingRequests::What::receive:
            return what == What::receive || what == What::cancelled;
        case PendingRequests::What::collective:
            return what == What::collective;
        case PendingRequests::What::free:
            break;
    }
    return false;
}

/// Requests that did not end where they began, by process.
std::unordered_map<replay::Location, Places> begun_of(const TraceOf& traces, const std::vector<replay::Location>& owner,
                                                      const std::vector<std::size_t>& locations) {
    std::unordered_map<replay::Location, Places> found;
    for (const auto l : locations) {
        if (!traces[l]->ended.empty()) {
            found.try_emplace(owner[l]);
        }
    }
    for (const auto l : locations) {
        const auto at = found.find(owner[l]);
        if (at == found.end()) {
            continue;
        }
        for (const auto& begun : traces[l]->begun) {
            const auto [place, fresh] = at->second.try_emplace(begun.id, Place{l, begun, false});
            place->second.several = !fresh;
        }
    }
    return found;
}

/// Gives what was begun its end.
void join(LocationTrace& at, const Begun& begun, const RequestEnd& end, QualityCounts& quality) {
    --quality[static_cast<std::size_t>(Quality::request_unknown)];
    --quality[static_cast<std::size_t>(Quality::request_never_completed)];
    if (end.what == RequestEnd::What::cancelled) {
        count(quality, Quality::request_cancelled);
    } else {
        count(quality, Quality::request_of_other_thread);
    }
    if (begun.what == PendingRequests::What::receive) {
        at.receives[begun.index].call = kNone;
    } else if (begun.what == PendingRequests::What::send && end.what == RequestEnd::What::cancelled) {
        at.sends[begun.index].call = kNone;
    } else if (begun.what == PendingRequests::What::collective) {
        auto& collective = at.collectives[begun.index];
        complete(collective, end.collective);
        collective.complete_call = kNone;
    }
}

/// Takes transfers that another thread of their process completed off the unknown ones. A transfer names calls of its
/// own location alone: no call waited for these transfers.
void join_transfers(const TraceOf& traces, const std::vector<replay::Location>& owner,
                    const std::vector<std::size_t>& locations, QualityCounts& quality) {
    std::unordered_map<replay::Location, std::map<TransferKey, bool>> ended;  // by process: whether its start was found
    for (const auto l : locations) {
        for (const auto& one : traces[l]->ended_transfers) {
            ended[owner[l]].try_emplace(one, false);
        }
        traces[l]->ended_transfers = {};
    }
    for (const auto l : locations) {
        const auto of = ended.find(owner[l]);
        for (const auto& open : traces[l]->open_transfers) {
            if (of == ended.end()) {
                break;
            }
            const auto at = of->second.find(open);
            if (at != of->second.end() && !std::exchange(at->second, true)) {
                --quality[static_cast<std::size_t>(Quality::request_unknown)];
                count(quality, Quality::request_of_other_thread);
            }
        }
        traces[l]->open_transfers = {};
    }
}

}  // namespace

void join_requests(const TraceOf& traces, const std::vector<replay::Location>& owner,
                   const std::vector<std::size_t>& locations, QualityCounts& quality) {
    join_transfers(traces, owner, locations, quality);
    auto processes = begun_of(traces, owner, locations);
    std::vector<std::size_t> changed;
    for (const auto l : locations) {
        for (const auto& end : traces[l]->ended) {
            auto& places = processes[owner[l]];
            const auto at = places.find(end.id);
            if (at == places.end() || at->second.several || !fits(at->second.begun, end.what)) {
                continue;
            }
            join(*traces[at->second.location], at->second.begun, end, quality);
            changed.push_back(at->second.location);
            places.erase(at);
        }
    }
    for (const auto l : locations) {
        traces[l]->begun = {};
        traces[l]->ended = {};
    }
    std::ranges::sort(changed);
    changed.erase(std::ranges::unique(changed).begin(), changed.end());
    for (const auto l : changed) {
        drop_cancelled(*traces[l]);
    }
}

}  // namespace logpost::analyzer
