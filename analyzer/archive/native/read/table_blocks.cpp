#include "analyzer/archive/native/read/table_blocks.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/archive/native/read/block_files.hpp"
#include "analyzer/archive/native/read/split_blocks.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

using replay::index;
using replay::location_at;

constexpr std::size_t kPairs = 0;   // segments of `written-B`
constexpr std::size_t kTables = 1;  // the first of a table, in the order of `TableOfRows`
constexpr std::size_t kSegments = kTables + 2;

fs::path written_file(const Shards& shards, std::uint32_t part) {
    return file_of(shards, "written", part);
}

/// Where a part of n things begins. The first ones have one more than others: of few, the first part has all.
std::size_t begin_of(std::size_t n, std::uint32_t part, std::uint32_t parts) {
    return n / parts * part + std::min<std::size_t>(n % parts, part);
}

/// Pages of a mapped column leave the process's memory.
template <class T>
void release(const Column<T>& column) {
    if (!column.empty() && column.is_placed()) {
        release_mapped(&column[0], column.size() * sizeof(T));
    }
}

/// The receive behind so many matched ones.
std::uint32_t receive_behind(const replay::Timeline& timeline, std::uint64_t matched) {
    std::uint32_t receive = 0;
    for (; matched > 0 && receive < timeline.receives.size(); ++receive) {
        matched -= timeline.receives[receive].match == kNone ? 0 : 1;
    }
    return receive;
}

/// What blocks found of the messages to a part's locations; no row has what endpoints carried.
replay::MessageModel::Replayed found_of(const Shards& shards, const SegmentReader& chosen,
                                        const BlockProgram& program) {
    auto messages = found_messages(shards, chosen, program.outline(), program.program(), nullptr);
    for (auto& found : messages.found) {
        found.loads = {};
    }
    return messages;
}

}  // namespace

TablePart::Range TablePart::range(const Shards& shards, std::uint32_t part, std::size_t locations,
                                  std::size_t message_rows) {
    const auto counts = row_counts(shards, locations);
    Range range;
    std::vector<std::size_t> first(locations);
    std::vector<std::size_t> accounted;
    std::vector<std::size_t> calls_of;
    std::size_t calls = 0;
    std::uint64_t messages = 0;
    for (std::size_t location = 0; location < locations; ++location) {
        messages += counts[location].messages;
        if (counts[location].calls != kNone) {
            first[location] = calls;
            accounted.push_back(location);
            calls_of.push_back(counts[location].calls);
            calls += counts[location].calls;
        }
    }
    range.numbers = replay::CallNumbers(std::move(first));
    const auto batches = (messages + message_rows - 1) / message_rows;
    const auto from = begin_of(batches, part, shards.blocks);
    range.batches = begin_of(batches, part + 1, shards.blocks) - from;
    const auto begin = std::uint64_t{from} * message_rows;
    const auto end = std::min(messages, begin + std::uint64_t{range.batches} * message_rows);
    std::uint64_t before = 0;
    for (std::size_t location = 0; location < locations; ++location) {
        const auto after = before + counts[location].messages;
        if (before < end && after > begin) {
            if (range.locations.empty()) {
                range.first = location_at(location);
                range.skipped = begin > before ? begin - before : 0;
            }
            range.locations.push_back(location);
        }
        before = after;
    }
    auto blocks = replay::call_blocks(calls_of);
    for (auto block = begin_of(blocks.size(), part, shards.blocks);
         block < begin_of(blocks.size(), part + 1, shards.blocks); ++block) {
        for (auto item = blocks[block].item; item < blocks[block].end; ++item) {
            range.locations.push_back(accounted[item]);
        }
        range.blocks.push_back(std::move(blocks[block]));
    }
    std::ranges::sort(range.locations);
    const auto repeated = std::ranges::unique(range.locations);
    range.locations.erase(repeated.begin(), repeated.end());
    range.accounted = std::move(accounted);
    return range;
}

TablePart::TablePart(const Shards& shards, std::uint32_t part, std::size_t message_rows, const SegmentReader& chosen,
                     Outline outline, Range range)
    : shards_(shards),
      part_(part),
      message_rows_(message_rows),
      range_(std::move(range)),
      program_(shards_, chosen, std::move(outline), range_.locations),
      found_(found_of(shards_, chosen, program_)),
      model_(program_.program(), program_.setting().parameters, program_.setting().windows, {}, 1, found_),
      messages_(model_, range_.numbers,
                {range_.first, receive_behind(program_.program().timelines[index(range_.first)], range_.skipped)}),
      calls_(program_.program().timelines.size()) {
    const auto& at = program_.outline();
    std::unique_ptr<SegmentReader> accounted;
    for (const auto& block : range_.blocks) {
        for (auto item = block.item; item < block.end; ++item) {
            const auto location = range_.accounted[item];
            const auto file = accounted_file(shards_, at.block_of[location]);
            if (!accounted || accounted->file() != file) {
                accounted = std::make_unique<SegmentReader>(file, shards_.split);
                account_files_.push_back(accounted->map());
            }
            calls_[location] = found_calls(*accounted, at.segment_of[location]);
        }
    }
}

std::unique_ptr<TablePart> TablePart::begin(const Shards& shards, std::uint32_t part, std::size_t message_rows) {
    if (SegmentReader::whole(written_file(shards, part), shards.split, shards.progress)) {
        return nullptr;
    }
    const SegmentReader chosen(file_of(shards, "chosen", 0), shards.split);
    auto outline = Outline::get(chosen.segment(kProgram));
    auto rows = range(shards, part, outline.block_of.size(), message_rows);
    // Constructed here: the constructor is private.
    return std::unique_ptr<TablePart>(
        new TablePart(shards, part, message_rows, chosen, std::move(outline), std::move(rows)));
}

bool TablePart::next_messages(replay::MessageRows& rows) {
    if (range_.batches == 0) {
        return false;
    }
    --range_.batches;
    progressed(shards_);
    return messages_.next(message_rows_, 1, rows, [this](std::size_t location) {
        const auto& timeline = program_.program().timelines[location];
        release_mapped(found_.found[location].records.data(), found_.found[location].records.size_bytes());
        release_mapped(found_.found[location].processor.data(), found_.found[location].processor.size_bytes());
        release(timeline.sends);
        release(timeline.receives);
    });
}

bool TablePart::next_calls(std::size_t limit, replay::CallRows& rows) {
    progressed(shards_);
    for (; block_ < range_.blocks.size(); ++block_) {
        const auto given = replay::next_calls(
            program_.program(), range_.accounted, range_.numbers, range_.blocks[block_], limit, rows,
            [this](replay::CallBlock& block) {
                block.found = replay::PackedRows<replay::Exposed>::Reader(calls_[range_.accounted[block.item]]);
            },
            [this](const replay::CallBlock& block) {
                const auto location = range_.accounted[block.item];
                release_mapped(calls_[location].data(), calls_[location].size_bytes());
                release(program_.program().timelines[location].calls);
            });
        if (given) {
            return true;
        }
    }
    return false;
}

void TablePart::finish(const Table& messages, const Table& calls) const {
    SegmentWriter writer(written_file(shards_, part_), shards_.split, kSegments, name_of(part_, shards_),
                         shards_.progress);
    SegmentBytes sums;
    for (const auto location : range_.locations) {
        if (const auto& pairs = messages_.pairs()[location]; !pairs.empty()) {
            sums.put(location_at(location));
            sums.put_all(pairs);
        }
    }
    writer.add(sums);
    for (const auto* table : {&messages, &calls}) {
        SegmentBytes bytes;
        bytes.put_text(table->said);
        bytes.put_mapped(std::span(table->rows));
        writer.add(bytes);
    }
    writer.finish();
}

WrittenTable written_table(const Shards& shards, std::uint32_t part, TableOfRows table) {
    SegmentReader written(written_file(shards, part), shards.split);
    WrittenTable found;
    found.file = written.map();
    SegmentView in(written.mapped(kTables + static_cast<std::size_t>(table)), written.file().string());
    found.said = in.get_text();
    in.get_mapped(found.rows);
    return found;
}

bool tables_are_written(const Shards& shards) {
    return Outline::get(SegmentReader(file_of(shards, "chosen", 0), shards.split).segment(kProgram)).accounted;
}

std::vector<std::vector<replay::PairSum>> found_pairs(const Shards& shards, std::size_t locations) {
    std::vector<std::vector<replay::PairSum>> all(locations);
    for (std::uint32_t part = 0; part < shards.blocks; ++part) {
        auto in = SegmentReader(written_file(shards, part), shards.split).segment(kPairs);
        std::vector<replay::PairSum> pairs;
        while (!in.at_end()) {
            const auto location = index(in.get<replay::Location>());
            in.get_all(pairs);
            if (location >= locations) {
                do_not_fit(shards);
            }
            replay::add_pairs(all[location], pairs);
        }
    }
    return all;
}

}  // namespace logpost::analyzer
