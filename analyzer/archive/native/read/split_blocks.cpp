#include "analyzer/archive/native/read/split_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/archive/native/read/account_blocks.hpp"
#include "analyzer/archive/native/read/block_files.hpp"
#include "analyzer/archive/native/read/block_program.hpp"
#include "analyzer/archive/native/read/chosen_file.hpp"
#include "analyzer/archive/native/read/operation_blocks.hpp"
#include "analyzer/archive/native/read/program.hpp"
#include "analyzer/archive/native/read/segment_file.hpp"
#include "analyzer/archive/native/read/table_blocks.hpp"
#include "analyzer/archive/native/trace/otf2_errors.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/program/windows.hpp"
#include "replay/native/servers/endpoints.hpp"
#include "replay/native/split/analysis.hpp"
#include "replay/native/split/collective_split.hpp"
#include "replay/native/split/nic_use.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

using replay::index;
using replay::location_at;
using replay::MessageModel;
using replay::MessageWait;
using replay::NicUse;
using replay::NicUses;
using replay::Parameters;
using replay::Program;
using replay::SplitBlock;

constexpr std::size_t kTotals = 0;  // segments of `split-B`
constexpr std::size_t kSplitLocations = 1;

using Nics = std::vector<std::vector<std::size_t>>;

/// Whether accounts need of other blocks more than records of messages: a one-sided transfer depends on its target and
/// on the rank that held the lock before, and contention in a known network on all messages.
bool depend_on_all(const Program& program, const Parameters& parameters) {
    return (parameters.links_queue && program.network.known()) ||
           std::ranges::any_of(program.timelines, [](const replay::Timeline& timeline) {
               return !timeline.transfers.empty() || !timeline.epochs.empty();
           });
}

/// Whether messages between nodes meet at a NIC that is shared by locations of several blocks.
bool share_nics(const Program& program, const Nics& nics, const std::vector<std::uint32_t>& block_of) {
    const auto shared = std::ranges::any_of(nics, [&](const auto& nic) {
        return std::ranges::any_of(nic,
                                   [&](std::size_t location) { return block_of[location] != block_of[nic.front()]; });
    });
    for (std::size_t location = 0; shared && location < program.timelines.size(); ++location) {
        bool leaves = false;
        program.timelines[location].sends.for_each([&](std::size_t, const MessageEnd& send) {
            leaves = leaves || (send.match != kNone && program.placement.between(location_at(location), send.peer) ==
                                                           replay::Locality::other_node);
        });
        if (leaves) {
            return true;
        }
    }
    return false;
}

/// A block's part of `chosen-0`.
SegmentBytes put_block(const Outline& outline, std::uint32_t block, const Nics& nics) {
    SegmentBytes bytes;
    Nics mine;
    std::ranges::copy_if(nics, std::back_inserter(mine),
                         [&](const auto& nic) { return outline.block_of[nic.front()] == block; });
    bytes.put(std::uint64_t{mine.size()});
    for (const auto& nic : mine) {
        bytes.put_all(nic);
    }
    return bytes;
}

constexpr std::tuple kWaitFields{&MessageWait::location, &MessageWait::receive, &MessageWait::wait_ps,
                                 &MessageWait::server};

/// How a round ended, as each block says.
struct RoundEnd {
    bool last = false;                   // the blocks are split
    bool changed = false;                // a handshake waited otherwise than was assumed
    bool asynchronous_progress = false;  // stated, or seen in the trace
};

fs::path left_file(const Shards& shards, int round, std::uint32_t block) {
    return file_of(shards, ("left" + std::to_string(round)).c_str(), block);
}
fs::path replied_file(const Shards& shards, int round, std::uint32_t block) {
    return file_of(shards, ("replied" + std::to_string(round)).c_str(), block);
}

/// Writes waits to the segments of the blocks that need them, each with `first` before them.
class Exchange {
  public:
    Exchange(const Shards& shards, const auto& first) : shards_(shards), out_(shards.blocks), before_(shards.blocks) {
        for (auto& segment : out_) {
            segment.put(first);
        }
    }
    void put(std::uint32_t block, const MessageWait& wait) {
        put_record(out_[block], kWaitFields, wait, before_[block]);
    }
    void write(const fs::path& file, std::uint32_t block) const {
        SegmentWriter writer(file, shards_.split, out_.size(), name_of(block, shards_), shards_.progress);
        for (const auto& segment : out_) {
            writer.add(segment);
        }
        writer.finish();
    }

  private:
    const Shards& shards_;
    std::vector<SegmentBytes> out_;
    std::vector<MessageWait> before_;
};

/// Reads a block's segment of a file: what is before the waits, and into the model these.
template <class First>
First take_segment(const Shards& shards, const fs::path& file, std::uint32_t block, MessageModel* model) {
    auto segment = SegmentReader(file, shards.split).segment(block);
    const auto first = segment.get<First>();
    for (MessageWait wait; model != nullptr && !segment.at_end();) {
        get_record(segment, kWaitFields, wait);
        if (!model->take(wait)) {
            do_not_fit(shards);
        }
    }
    progressed(shards);
    return first;
}

/// How the round before ended, by what all blocks say to this one; and into the model the waits that it needs.
RoundEnd before(const Shards& shards, int round, std::uint32_t block, MessageModel* model) {
    RoundEnd end;
    for (std::uint32_t other = 0; round > 1 && other < shards.blocks; ++other) {
        const auto one = take_segment<RoundEnd>(shards, replied_file(shards, round - 1, other), block, model);
        end.changed = end.changed || one.changed;
        end.asynchronous_progress = end.asynchronous_progress || one.asynchronous_progress;
    }
    return end;
}

/// Whether an earlier round was the last one of a block.
bool is_split(const Shards& shards, int round, std::uint32_t block) {
    if (round == 1) {
        return false;
    }
    try {
        const SegmentReader head(file_of(shards, "split", block), shards.split);
        return true;
    } catch (const ArchiveError&) {
        return false;
    }
}

/// What the blocks find of a location's messages, in the order of the file.
template <class Found, class Each>
void for_each_found(Found& found, Each each) {
    each(found.records);
    each(found.processor);
    each(found.rendezvous);
    each(found.stages);
    each(found.loads);
    each(found.late_replies);
}

void write_split(const Shards& shards, std::uint32_t block, const BlockProgram& program, MessageModel& model) {
    const auto& locations = program.locations();
    SegmentWriter writer(file_of(shards, "split", block), shards.split, kSplitLocations + locations.size(),
                         name_of(block, shards), shards.progress);
    SegmentBytes totals;
    totals.put(model.totals());
    writer.add(totals);
    for (const auto location : locations) {
        SegmentBytes bytes;
        const auto found = model.found(location);
        bytes.put(location_at(location));
        for_each_found(found, [&](const auto& column) { bytes.put_mapped(column); });
        writer.add(bytes);
    }
    writer.finish();
}

/// A block at the begin of a round.
struct Begun {
    Begun(const Shards& shards, int round, std::uint32_t block, const SegmentReader& chosen, Outline outline)
        : start(before(shards, round, block, nullptr)),
          program(shards, block, chosen, std::move(outline)),
          model(program.model(start.asynchronous_progress)) {}

    RoundEnd start;
    BlockProgram program;
    MessageModel model;
};

/// Null where the blocks do not replay their messages.
std::unique_ptr<Begun> begin(const Shards& shards, int round, std::uint32_t block) {
    const SegmentReader chosen(file_of(shards, "chosen", 0), shards.split);
    auto outline = Outline::get(chosen.segment(kProgram));
    return outline.divided ? std::make_unique<Begun>(shards, round, block, chosen, std::move(outline)) : nullptr;
}

}  // namespace

bool is_chosen(const Shards& shards) {
    return SegmentReader::whole(file_of(shards, "chosen", 0), shards.split, shards.progress);
}

Trace map_blocks(const fs::path& archive, const Shards& shards) {
    const Otf2Errors errors;
    take_otf2_errors();
    auto trace = gather(archive, shards, {.threads = 1, .events_read = shards.progress}, false);
    take_program(trace);
    return trace;
}

void choose_split(const Trace& trace, const Parameters& parameters, const std::string& machine, const Shards& shards) {
    const auto& program = trace.program;
    Outline outline;
    outline.kinds = program.kinds;
    outline.layouts = program.layouts;
    outline.block_of.assign(program.timelines.size(), Outline::kNowhere);
    outline.segment_of = outline.block_of;
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        const auto common = Common::get(SegmentReader(file_of(shards, "decoded", block), shards.plan).segment(kCommon));
        for (std::size_t i = 0; i < common.locations.size(); ++i) {
            outline.block_of[index(common.locations[i])] = block;
            outline.segment_of[index(common.locations[i])] = static_cast<std::uint32_t>(i);
        }
        progressed(shards);
    }
    const auto nics = replay::endpoint_groups(program, parameters.nics_per_node);
    outline.divided = !share_nics(program, nics, outline.block_of);
    outline.accounted = outline.divided && !depend_on_all(program, parameters);
    progressed(shards);
    SegmentBytes kinds;
    if (outline.divided) {
        kinds.put_all(choose_kinds(shards, program, parameters));
        progressed(shards);
    }
    SegmentWriter writer(file_of(shards, "chosen", 0), shards.split, kOfSplitBlocks + shards.blocks,
                         "what all blocks have in common", shards.progress);
    writer.add(Setting{parameters, program.placement, replay::windows_of(program)}.put());
    writer.add(outline.put());
    SegmentBytes said;
    said.put_text(machine);
    writer.add(said);
    writer.add(kinds);
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        writer.add(outline.divided ? put_block(outline, block, nics) : SegmentBytes());
    }
    writer.finish();
}

bool operate_block(const fs::path& archive, const Shards& shards, std::uint32_t block) {
    if (has_operated(shards, block)) {
        return false;
    }
    const SegmentReader chosen(file_of(shards, "chosen", 0), shards.split);
    const auto outline = Outline::get(chosen.segment(kProgram));
    if (outline.divided) {
        const auto setting = Setting::get(chosen.segment(kSetting));
        std::vector<replay::CollectiveKind> kinds;
        chosen.segment(kKinds).get_all(kinds);
        operate_block(archive, shards, block, setting.parameters, setting.placement, std::move(kinds),
                      outline.block_of);
    }
    return true;
}

bool leave_block(const Shards& shards, int round, std::uint32_t block) {
    const auto file = left_file(shards, round, block);
    if (SegmentReader::whole(file, shards.split, shards.progress)) {
        return false;
    }
    const auto begun = is_split(shards, round, block) ? nullptr : begin(shards, round, block);
    if (begun == nullptr) {
        return true;
    }
    auto& model = begun->model;
    before(shards, round, block, &model);
    model.leave();
    Exchange exchange(shards, model.attendance());
    for (const auto& wait : model.left()) {
        exchange.put(begun->program.block_of(wait.location), wait);
    }
    exchange.write(file, block);
    return true;
}

bool reply_block(const Shards& shards, int round, std::uint32_t block) {
    const auto file = replied_file(shards, round, block);
    if (SegmentReader::whole(file, shards.split, shards.progress)) {
        if (!take_segment<RoundEnd>(shards, file, block, nullptr).last ||
            SegmentReader::whole(file_of(shards, "split", block), shards.split, shards.progress)) {
            return false;
        }
    } else if (is_split(shards, round, block)) {
        return true;
    }
    const auto begun = begin(shards, round, block);
    if (begun == nullptr) {
        return true;
    }
    const auto& start = begun->start;
    const auto& program = begun->program;
    auto& model = begun->model;
    const auto attendance_of = [&](MessageModel* into) {
        auto all = model.attendance();
        for (std::uint32_t other = 0; other < shards.blocks; ++other) {
            if (other != block) {
                all.add(take_segment<MessageModel::Attendance>(shards, left_file(shards, round, other), block, into));
            }
        }
        return all;
    };
    const auto attendance = attendance_of(nullptr);
    RoundEnd end{.asynchronous_progress =
                     program.setting().parameters.asynchronous_progress || start.asynchronous_progress};
    if (!end.asynchronous_progress && attendance.shows_progress()) {
        // What was assumed of handshakes is wrong: the next round is the first.
        end.changed = end.asynchronous_progress = true;
        Exchange(shards, end).write(file, block);
        return true;
    }
    before(shards, round, block, &model);
    model.leave();
    attendance_of(&model);
    end.changed = model.arrive();
    // A round that begins as the one before ended finds the same again.
    end.last = end.asynchronous_progress || attendance.handshakes == 0 || round == MessageModel::kRounds ||
               (round > 1 && !start.changed);
    Exchange exchange(shards, end);
    for (const auto& wait : end.last ? std::vector<MessageWait>{} : model.replied()) {
        const auto& received = program.program().timelines[index(wait.location)].receives[wait.receive];
        const auto ends = std::pair(program.block_of(wait.location), program.block_of(received.peer));
        exchange.put(ends.first, wait);
        if (ends.second != ends.first) {
            exchange.put(ends.second, wait);
        }
    }
    exchange.write(file, block);
    if (end.last) {
        write_split(shards, block, program, model);
    }
    return true;
}

std::string chosen_machine(const Shards& shards) {
    return SegmentReader(file_of(shards, "chosen", 0), shards.split).segment(kMachine).get_text();
}

MessageModel::Replayed found_messages(const Shards& shards, const SegmentReader& chosen, const Outline& outline,
                                      const Program& program, MappedColumns* columns) {
    MessageModel::Replayed all;
    all.found.resize(program.timelines.size());
    all.totals.asynchronous_progress = Setting::get(chosen.segment(kSetting)).parameters.asynchronous_progress;
    std::vector<std::vector<std::size_t>> wanted(shards.blocks);
    for (std::size_t location = 0; location < program.timelines.size(); ++location) {
        if (outline.block_of[location] < shards.blocks && !program.timelines[location].calls.empty()) {
            wanted[outline.block_of[location]].push_back(location);
        }
    }
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        SegmentReader split(file_of(shards, "split", block), shards.split);
        all.totals.add(split.segment(kTotals).get<MessageModel::Totals>());
        if (!wanted[block].empty()) {
            all.files.push_back(split.map());
        }
        for (const auto location : wanted[block]) {
            const auto bytes = split.mapped(kSplitLocations + outline.segment_of[location]);
            SegmentView in(columns != nullptr ? columns->keep(bytes) : bytes, split.file().string());
            if (index(in.get<replay::Location>()) != location) {
                do_not_fit(shards);
            }
            auto& found = all.found[location];
            for_each_found(found, [&](auto& column) { in.get_mapped(column); });
            if (found.records.size() != program.timelines[location].receives.size()) {
                do_not_fit(shards);
            }
        }
        progressed(shards);
    }
    return all;
}

std::shared_ptr<replay::ReplayedBlocks> replayed_blocks(const Trace& trace, const Shards& shards) {
    const SegmentReader chosen(file_of(shards, "chosen", 0), shards.split);
    if (!trace.mapped) {
        return nullptr;
    }
    const auto outline = Outline::get(chosen.segment(kProgram));
    if (!outline.divided) {
        return nullptr;
    }
    auto all = std::make_shared<replay::ReplayedBlocks>();
    all->messages = found_messages(shards, chosen, outline, trace.program, trace.mapped.get());
    all->messages.files.push_back(trace.mapped);
    std::vector<replay::CollectiveKind> kinds;
    chosen.segment(kKinds).get_all(kinds);
    all->operations =
        replayed_operations(shards, trace.program, std::move(kinds), outline.block_of, all->messages.files);
    if (outline.accounted) {
        all->accounts = found_accounts(shards, outline, trace, all->account_files);
        all->pairs = found_pairs(shards, trace.program.timelines.size());
    }
    return all;
}

}  // namespace logpost::analyzer
