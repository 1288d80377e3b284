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

#include "analyzer/archive/native/read/block_files.hpp"
#include "analyzer/archive/native/read/chosen_file.hpp"
#include "analyzer/archive/native/read/operation_blocks.hpp"
#include "analyzer/archive/native/read/program.hpp"
#include "analyzer/archive/native/read/segment_file.hpp"
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

/// A block's locations, and those of other blocks that its messages lead to.
class BlockProgram {
  public:
    BlockProgram(const Shards& shards, std::uint32_t block, const SegmentReader& chosen, Outline outline)
        : shards_(shards), outline_(std::move(outline)), setting_(Setting::get(chosen.segment(kSetting))) {
        const auto n = outline_.block_of.size();
        program_.kinds = outline_.kinds;
        program_.layouts = outline_.layouts;
        program_.placement = setting_.placement;
        program_.timelines.resize(n);
        auto mine = chosen.segment(kOfSplitBlocks + block);
        split_.nics.resize(mine.get<std::uint64_t>());
        for (auto& nic : split_.nics) {
            mine.get_all(nic);
        }
        std::vector<std::vector<NicUse>> uses(n);
        take_uses(shards, block, uses);
        uses_.memory = std::make_unique<replay::Arena>();
        uses_.of.resize(n);
        for (std::size_t location = 0; location < n; ++location) {
            if (outline_.block_of[location] == block) {
                split_.locations.push_back(location);
                uses_.of[location] = uses_.memory->copy(uses[location]);
                map(location);
            }
        }
        // The partners of its messages; and theirs, whose receives decide what else its partners' calls work for.
        const auto own = split_.locations;
        const auto partners = map_partners(own, true);
        map_partners(partners, false);
        split_.sent.resize(n);
        for (const auto location : own) {
            program_.timelines[location].sends.for_each([&](std::size_t, const MessageEnd& send) {
                if (send.match != kNone && block_of(send.peer) != block) {
                    split_.sent[index(send.peer)].push_back(send.match);
                }
            });
        }
        for (auto& sent : split_.sent) {
            std::ranges::sort(sent);
        }
    }

    /// Its messages. May be called once.
    [[nodiscard]] MessageModel model(bool asynchronous_progress) {
        auto parameters = setting_.parameters;
        parameters.asynchronous_progress = parameters.asynchronous_progress || asynchronous_progress;
        return {program_, parameters, setting_.windows, std::move(uses_), std::move(split_)};
    }
    [[nodiscard]] bool asynchronous_progress() const noexcept { return setting_.parameters.asynchronous_progress; }
    [[nodiscard]] const Program& program() const noexcept { return program_; }
    [[nodiscard]] const std::vector<std::uint32_t>& blocks() const noexcept { return outline_.block_of; }
    [[nodiscard]] std::uint32_t block_of(replay::Location location) const noexcept {
        return outline_.block_of[index(location)];
    }

  private:
    void map(std::size_t location) {
        const auto block = outline_.block_of[location];
        if (block >= shards_.blocks) {
            do_not_fit(shards_);
        }
        if (!joined_ || open_ != block) {  // one at a time: a process may not have a file of every block open
            joined_ = std::make_unique<SegmentReader>(file_of(shards_, "joined", block), shards_.plan);
            files_.push_back(joined_->map());
            open_ = block;
        }
        Sums sums;
        auto stored = get_joined({joined_->mapped(outline_.segment_of[location]), joined_->file().string()}, sums);
        if (index(stored.location) != location) {
            do_not_fit(shards_);
        }
        program_.timelines[location] = std::move(static_cast<replay::Timeline&>(stored.trace));
        progressed(shards_);
    }

    /// Maps the locations that messages of these go to, and come from; returns those that were not yet mapped.
    std::vector<std::size_t> map_partners(const std::vector<std::size_t>& of, bool received) {
        std::vector<std::uint8_t> known(program_.timelines.size());
        std::vector<std::size_t> found;
        for (const auto location : known_) {
            known[location] = 1;
        }
        for (const auto location : split_.locations) {
            known[location] = 1;
        }
        const auto meet = [&](std::size_t, const MessageEnd& end) {
            if (end.match != kNone && known[index(end.peer)] == 0) {
                known[index(end.peer)] = 1;
                found.push_back(index(end.peer));
            }
        };
        for (const auto location : of) {
            program_.timelines[location].sends.for_each(meet);
            if (received) {
                program_.timelines[location].receives.for_each(meet);
            }
        }
        std::ranges::sort(found);
        for (const auto location : found) {
            map(location);
        }
        known_.insert(known_.end(), found.begin(), found.end());
        return found;
    }

    const Shards& shards_;
    Outline outline_;
    Setting setting_;
    std::unique_ptr<SegmentReader> joined_;           // of the block whose location was mapped last
    std::uint32_t open_ = 0;                          // that block
    std::vector<std::shared_ptr<const void>> files_;  // mapped
    std::vector<std::size_t> known_;                  // locations of other blocks that are mapped
    Program program_;
    SplitBlock split_;
    NicUses uses_;
};

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
    std::vector<std::size_t> locations;
    for (std::size_t location = 0; location < program.blocks().size(); ++location) {
        if (program.blocks()[location] == block) {
            locations.push_back(location);
        }
    }
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
    RoundEnd end{.asynchronous_progress = program.asynchronous_progress() || start.asynchronous_progress};
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

std::shared_ptr<replay::ReplayedBlocks> replayed_blocks(const Trace& trace, const Shards& shards) {
    const SegmentReader chosen(file_of(shards, "chosen", 0), shards.split);
    if (!trace.mapped || !Outline::get(chosen.segment(kProgram)).divided) {
        return nullptr;
    }
    auto all = std::make_shared<replay::ReplayedBlocks>();
    auto* const blocks = &all->messages;
    blocks->found.resize(trace.program.timelines.size());
    blocks->totals.asynchronous_progress = Setting::get(chosen.segment(kSetting)).parameters.asynchronous_progress;
    blocks->files.push_back(trace.mapped);
    for (std::uint32_t block = 0; block < shards.blocks; ++block) {
        SegmentReader split(file_of(shards, "split", block), shards.split);
        blocks->files.push_back(split.map());
        blocks->totals.add(split.segment(kTotals).get<MessageModel::Totals>());
        for (std::size_t i = kSplitLocations; i < split.segments(); ++i) {
            SegmentView in(trace.mapped->keep(split.mapped(i)), split.file().string());
            const auto location = index(in.get<replay::Location>());
            if (location >= blocks->found.size()) {
                do_not_fit(shards);
            }
            auto& found = blocks->found[location];
            for_each_found(found, [&](auto& column) { in.get_mapped(column); });
            if (found.records.size() != trace.program.timelines[location].receives.size()) {
                do_not_fit(shards);
            }
        }
    }
    std::vector<replay::CollectiveKind> kinds;
    chosen.segment(kKinds).get_all(kinds);
    all->operations = replayed_operations(shards, trace.program, std::move(kinds), blocks->files);
    return all;
}

}  // namespace logpost::analyzer
