#include "replay/native/program_tables.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "replay/native/phases.hpp"

namespace logpost::replay {
namespace {

/// An id as an index below `limit`.
std::size_t index(std::int32_t id, std::size_t limit, const char* what) {
    if (id < 0 || static_cast<std::size_t>(id) >= limit) {
        throw std::invalid_argument(std::string(what) + " " + std::to_string(id) + " does not exist");
    }
    return static_cast<std::size_t>(id);
}

void check_optional(std::int32_t id, std::size_t limit, const char* what) {
    if (id != kUndefined) {
        index(id, limit, what);
    }
}

class Filler {
  public:
    Filler(Program& program, const ProgramColumns& columns)
        : program_(program), columns_(columns), locations_(columns.locations.process.size()) {}

    void fill() {
        fill_locations();
        fill_calls();
        fill_ends();
        fill_collectives();
        fill_transfers();
        fill_epochs();
        program_.spans = program_spans(program_);
    }

  private:
    void fill_locations() {
        const auto& rows = columns_.locations;
        std::vector<Place> places;
        program_.timelines.resize(locations_);
        for (std::size_t l = 0; l < locations_; ++l) {
            places.push_back({rows.process[l], rows.socket[l], rows.node[l], rows.rank[l]});
            program_.timelines[l].first_ps = rows.first_ps[l];
            program_.timelines[l].last_ps = rows.last_ps[l];
        }
        program_.placement = Placement(std::move(places));
        program_.accounted.assign(rows.accounted.begin(), rows.accounted.end());
    }

    void fill_calls() {
        const auto& rows = columns_.calls;
        first_call_.assign(locations_, 0);
        for (std::size_t i = 0; i < rows.location.size(); ++i) {
            const auto location = index(rows.location[i], locations_, "location");
            index(rows.region[i], program_.kinds.size(), "region");
            index(rows.callpath[i], program_.callpaths(), "callpath");
            auto& calls = program_.timelines[location].calls;
            if (calls.empty()) {
                first_call_[location] = i;
            } else if (first_call_[location] + calls.size() != i || calls.back().enter_ps > rows.enter_ps[i]) {
                throw std::invalid_argument("calls do not stand by location and time");
            }
            calls.push_back({rows.enter_ps[i], rows.leave_ps[i], rows.region[i], rows.callpath[i]});
        }
    }

    /// A call of the run as one of its location.
    [[nodiscard]] std::uint32_t call(std::int32_t id, std::size_t location) const {
        const auto& calls = program_.timelines[location].calls;
        const auto own = static_cast<std::int64_t>(id) - static_cast<std::int64_t>(first_call_[location]);
        if (own < 0 || own >= static_cast<std::int64_t>(calls.size())) {
            throw std::invalid_argument("call " + std::to_string(id) + " does not belong to location " +
                                        std::to_string(location));
        }
        return static_cast<std::uint32_t>(own);
    }
    [[nodiscard]] std::uint32_t optional_call(std::int32_t id, std::size_t location) const {
        return id == kUndefined ? kNone : call(id, location);
    }

    void fill_ends() {
        const auto& messages = columns_.messages;
        const auto& unmatched = columns_.unmatched;
        std::vector<std::size_t> sends(locations_);
        std::vector<std::size_t> receives(locations_);
        for (std::size_t i = 0; i < messages.send_location.size(); ++i) {
            ++sends[index(messages.send_location[i], locations_, "location")];
            ++receives[index(messages.recv_location[i], locations_, "location")];
        }
        for (std::size_t i = 0; i < unmatched.location.size(); ++i) {
            ++(unmatched.direction[i] != 0 ? receives : sends)[index(unmatched.location[i], locations_, "location")];
        }
        constexpr MessageEnd kEmpty{kNone, kNone, 0, kUndefined, kUndefined, kUndefined, kNone};
        for (std::size_t l = 0; l < locations_; ++l) {
            for (std::size_t i = 0; i < sends[l]; ++i) {
                program_.timelines[l].sends.push_back(kEmpty);
            }
            for (std::size_t i = 0; i < receives[l]; ++i) {
                program_.timelines[l].receives.push_back(kEmpty);
            }
        }
        std::vector<std::vector<SendLayout>> layouts(locations_);
        for (std::size_t i = 0; i < messages.send_location.size(); ++i) {
            const auto from = static_cast<std::size_t>(messages.send_location[i]);
            const auto to = static_cast<std::size_t>(messages.recv_location[i]);
            auto& send = free_end(program_.timelines[from].sends, messages.send_number[i]);
            auto& receive = free_end(program_.timelines[to].receives, messages.recv_number[i]);
            check_optional(messages.comm[i], program_.members.size(), "communicator");
            send = {call(messages.send_call[i], from),
                    optional_call(messages.send_complete_call[i], from),
                    messages.bytes[i],
                    messages.recv_location[i],
                    messages.comm[i],
                    messages.tag[i],
                    static_cast<std::uint32_t>(messages.recv_number[i])};
            receive = {call(messages.recv_post_call[i], to),
                       call(messages.recv_call[i], to),
                       messages.recv_bytes[i],
                       messages.send_location[i],
                       messages.comm[i],
                       messages.tag[i],
                       static_cast<std::uint32_t>(messages.send_number[i])};
            if (messages.layout[i] != kUndefined) {
                index(messages.layout[i], program_.layouts.size(), "layout");
                layouts[from].push_back({static_cast<std::uint32_t>(messages.send_number[i]), messages.layout[i]});
            }
        }
        for (std::size_t i = 0; i < unmatched.location.size(); ++i) {
            const auto at = static_cast<std::size_t>(unmatched.location[i]);
            auto& timeline = program_.timelines[at];
            check_optional(unmatched.peer[i], locations_, "location");
            free_end(unmatched.direction[i] != 0 ? timeline.receives : timeline.sends, unmatched.number[i]) = {
                call(unmatched.call[i], at),
                optional_call(unmatched.complete_call[i], at),
                unmatched.bytes[i],
                unmatched.peer[i],
                unmatched.comm[i],
                unmatched.tag[i],
                kNone};
        }
        for (std::size_t l = 0; l < locations_; ++l) {
            std::ranges::sort(layouts[l], {}, &SendLayout::send);
            for (const auto& layout : layouts[l]) {
                program_.timelines[l].layouts.push_back(layout);
            }
        }
    }

    /// The end of this number, which no other row has filled.
    static MessageEnd& free_end(Column<MessageEnd>& ends, std::int32_t number) {
        auto& end = ends[index(number, ends.size(), "message end")];
        if (end.call != kNone) {
            throw std::invalid_argument("message end " + std::to_string(number) + " is there twice");
        }
        return end;
    }

    void fill_collectives() {
        const auto& rows = columns_.collectives;
        for (std::size_t i = 0; i < rows.location.size(); ++i) {
            const auto location = index(rows.location[i], locations_, "location");
            check_optional(rows.comm[i], program_.members.size(), "communicator");
            program_.timelines[location].collectives.push_back(
                {rows.enter_ps[i], rows.leave_ps[i], rows.bytes_sent[i], rows.bytes_received[i],
                 call(rows.call[i], location), optional_call(rows.complete_call[i], location), rows.comm[i],
                 rows.root[i], rows.instance[i] == kUndefined ? kNone : static_cast<std::uint32_t>(rows.instance[i]),
                 static_cast<Operation>(rows.operation[i]), rows.rma_window[i]});
            program_.collective_instances =
                std::max(program_.collective_instances, static_cast<std::uint32_t>(rows.instance[i] + 1));
        }
    }

    void fill_transfers() {
        const auto& rows = columns_.transfers;
        for (std::size_t i = 0; i < rows.location.size(); ++i) {
            const auto location = index(rows.location[i], locations_, "location");
            check_optional(rows.target[i], locations_, "location");
            program_.timelines[location].transfers.push_back(
                {rows.bytes[i], call(rows.call[i], location), optional_call(rows.complete_call[i], location),
                 optional_call(rows.remote_call[i], location), rows.target[i], rows.rma_window[i],
                 static_cast<Transfer::Kind>(rows.kind[i])});
        }
    }

    void fill_epochs() {
        const auto& rows = columns_.epochs;
        for (std::size_t i = 0; i < rows.location.size(); ++i) {
            const auto location = index(rows.location[i], locations_, "location");
            check_optional(rows.peer[i], locations_, "location");
            program_.timelines[location].epochs.push_back(
                {rows.acquired_ps[i] < 0 ? Epoch::kNotRecorded : rows.acquired_ps[i], rows.lock[i],
                 call(rows.begin_call[i], location), optional_call(rows.end_call[i], location), rows.peer[i],
                 rows.rma_window[i], rows.match[i] == kUndefined ? kNone : static_cast<std::uint32_t>(rows.match[i]),
                 static_cast<Epoch::Kind>(rows.kind[i])});
        }
        for (const auto& timeline : program_.timelines) {
            timeline.epochs.for_each([&](std::size_t, const Epoch& epoch) {
                if (epoch.match != kNone) {
                    const auto& peer = program_.timelines[index(epoch.peer, locations_, "location")];
                    index(static_cast<std::int32_t>(epoch.match), peer.epochs.size(), "epoch");
                }
            });
        }
    }

    Program& program_;
    const ProgramColumns& columns_;
    std::size_t locations_;
    std::vector<std::size_t> first_call_;  // by location, in the run
};

}  // namespace

void fill_program(Program& program, const ProgramColumns& columns) {
    Filler(program, columns).fill();
}

}  // namespace logpost::replay
