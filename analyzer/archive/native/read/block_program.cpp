#include "analyzer/archive/native/read/block_program.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/archive/native/read/block_files.hpp"
#include "analyzer/archive/native/read/operation_blocks.hpp"
#include "replay/native/split/nic_use.hpp"

namespace logpost::analyzer {

using replay::index;

BlockProgram::BlockProgram(const Shards& shards, const SegmentReader& chosen, Outline outline)
    : shards_(shards),
      outline_(std::move(outline)),
      setting_(Setting::get(chosen.segment(kSetting))),
      known_(outline_.block_of.size()) {
    program_.kinds = outline_.kinds;
    program_.layouts = outline_.layouts;
    program_.placement = setting_.placement;
    program_.timelines.resize(outline_.block_of.size());
}

BlockProgram::BlockProgram(const Shards& shards, std::uint32_t block, const SegmentReader& chosen, Outline outline)
    : BlockProgram(shards, chosen, std::move(outline)) {
    block_ = block;
    auto mine = chosen.segment(kOfSplitBlocks + block);
    nics_.resize(mine.get<std::uint64_t>());
    for (auto& nic : nics_) {
        mine.get_all(nic);
    }
    for (std::size_t location = 0; location < outline_.block_of.size(); ++location) {
        if (outline_.block_of[location] == block) {
            locations_.push_back(location);
            map(location);
        }
    }
    partners_ = map_partners(locations_, Partners::both);
    map_shapes();
}

BlockProgram::BlockProgram(const Shards& shards, const SegmentReader& chosen, Outline outline,
                           std::vector<std::size_t> locations)
    : BlockProgram(shards, chosen, std::move(outline)) {
    locations_ = std::move(locations);
    for (const auto location : locations_) {
        map(location);
    }
    partners_ = map_partners(locations_, Partners::senders);
    map_shapes();
}

void BlockProgram::map_shapes() {
    if (!outline_.layouts.empty()) {
        map_further();
    }
}

replay::MessageModel BlockProgram::model(bool asynchronous_progress) {
    map_further();
    const auto n = program_.timelines.size();
    std::vector<std::vector<replay::NicUse>> found(n);
    take_uses(shards_, block_, found);
    replay::NicUses uses{std::make_unique<replay::Arena>(), {}};
    uses.of.resize(n);
    replay::SplitBlock split{locations_, {}, std::move(nics_)};
    split.sent.resize(n);
    for (const auto location : locations_) {
        uses.of[location] = uses.memory->copy(found[location]);
        program_.timelines[location].sends.for_each([&](std::size_t, const MessageEnd& send) {
            if (send.match != kNone && block_of(send.peer) != block_) {
                split.sent[index(send.peer)].push_back(send.match);
            }
        });
    }
    for (auto& sent : split.sent) {
        std::ranges::sort(sent);
    }
    auto parameters = setting_.parameters;
    parameters.asynchronous_progress = parameters.asynchronous_progress || asynchronous_progress;
    return {program_, parameters, setting_.windows, std::move(uses), std::move(split)};
}

void BlockProgram::map(std::size_t location) {
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
    known_[location] = 1;
    progressed(shards_);
}

/// Maps the locations that receive messages of these, or send them some; returns those that were not yet mapped.
std::vector<std::size_t> BlockProgram::map_partners(const std::vector<std::size_t>& of, Partners which) {
    std::vector<std::size_t> found;
    const auto meet = [&](std::size_t, const MessageEnd& end) {
        if (end.match != kNone && known_[index(end.peer)] == 0) {
            known_[index(end.peer)] = 1;
            found.push_back(index(end.peer));
        }
    };
    for (const auto location : of) {
        if (which != Partners::senders) {
            program_.timelines[location].sends.for_each(meet);
        }
        if (which != Partners::receivers) {
            program_.timelines[location].receives.for_each(meet);
        }
    }
    std::ranges::sort(found);
    for (const auto location : found) {
        map(location);
    }
    return found;
}

}  // namespace logpost::analyzer
