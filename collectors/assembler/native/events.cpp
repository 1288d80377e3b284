// The events of one process: its threads in step with each other, and for each call its region and what was done in it.
// Messages, requests and collectives know how their own events are written.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>

#include "archive.hpp"
#include "calls.hpp"
#include "collective_events.hpp"
#include "event_writer.hpp"
#include "message_events.hpp"
#include "open_calls.hpp"
#include "overwritten.hpp"
#include "pending.hpp"
#include "process_ids.hpp"
#include "regions.hpp"
#include "request_events.hpp"
#include "window_events.hpp"

namespace logpost::assembler {
namespace {

class ProcessEvents {
  public:
    ProcessEvents(OTF2_Archive* archive, const Job& job, Process& process, Strings& strings, Tally& tally,
                  Contexts& contexts, const Overwritten& overwritten)
        : archive_(archive),
          job_(job),
          process_(process),
          strings_(strings),
          tally_(tally),
          contexts_(contexts),
          ids_(job, process, strings, tally),
          halves_(job, process, overwritten),
          messages_(ids_, halves_),
          collectives_(ids_, process, halves_),
          windows_(ids_, process, halves_, tally),
          requests_(ids_, collectives_, windows_, halves_, tally) {
        if (process.ring == nullptr) {
            return;
        }
        for (const lp_carried& c : process.ring->carried()) {
            const bool closed = c.logged == LP_CLOSED;
            if (!closed) {
                carried_[c.thread].push_back(c);
            }
            if (carried_head(c).kind != LP_MPROBE && !only_made(c)) {
                requests_.began_unseen(c.handle, c.thread, begun(ids_, c),
                                       closed ? ids_.ticks(carried_head(c).leave) : RequestEvents::open);
            }
        }
        const lp_lost& lost = process.ring->lost();
        skipped(lost.off);
        tally_.times_off += lost.times_off;
        tally_.ns_off =
            std::max(tally_.ns_off, ns_between(lost.last - std::min(lost.last, lost.longest_off), lost.last));
    }

    void run(std::vector<LocationEvents>& locations) {
        std::vector<Calls> sources;
        std::vector<EventWriter> outs;
        for (const auto& thread : process_.threads) {
            outs.push_back(open(thread->log.header().thread));
            sources.emplace_back(*thread);
        }
        for_each_in_order(sources, [&](std::size_t thread) { emit(outs[thread], sources[thread]); });
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (off_[outs[i].thread].is) {
                requests_.resume(outs[i], outs[i].last, std::vector<lp_carried>{});  // what became of them is not known
                leave_off(outs[i], sources[i], outs[i].last, off_[outs[i].thread]);
                regions_.erase(outs[i].thread);  // they were left when it began
            }
            if (sources[i].thread().open) {
                open_call(outs[i], sources[i], *sources[i].thread().open);
            }
        }
        for (EventWriter& out : outs) {
            close(out, locations);
        }
        std::ranges::for_each(process_.rest, [this](const lp_gap& gap) { skipped(gap); });
        tally_.pending += requests_.pending();
        tally_.halves += halves_.messages();
        tally_.parts_of_operations += halves_.operations();
    }

  private:
    // Of a thread: whether recording is off, since when, and how often it was before.
    struct Off {
        bool is = false;
        std::uint64_t since = 0;
        std::size_t times = 0;
    };

    EventWriter open(std::uint32_t thread) {
        EventWriter out;
        out.thread = thread;
        out.writer = OTF2_Archive_GetEvtWriter(archive_, location_of(process_.rank, thread));
        out.attributes = OTF2_AttributeList_New();
        if (out.writer == nullptr || out.attributes == nullptr) {
            throw std::runtime_error("cannot open the events of rank " + std::to_string(process_.rank));
        }
        return out;
    }

    void close(EventWriter& out, std::vector<LocationEvents>& locations) {
        if (out.events == 0) {
            out.events = write_nothing(out.writer, job_);
        } else {
            thread_ends(out);
            check(OTF2_EvtWriter_Leave(out.writer, nullptr, out.at(out.last), program_region), "Leave");
            if (out.thread == 0) {
                check(OTF2_EvtWriter_ProgramEnd(out.writer, nullptr, out.at(out.last), OTF2_UNDEFINED_INT64),
                      "ProgramEnd");
            }
        }
        locations.push_back({location_of(process_.rank, out.thread), process_.rank, out.thread, out.events});
        tally_.events += out.events;
        OTF2_AttributeList_Delete(out.attributes);
        check(OTF2_Archive_CloseEvtWriter(archive_, out.writer), "closing events");
    }

    // Before each event of a thread. Between threads no thread computes: that time is a separate region.
    void thread_lives(EventWriter& out, const Calls& source, std::uint64_t time) {
        if (out.events == 0) {
            if (out.thread == 0) {
                const OTF2_StringRef name = strings_(process_.info["executable"]);
                check(OTF2_EvtWriter_ProgramBegin(out.writer, nullptr, out.at(time), name, 0, nullptr), "ProgramBegin");
            }
            check(OTF2_EvtWriter_Enter(out.writer, nullptr, out.at(time), program_region), "Enter");
        } else if (out.ended) {
            const OTF2_RegionRef region = ids_.region(source, job_.no_thread);
            check(OTF2_EvtWriter_Enter(out.writer, nullptr, out.at(out.last), region), "Enter");
            check(OTF2_EvtWriter_Leave(out.writer, nullptr, out.at(time), region), "Leave");
        }
        out.ended = false;
    }

    // Its regions end with it.
    void thread_ends(EventWriter& out) {
        if (out.ended) {
            return;
        }
        regions_[out.thread].interrupt(out, out.last);
        regions_.erase(out.thread);
        out.ended = true;
    }

    void emit(EventWriter& out, const Calls& source) {
        const Record& r = *source.call();
        if (r.head.kind == LP_NEXT) {
            thread_ends(out);
            return;
        }
        const std::uint64_t enter = ids_.ticks(r.head.enter);
        const std::uint64_t leave = std::max(enter, ids_.ticks(r.head.leave));
        thread_lives(out, source, enter);
        tally_.first = std::min(tally_.first, to_global_ticks(job_, process_, r.head.enter));
        tally_.last = std::max(tally_.last, to_global_ticks(job_, process_, r.head.leave));
        if (r.head.kind == LP_SAMPLE) {
            sample(out, source, r, enter);
            return;
        }
        if (r.head.kind == LP_FILE) {
            file_call(out, source, r, enter, leave);
            return;
        }
        if (r.head.kind >= LP_REGION_BEGIN) {
            region(out, source, r, enter);
            return;
        }
        if (r.head.kind == LP_OFF || r.head.kind == LP_ON) {
            if (r.head.kind == LP_OFF) {
                switched_off(out, source, enter);
                take_over(out, enter, taken(out.thread));
            } else if (off_[out.thread].is) {
                switched_on(out, source, enter, r.get<lp_gap>(), source.thread().carried.at(off_[out.thread].times));
            } else {
                begins_on(out, source, enter, r);
            }
            return;
        }
        const OTF2_RegionRef region = ids_.region(source, r.head.function);
        ++tally_.calls;
        check(OTF2_EvtWriter_Enter(out.writer, call_site(out, source.thread(), r), out.at(enter), region), "Enter");
        if (!carried_.empty()) {
            take_over(out, enter, taken(out.thread));
        }
        body(out, source, r, enter, leave);
        check(OTF2_EvtWriter_Leave(out.writer, nullptr, out.at(leave), region), "Leave");
        moves(out, source);
    }

    // The code that the thread was in between calls; its context is that of code alone.
    void sample(EventWriter& out, const Calls& source, const Record& r, std::uint64_t time) {
        const auto sample = r.get<lp_sample>();
        const Contexts::Site site = contexts_.of_sample(process_, source.thread(), {sample.address, r.stack()});
        tally_.samples_lost += sample.lost;
        if (site.context != OTF2_UNDEFINED_CALLING_CONTEXT) {
            ++tally_.samples;
            tally_.sample_period_ns = source.thread().sample_period_ns;
            OTF2_AttributeList* attributes = sample.periods > 1 ? out.attributes : nullptr;
            if (attributes != nullptr) {
                OTF2_AttributeList_AddUint32(attributes, periods_attribute, sample.periods);
            }
            check(OTF2_EvtWriter_CallingContextSample(out.writer, attributes, out.at(time), site.context,
                                                      OTF2_UNDEFINED_UINT32, sample_generator),
                  "CallingContextSample");
        }
        moves(out, source);
    }

    // A call of the C library on a file: a region with the file's name, and in OTF2's terms what it does to it.
    void file_call(EventWriter& out, const Calls& source, const Record& r, std::uint64_t enter, std::uint64_t leave) {
        const auto call = r.get<lp_file>();
        const std::uint32_t number = process_.file_call_refs.at({r.head.function, known_file(process_, call.file)});
        const Contexts::Site site = contexts_.of_call(process_, source.thread(), r.stack(), number);
        const OTF2_RegionRef region = ids_.region(source, number);
        tally_.file_calls_lost += call.lost;
        const std::uint64_t id = tally_.file_calls++;
        if (site.context != OTF2_UNDEFINED_CALLING_CONTEXT) {
            OTF2_AttributeList_AddCallingContextRef(out.attributes, context_attribute, site.context);
        }
        check(OTF2_EvtWriter_Enter(out.writer, out.attributes, out.at(enter), region), "Enter");
        const auto file = process_.file_refs.find(call.file);
        const bool moves_data = r.head.function >= LP_FILE_READ && r.head.function <= LP_FILE_SYNC;
        if (file != process_.file_refs.end() && moves_data) {
            const OTF2_IoOperationMode mode = r.head.function == LP_FILE_READ    ? OTF2_IO_OPERATION_MODE_READ
                                              : r.head.function == LP_FILE_WRITE ? OTF2_IO_OPERATION_MODE_WRITE
                                                                                 : OTF2_IO_OPERATION_MODE_FLUSH;
            check(OTF2_EvtWriter_IoOperationBegin(out.writer, nullptr, out.at(enter), file->second, mode,
                                                  OTF2_IO_OPERATION_FLAG_NONE, OTF2_UNDEFINED_UINT64, id),
                  "IoOperationBegin");
            check(OTF2_EvtWriter_IoOperationComplete(out.writer, nullptr, out.at(leave), file->second, call.bytes, id),
                  "IoOperationComplete");
        }
        check(OTF2_EvtWriter_Leave(out.writer, nullptr, out.at(leave), region), "Leave");
        moves(out, source);
    }

    // Windows that were moved behind a record.
    void moves(EventWriter& out, const Calls& source) {
        for (const Record& w : source.windows()) {
            const std::uint64_t from = std::max(ids_.ticks(w.head.enter), out.last);
            const std::uint64_t to = std::max(ids_.ticks(w.head.leave), from);
            check(OTF2_EvtWriter_BufferFlush(out.writer, nullptr, out.at(from), to), "BufferFlush");
            tally_.moving += to - from;
        }
    }

    // What the program marks explicitly.
    void region(EventWriter& out, const Calls& source, const Record& r, std::uint64_t time) {
        OpenRegions& open = regions_[out.thread];
        if (r.head.kind == LP_REGION_END) {
            tally_.ends_alone += open.end(out, time) ? 0U : 1U;
            return;
        }
        const auto known = process_.region_refs.find(r.get<std::uint32_t>());
        if (r.head.kind > LP_MARK || known == process_.region_refs.end()) {
            throw std::runtime_error(source.path() + ": record of unknown kind " + std::to_string(r.head.kind) +
                                     ", or of an unknown region");
        }
        ++tally_.regions_entered;
        open.begin(out, time, ids_.region(source, known->second));
        if (r.head.kind == LP_MARK) {
            open.end(out, time);
        }
    }

    // A time without records is a separate region, in which requests end and begin that did so unseen.
    void switched_off(EventWriter& out, const Calls& source, std::uint64_t time) {
        Off& off = off_[out.thread];
        off.since = time;
        off.is = true;
        ++tally_.times_off;
        regions_[out.thread].interrupt(out, time);
        check(OTF2_EvtWriter_Enter(out.writer, nullptr, out.at(time), ids_.region(source, job_.off)), "Enter");
        check(OTF2_EvtWriter_MeasurementOnOff(out.writer, nullptr, out.at(time), OTF2_MEASUREMENT_OFF),
              "MeasurementOnOff");
    }

    void switched_on(EventWriter& out, const Calls& source, std::uint64_t time, const lp_gap& gap,
                     const std::vector<lp_carried>& carried) {
        Off& off = off_[out.thread];
        check(OTF2_EvtWriter_MeasurementOnOff(out.writer, nullptr, out.at(time), OTF2_MEASUREMENT_ON),
              "MeasurementOnOff");
        requests_.resume(out, time, carried);
        requests_.resume(out, time, source.thread().ended.at(off.times++));
        windows_.resume(out, time);
        std::vector<lp_carried> unseen = carried;
        std::erase_if(unseen, [](const lp_carried& c) { return c.logged != 0; });
        take_over(out, time, unseen);
        leave_off(out, source, time, off);
        regions_[out.thread].resume(out, time, gap.kept, gap.begun);
        skipped(gap);
    }

    // The ring has overwritten where it went off, and all before: the thread's events begin here, and all pending
    // requests began unseen. A part of it may have been stated in what was overwritten, too.
    void begins_on(EventWriter& out, const Calls& source, std::uint64_t time, const Record& r) {
        const auto gap = r.get<lp_gap>();
        tally_.ns_off = std::max(tally_.ns_off, ns_between(gap.since, r.head.enter));
        std::vector<lp_carried> carried = taken(out.thread);
        std::erase_if(carried, [](const lp_carried& c) { return c.logged == 0; });
        std::ranges::copy(source.thread().carried.at(off_[out.thread].times), std::back_inserter(carried));
        std::ranges::for_each(carried, [](lp_carried& c) { c.logged = 0; });
        switched_off(out, source, time);
        switched_on(out, source, time, gap, carried);
    }

    std::uint64_t ns_between(std::uint64_t from, std::uint64_t to) const {
        const std::uint64_t ticks = to_archive_ticks(job_, process_, to);
        return job_.ns(ticks - std::min(ticks, to_archive_ticks(job_, process_, from)));
    }

    // The pending requests of a thread in the ring's sum, once.
    std::vector<lp_carried> taken(std::uint32_t thread) {
        requests_.take_over(thread);
        const auto found = carried_.extract(thread);
        return found ? found.mapped() : std::vector<lp_carried>{};
    }

    void skipped(const lp_gap& gap) {
        tally_.off.calls += gap.calls;
        tally_.off.sends += gap.sends;
        tally_.off.receives += gap.receives;
        tally_.off.collectives += gap.collectives;
        tally_.off.transfers += gap.transfers;
        tally_.off.inexact += gap.inexact;
    }

    void leave_off(EventWriter& out, const Calls& source, std::uint64_t time, Off& off) {
        check(OTF2_EvtWriter_Leave(out.writer, nullptr, out.at(time), ids_.region(source, job_.off)), "Leave");
        off.is = false;
        tally_.ns_off = std::max(tally_.ns_off, job_.ns(time - std::min(time, off.since)));
    }

    // The call that the process ended in. Its duration is not known: it leaves where it enters, and says so.
    void open_call(EventWriter& out, const Calls& source, const lp_open& open) {
        Record r{};
        std::memcpy(&r.head, &open.what, sizeof open.what);
        r.head.enter = open.enter;
        const std::uint64_t enter = ids_.ticks(open.enter);
        const OTF2_RegionRef region = ids_.region(source, r.head.function);
        const OTF2_StringRef what = strings_(what_is_open(job_, process_, requests_, out.thread, open));
        thread_lives(out, source, enter);
        call_site(out, source.thread(), r);
        OTF2_AttributeList_AddStringRef(out.attributes, open_attribute, what);
        check(OTF2_EvtWriter_Enter(out.writer, out.attributes, out.at(enter), region), "Enter");
        check(OTF2_EvtWriter_Leave(out.writer, nullptr, out.at(enter), region), "Leave");
        ++tally_.open;
        tally_.last = std::max(tally_.last, to_global_ticks(job_, process_, open.enter));
    }

    // The writer's list with the calling context of a call; nullptr: it is not known.
    OTF2_AttributeList* call_site(EventWriter& out, const Thread& thread, const Record& r) {
        const Contexts::Site site = contexts_.of_call(process_, thread, r.stack(), r.head.function);
        tally_.cut_call_paths += site.cut ? 1U : 0U;
        tally_.unnamed_callers += site.unnamed ? 1U : 0U;
        if (site.context == OTF2_UNDEFINED_CALLING_CONTEXT) {
            return nullptr;
        }
        ++tally_.calls_with_site;
        OTF2_AttributeList_AddCallingContextRef(out.attributes, context_attribute, site.context);
        return out.attributes;  // the writer empties it
    }

    // What the call's parts state: requests that it started, tested and completed.
    void parts(EventWriter& out, const Calls& source, std::uint64_t enter, std::uint64_t leave) {
        for (const Record& part : source.parts()) {
            if (part.head.kind == LP_REPLACED) {
                requests_.replaced(part.get<std::uint64_t>(), part.get<std::uint64_t>(sizeof(std::uint64_t)));
                continue;
            }
            const std::size_t entry = part.head.kind == LP_DONE ? sizeof(lp_done) : sizeof(std::uint64_t);
            for (std::size_t at = 0; at + entry <= part.data_bytes; at += entry) {
                if (part.head.kind == LP_DONE) {
                    requests_.complete(out, leave, part.get<lp_done>(at));
                } else if (part.head.kind == LP_TESTED) {
                    requests_.tested(out, leave, part.get<std::uint64_t>(at));
                } else {
                    requests_.start_persistent(out, enter, part.get<std::uint64_t>(at));
                }
            }
        }
    }

    // The ranks of the group that a call named.
    static std::vector<std::uint64_t> ranks(const Calls& source) {
        std::vector<std::uint64_t> found;
        for (const Record& part : source.parts()) {
            for (std::size_t at = 0; part.head.kind == LP_RANKS && at + 8 <= part.data_bytes; at += 8) {
                found.push_back(part.get<std::uint64_t>(at));
            }
        }
        return found;
    }

    // The predefined communicators appear with what starts the library.
    void started(EventWriter& out, const Record& r, std::uint64_t enter, std::uint64_t leave) {
        const std::string& name = job_.functions[r.head.function].name;
        const bool starts = name.starts_with("MPI_Init") || name.starts_with("shmem_init") || name == "start_pes";
        if (starts && out.thread == 0 && !initialized_) {
            initialized_ = true;
            collectives_.predefined(out, enter, leave, true);
        }
    }

    // What was started without a record and may be completed here. Receives begin with the thread's first call; of
    // the rest the first half is gone.
    void take_over(EventWriter& out, std::uint64_t time, const std::vector<lp_carried>& carried) {
        for (const lp_carried& c : carried) {
            const Pending p = begun(ids_, c);
            if (carried_head(c).kind == LP_MPROBE) {
                messages_.probed(c.handle, p.message);
            } else if (only_made(c)) {
                requests_.make(c.handle, out.thread, p);
            } else {
                requests_.start(out, time, c.handle, p);
            }
        }
    }

    // Whether a call is a collective operation that failed here, and that the other members did.
    static bool counts(const Thread& thread, const Record& r) {
        if (failed_over(r) == 0) {
            return false;
        }
        const auto at = std::ranges::lower_bound(thread.failed, r.head.enter, {}, &Failed::enter);
        return at != thread.failed.end() && at->enter == r.head.enter && at->counts;
    }

    void failed(EventWriter& out, const Record& r, std::uint64_t enter, std::uint64_t leave) {
        const auto c = r.get<lp_collective>();
        if (job_.functions[r.head.function].operation == "-") {
            collectives_.comm_made(out, enter, leave, {c.comm, 0});  // as of a process that is no member of the new one
        } else {
            collectives_.blocking(out, enter, leave, c, ids_.operation(r.head.function));
        }
    }

    void body(EventWriter& out, const Calls& source, const Record& r, std::uint64_t enter, std::uint64_t leave) {
        using Kind = Pending::Kind;
        constexpr std::size_t after_message = sizeof(lp_message);
        const auto message = r.get<lp_message>();
        Pending p;
        p.message = message;
        switch (r.head.kind) {
            case LP_CALL:
                if (counts(source.thread(), r)) {
                    failed(out, r, enter, leave);
                    break;
                }
                started(out, r, enter, leave);
                parts(out, source, enter, leave);
                break;
            case LP_WAITED:
                requests_.complete(out, leave, r.get<lp_done>());
                break;
            case LP_LEVEL:
                ++tally_.levels;
                check(OTF2_EvtWriter_ParameterInt(out.writer, nullptr, out.at(enter), level_parameter,
                                                  r.get<std::int64_t>()),
                      "ParameterInt");
                break;
            case LP_FINALIZE:
                windows_.finalized(out, enter, leave);
                collectives_.predefined(out, enter, leave, false);
                break;
            case LP_SEND:
                messages_.send(out, enter, message);
                break;
            case LP_RECV:
                messages_.receive(out, leave, message);
                break;
            case LP_SENDRECV:
                messages_.send(out, enter, message);
                messages_.receive(out, leave, r.get<lp_message>(after_message));
                break;
            case LP_ISEND:
            case LP_IRECV:
                p.kind = r.head.kind == LP_ISEND ? Kind::send : Kind::receive;
                requests_.start(out, enter, r.get<std::uint64_t>(after_message), p);
                break;
            case LP_ISENDRECV:
                p.kind = Kind::both;
                p.second = r.get<lp_message>(after_message);
                requests_.start(out, enter, r.get<std::uint64_t>(2 * after_message), p);
                break;
            case LP_SEND_INIT:
            case LP_RECV_INIT:
                p.kind = r.head.kind == LP_SEND_INIT ? Kind::send : Kind::receive;
                requests_.make(r.get<std::uint64_t>(after_message), out.thread, p);
                break;
            case LP_MPROBE:
                messages_.probed(r.get<std::uint64_t>(after_message), message);
                break;
            case LP_MRECV: {
                const auto probed = messages_.matched(r.get<std::uint64_t>(after_message));
                p.message.comm = probed.comm;
                p.message.any_source = probed.any_source;
                messages_.receive(out, leave, p.message);
                break;
            }
            case LP_IMRECV:
                p.kind = Kind::receive;
                p.message = messages_.matched(r.get<std::uint64_t>(after_message + 8));
                p.message.layout = message.layout;
                requests_.start(out, enter, r.get<std::uint64_t>(after_message), p);
                break;
            case LP_REQUEST_FREE:
                requests_.freed(r.get<std::uint64_t>(), out.thread);
                break;
            case LP_COLL:
                p = collective_of(ids_, r);
                collectives_.blocking(out, enter, leave, p.collective, p.operation);
                break;
            case LP_ICOLL:
                requests_.start(out, enter, r.get<std::uint64_t>(sizeof(lp_collective)), collective_of(ids_, r));
                break;
            case LP_COLL_INIT:
                requests_.make(r.get<std::uint64_t>(sizeof(lp_collective)), out.thread, persistent_of(ids_, r));
                break;
            case LP_COMM_NEW:
                collectives_.comm_made(out, enter, leave, r.get<lp_comm_call>());
                break;
            case LP_COMM_IDUP:
                p = {};
                p.kind = Kind::idup;
                p.comm = r.get<lp_comm_call>();
                requests_.start(out, enter, r.get<std::uint64_t>(sizeof p.comm), p);
                break;
            case LP_RMA_NEW:
                started(out, r, enter, leave);
                windows_.made(out, enter, leave, r.get<lp_rma_call>());
                break;
            case LP_RMA_FREE:
                windows_.freed(out, enter, leave, r.get<lp_rma_call>());
                break;
            case LP_TRANSFER:
                p = {};
                p.access = r.get<lp_transfer>();
                p.kind = Kind::access;
                if ((p.access.flags & LP_TRANSFER_REQUEST) != 0) {
                    requests_.start(out, enter, p.access.request, p);
                } else if (const auto id = windows_.access(out, enter, p.access);
                           (p.access.flags & (LP_TRANSFER_BLOCKING | LP_TRANSFER_LOCAL)) != 0) {
                    windows_.done(out, leave, p.access, id);
                }
                break;
            case LP_SYNCHRONIZE:
                windows_.synchronize(out, enter, leave,
                                     {r.get<lp_synchronize>(), r.get<std::uint64_t>(sizeof(lp_synchronize))},
                                     ranks(source));
                break;
            case LP_RMA_COLL:
                windows_.collective(out, enter, leave, r.get<lp_rma_collective>(), ids_.operation(r.head.function));
                break;
            case LP_COMM_FREE:
                collectives_.comm_freed(out, enter, leave, r.get<lp_comm_call>());
                break;
            default:
                throw std::runtime_error(source.path() + ": record of unknown kind " + std::to_string(r.head.kind));
        }
    }

    OTF2_Archive* archive_;
    const Job& job_;
    Process& process_;
    Strings& strings_;
    Tally& tally_;
    Contexts& contexts_;
    ProcessIds ids_;
    Halves halves_;
    MessageEvents messages_;
    CollectiveEvents collectives_;
    WindowEvents windows_;
    RequestEvents requests_;
    std::map<std::uint32_t, std::vector<lp_carried>> carried_;  // by thread
    std::map<std::uint32_t, OpenRegions> regions_;              // by thread
    std::map<std::uint32_t, Off> off_;                          // by thread
    bool initialized_ = false;
};

}  // namespace

std::uint64_t write_nothing(OTF2_EvtWriter* writer, const Job& job) {
    std::uint64_t first = UINT64_MAX;
    for (const auto& process : job.processes) {
        for (const auto& thread : process->threads) {
            if (thread->calls != 0) {
                first = std::min(first, to_global_ticks(job, *process, thread->first));
            }
        }
    }
    check(OTF2_EvtWriter_MeasurementOnOff(writer, nullptr, first != UINT64_MAX ? first : 0, OTF2_MEASUREMENT_OFF),
          "MeasurementOnOff");
    return 1;
}

void write_events(OTF2_Archive* archive, const Job& job, Process& process, Strings& strings, Tally& tally,
                  Contexts& contexts, const Overwritten& overwritten, std::vector<LocationEvents>& locations) {
    ProcessEvents(archive, job, process, strings, tally, contexts, overwritten).run(locations);
}

}  // namespace logpost::assembler
