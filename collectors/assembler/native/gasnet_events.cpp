#include "gasnet_events.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "event_writer.hpp"
#include "gasnet_messages.hpp"
#include "gasnet_pending.hpp"

namespace logpost::assembler::gasnet {
namespace {

struct Thread {
    EventWriter out;
    const ThreadSurvey* survey = nullptr;
    std::size_t next_wait = 0;  // of the survey's: the first that has not been entered
    std::size_t ended_waits = 0;
    OTF2_RegionRef wait = 0;      // that is entered; 0: none
    OTF2_RegionRef handler = 0;   // that runs
    OTF2_RegionRef barrier = 0;   // blocking, that has begun
    bool barrier_of_all = false;  // its team is that of all processes
    Messages messages;
    Pending pending;
    std::optional<std::uint64_t> notified;  // a split-phase barrier
};

OTF2_RmaAtomicType atomic_of(std::string_view rest) {
    const auto has = [&](std::string_view part) { return rest.find(part) != std::string_view::npos; };
    if (has("CAS")) {
        return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
    }
    if (has("SWAP")) {
        return OTF2_RMA_ATOMIC_TYPE_SWAP;
    }
    if (has("FADD")) {
        return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD;
    }
    return has("_FINC") ? OTF2_RMA_ATOMIC_TYPE_FETCH_AND_INCREMENT : OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
}

// Lines without a time that GASNet writes between events: payloads in hexadecimal, statistics of the process at its
// end.
bool is_other(std::string_view text) {
    const auto digits = text.find_first_not_of("0123456789");
    return text.empty() || text.starts_with("  0x") || text.ends_with("(output truncated)") ||
           text.starts_with("*** WARNING") ||
           (digits != std::string_view::npos && digits != 0 && text.substr(digits).starts_with(">"));
}

bool of_all(std::string_view rest) {
    return rest.find("TM=") == std::string_view::npos || rest.find("TM=TM0 ") != std::string_view::npos;
}

class ProcessEvents {
  public:
    ProcessEvents(OTF2_Archive* archive, const Survey& run, const ProcessSurvey& process, Strings& strings,
                  Names& names, Totals& totals)
        : archive_(archive), run_(run), process_(process), strings_(strings), names_(names), totals_(totals) {}

    void write(std::vector<LocationEvents>& locations) {
        File file(process_.path);
        file.header();
        while (const auto text = file.next()) {
            ++totals_.lines;
            const auto line = parse(*text);
            if (!line) {
                if (is_other(*text)) {
                    ++totals_.unused;
                } else {
                    unknown(*text);
                }
                continue;
            }
            Thread& thread = thread_of(*line);
            enter_waits(thread, line->us);
            if (!event(thread, *line)) {
                unknown(*text);
            }
        }
        const std::uint32_t rank = *process_.header.rank;
        for (auto& [name, thread] : threads_) {
            close(thread);
            locations.push_back(
                {location_of(rank, thread.survey->index), rank, thread.survey->index, thread.out.events});
        }
    }

  private:
    Thread& thread_of(const Line& line) {
        const auto [at, fresh] = threads_.try_emplace(line.thread);
        Thread& thread = at->second;
        if (!fresh) {
            return thread;
        }
        thread.survey = &process_.threads.at(line.thread);
        thread.out.thread = thread.survey->index;
        thread.out.writer =
            OTF2_Archive_GetEvtWriter(archive_, location_of(*process_.header.rank, thread.survey->index));
        thread.out.attributes = OTF2_AttributeList_New();
        if (thread.out.writer == nullptr || thread.out.attributes == nullptr) {
            throw std::runtime_error("cannot open the events of process " + std::to_string(*process_.header.rank));
        }
        const auto& waits = thread.survey->waits;
        const std::uint64_t start = waits.empty() ? line.us : std::min(line.us, waits.front().begin_us);
        if (thread.survey->index == 0) {
            check(OTF2_EvtWriter_ProgramBegin(thread.out.writer, nullptr, thread.out.at(start),
                                              strings_(process_.header.program), 0, nullptr),
                  "ProgramBegin");
        }
        enter(thread, start, program_region);
        return thread;
    }

    void close(Thread& thread) {
        const std::uint64_t end = thread.out.last;
        if (thread.handler != 0) {
            leave(thread, end, thread.handler);
        }
        if (thread.wait != 0) {
            leave(thread, end, thread.wait);
        }
        if (thread.barrier != 0) {
            leave(thread, end, thread.barrier);
        }
        leave(thread, end, program_region);
        if (thread.survey->index == 0) {
            check(OTF2_EvtWriter_ProgramEnd(thread.out.writer, nullptr, thread.out.at(end), OTF2_UNDEFINED_INT64),
                  "ProgramEnd");
        }
        totals_.events += thread.out.events;
        totals_.without_end += thread.pending.transfers();
        OTF2_AttributeList_Delete(thread.out.attributes);
        check(OTF2_Archive_CloseEvtWriter(archive_, thread.out.writer), "closing events");
    }

    void enter(Thread& thread, std::uint64_t us, OTF2_RegionRef region, const Line* line = nullptr) {
        OTF2_AttributeList* attributes = nullptr;
        const auto context = line != nullptr ? names_.called(region, line->file, line->line)
                                             : OTF2_CallingContextRef{OTF2_UNDEFINED_CALLING_CONTEXT};
        if (context != OTF2_UNDEFINED_CALLING_CONTEXT) {
            attributes = thread.out.attributes;
            OTF2_AttributeValue value;
            value.callingContextRef = context;
            check(OTF2_AttributeList_AddAttribute(attributes, Names::context, OTF2_TYPE_CALLING_CONTEXT, value),
                  "attribute");
        }
        check(OTF2_EvtWriter_Enter(thread.out.writer, attributes, thread.out.at(us), region), "Enter");
    }

    void leave(Thread& thread, std::uint64_t us, OTF2_RegionRef region) {
        check(OTF2_EvtWriter_Leave(thread.out.writer, nullptr, thread.out.at(us), region), "Leave");
    }

    // Waits are known when they are over; the first reading has noted when each began. What happens during a
    // wait (handlers) is within it. No wait begins within a handler.
    void enter_waits(Thread& thread, std::uint64_t us) {
        const auto& waits = thread.survey->waits;
        if (thread.handler == 0 && thread.next_wait == thread.ended_waits && thread.next_wait < waits.size() &&
            waits[thread.next_wait].begin_us <= us) {
            enter_wait(thread);
        }
    }

    void enter_wait(Thread& thread) {
        const Wait& wait = thread.survey->waits.at(thread.next_wait++);
        const auto& [file, number] = run_.wait_places[wait.place];
        Line where;
        where.file = file;
        where.line = number;
        thread.wait = names_.region(run_.wait_names[wait.name]);
        enter(thread, wait.begin_us, thread.wait, &where);
    }

    bool event(Thread& thread, const Line& line) {
        switch (line.category) {
            case 'P':
            case 'G':
                return transfer(thread, line);
            case 'R':
                return atomic(thread, line);
            case 'A':
                return message(thread, line);
            case 'S':
                return synchronization(thread, line);
            case 'B':
                return barrier(thread, line);
            case 'W':
                if (line.name.starts_with("COLL_")) {
                    enter(thread, line.us, names_.region(line.name), &line);
                    leave(thread, line.us, names_.region(line.name));
                    return true;
                }
                break;
            default:
                if (waited_ns(line)) {
                    return wait_over(thread, line);
                }
                break;
        }
        ++totals_.unused;
        return true;
    }

    void unknown(std::string_view text) {
        if (totals_.unknown++ == 0) {
            totals_.first_unknown = process_.path + ": " + std::string(text.substr(0, 120));
        }
    }

    // Only the issue is in the file. What is nonblocking stays pending; what went through shared memory is complete.
    void access(Thread& thread, const Line& line, std::uint64_t id) {
        const bool local = line.name.ends_with("_LOCAL");
        if (!local && line.name.find("_NBI") != std::string_view::npos) {
            thread.pending.implicit_transfer(id);
        } else if (!local && line.name.find("_NB") != std::string_view::npos) {
            thread.pending.explicit_transfer(id);
        } else {
            check(OTF2_EvtWriter_RmaOpCompleteBlocking(thread.out.writer, nullptr, thread.out.at(line.us), segment, id),
                  "RmaOpCompleteBlocking");
        }
    }

    bool transfer(Thread& thread, const Line& line) {
        const auto bytes = number(line.rest, "sz = ");
        if (!bytes) {
            return false;
        }
        const auto region = names_.region(line.name);
        enter(thread, line.us, region, &line);
        const auto peer = target(line, "peer = ");
        const std::uint64_t id = ++ids_;
        if (peer && line.category == 'P') {
            ++totals_.puts;
            totals_.put_bytes += *bytes;
            check(OTF2_EvtWriter_RmaPut(thread.out.writer, nullptr, thread.out.at(line.us), segment, *peer, *bytes, id),
                  "RmaPut");
        } else if (peer) {
            ++totals_.gets;
            totals_.get_bytes += *bytes;
            check(OTF2_EvtWriter_RmaGet(thread.out.writer, nullptr, thread.out.at(line.us), segment, *peer, *bytes, id),
                  "RmaGet");
        }
        if (peer) {
            access(thread, line, id);
        }
        leave(thread, line.us, region);
        return true;
    }

    // Neither the type nor the size of the operand is in the line.
    bool atomic(Thread& thread, const Line& line) {
        if (!line.name.starts_with("RATOMIC")) {
            return false;
        }
        const auto region = names_.region(line.name);
        enter(thread, line.us, region, &line);
        if (const auto peer = target(line, "(")) {
            const std::uint64_t id = ++ids_;
            ++totals_.atomics;
            check(OTF2_EvtWriter_RmaAtomic(thread.out.writer, nullptr, thread.out.at(line.us), segment, *peer,
                                           atomic_of(line.rest), 0, 0, id),
                  "RmaAtomic");
            access(thread, line, id);
        }
        leave(thread, line.us, region);
        return true;
    }

    std::optional<std::uint32_t> target(const Line& line, std::string_view key) {
        const auto peer = endpoint(line.rest, key);
        if (!peer || *peer >= run_.size) {
            ++totals_.peer_unknown;
            return std::nullopt;
        }
        return peer;
    }

    bool message(Thread& thread, const Line& line) {
        bool known = false;
        const auto found = thread.messages.of(line, known);
        if (!found) {
            totals_.unused += known ? 1 : 0;
            return known;
        }
        if (found->what == ActiveMessage::What::handled) {
            if (thread.handler != 0) {
                leave(thread, line.us, std::exchange(thread.handler, 0));
            }
            return true;
        }
        const bool sent = found->what == ActiveMessage::What::sent;
        const auto region = names_.region(line.name);
        if (!sent && thread.handler != 0) {
            leave(thread, line.us, thread.handler);  // its end is not in the file
        }
        enter(thread, line.us, region, &line);
        if (!found->peer || *found->peer >= run_.size) {
            ++totals_.peer_unknown;
        } else if (sent) {
            ++totals_.sent;
            totals_.sent_bytes += found->bytes;
            check(OTF2_EvtWriter_MpiSend(thread.out.writer, nullptr, thread.out.at(line.us), *found->peer,
                                         all_processes, found->handler, found->bytes),
                  "MpiSend");
        } else {
            ++totals_.received;
            check(OTF2_EvtWriter_MpiRecv(thread.out.writer, nullptr, thread.out.at(line.us), *found->peer,
                                         all_processes, found->handler, found->bytes),
                  "MpiRecv");
        }
        if (sent) {
            leave(thread, line.us, region);
        } else {
            thread.handler = region;
        }
        return true;
    }

    bool synchronization(Thread& thread, const Line& line) {
        if (waited_ns(line)) {
            return wait_over(thread, line);
        }
        if (line.name == "BEGIN_NBI_ACCESSREGION") {
            thread.pending.begin_region();
        } else if (line.name == "END_NBI_ACCESSREGION") {
            thread.pending.end_region();
        } else if (const auto success = number(line.rest, "success = "); success && line.name.starts_with("TRY_")) {
            const auto region = names_.region(line.name);
            enter(thread, line.us, region, &line);
            if (*success != 0) {
                complete(thread, line);
            }
            leave(thread, line.us, region);
            return true;
        } else {
            return false;
        }
        ++totals_.unused;
        return true;
    }

    bool wait_over(Thread& thread, const Line& line) {
        ++totals_.waits;
        if (thread.handler != 0) {
            leave(thread, line.us, std::exchange(thread.handler, 0));
        }
        if (thread.next_wait == thread.ended_waits) {
            enter_wait(thread);
        }
        ++thread.ended_waits;
        complete(thread, line);
        leave(thread, line.us, std::exchange(thread.wait, 0));
        return true;
    }

    void complete(Thread& thread, const Line& line) {
        if (line.category == 'B') {
            if (thread.notified) {
                barrier_complete(thread, line.us, *std::exchange(thread.notified, std::nullopt));
            }
            return;
        }
        bool guessed = false;
        for (const Started& started : thread.pending.waited(line.name, guessed)) {
            if (started.barrier) {
                barrier_complete(thread, line.us, started.id);
            } else {
                check(OTF2_EvtWriter_RmaOpCompleteNonBlocking(thread.out.writer, nullptr, thread.out.at(line.us),
                                                              segment, started.id),
                      "RmaOpCompleteNonBlocking");
            }
        }
        totals_.guessed_waits += guessed ? 1 : 0;
    }

    void barrier_complete(Thread& thread, std::uint64_t us, std::uint64_t request) {
        check(OTF2_EvtWriter_NonBlockingCollectiveComplete(thread.out.writer, nullptr, thread.out.at(us),
                                                           OTF2_COLLECTIVE_OP_BARRIER, all_processes,
                                                           OTF2_UNDEFINED_UINT32, 0, 0, request),
              "NonBlockingCollectiveComplete");
    }

    bool barrier(Thread& thread, const Line& line) {
        if (line.name == "BARRIER") {
            return blocking_barrier(thread, line);
        }
        const bool split = line.name == "BARRIER_NOTIFY" && line.rest.starts_with('(');
        if (split || line.name == "COLL_BARRIER_NB" || line.name == "Non-blocking Barrier") {
            const auto region = names_.region(line.name);
            enter(thread, line.us, region, &line);
            if (of_all(line.rest)) {
                ++totals_.barriers;
                const std::uint64_t request = ++ids_;
                check(OTF2_EvtWriter_NonBlockingCollectiveRequest(thread.out.writer, nullptr, thread.out.at(line.us),
                                                                  request),
                      "NonBlockingCollectiveRequest");
                if (split) {
                    thread.notified = request;
                } else {
                    thread.pending.barrier(request);
                }
            } else {
                ++totals_.barriers_of_part;
            }
            leave(thread, line.us, region);
            return true;
        }
        if (line.name == "BARRIER_ASYNC_COMPLETION") {
            const auto region = names_.region(line.name);
            enter(thread, line.us, region, &line);
            if (const auto over = thread.pending.barrier_over()) {
                barrier_complete(thread, line.us, over->id);
            }
            leave(thread, line.us, region);
            return true;
        }
        if (waited_ns(line)) {
            return wait_over(thread, line);
        }
        if (const auto success = number(line.rest, "success = "); success && *success != 0 && thread.notified) {
            const auto region = names_.region(line.name);
            enter(thread, line.us, region, &line);
            complete(thread, line);
            leave(thread, line.us, region);
            return true;
        }
        ++totals_.unused;
        return line.name.starts_with("BARRIER");
    }

    // Its begin and its end have a line each.
    bool blocking_barrier(Thread& thread, const Line& line) {
        const auto region = names_.region(line.name);
        if (line.rest.starts_with('(')) {
            if (thread.barrier != 0) {
                leave(thread, line.us, thread.barrier);
            }
            enter(thread, line.us, region, &line);
            thread.barrier = region;
            thread.barrier_of_all = line.rest.find("team=") == std::string_view::npos ||
                                    line.rest.find("GASNET_TEAM_ALL") != std::string_view::npos;
            if (thread.barrier_of_all) {
                check(OTF2_EvtWriter_MpiCollectiveBegin(thread.out.writer, nullptr, thread.out.at(line.us)),
                      "MpiCollectiveBegin");
            }
            return true;
        }
        if (thread.barrier == 0) {
            ++totals_.unused;
            return true;
        }
        (thread.barrier_of_all ? totals_.barriers : totals_.barriers_of_part) += 1;
        if (thread.barrier_of_all) {
            check(
                OTF2_EvtWriter_MpiCollectiveEnd(thread.out.writer, nullptr, thread.out.at(line.us),
                                                OTF2_COLLECTIVE_OP_BARRIER, all_processes, OTF2_UNDEFINED_UINT32, 0, 0),
                "MpiCollectiveEnd");
        }
        leave(thread, line.us, std::exchange(thread.barrier, 0));
        return true;
    }

    OTF2_Archive* archive_;
    const Survey& run_;
    const ProcessSurvey& process_;
    Strings& strings_;
    Names& names_;
    Totals& totals_;
    std::map<std::uint64_t, Thread> threads_;
    std::uint64_t ids_ = 0;
};

}  // namespace

void write_process(OTF2_Archive* archive, const Survey& run, const ProcessSurvey& process, Strings& strings,
                   Names& names, Totals& totals, std::vector<LocationEvents>& locations) {
    ProcessEvents(archive, run, process, strings, names, totals).write(locations);
}

}  // namespace logpost::assembler::gasnet
