#pragma once

/// Rows of the table `calls`, in batches.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/native/cost/categories.hpp"
#include "replay/native/program/call_numbers.hpp"
#include "replay/native/program/program.hpp"
#include "replay/native/split/account.hpp"
#include "replay/native/split/packed_rows.hpp"

namespace logpost::replay {

/// Rows of the table `calls`, by column.
struct CallRows {
    std::vector<std::int32_t> call, location, region, callpath;
    std::vector<std::int64_t> enter, leave;
    std::array<std::vector<std::int64_t>, kCategories - 1> exposed;  // without compute; empty: 0 in every row

    [[nodiscard]] std::int64_t exposed_ps(std::size_t column, std::size_t row) const noexcept {
        return exposed[column].empty() ? 0 : exposed[column][row];
    }

    void resize(std::size_t n);
};

/// Successive locations of which rows of calls are requested.
struct CallBlock {
    std::size_t item;  // place among the accounted locations of the next one to be accounted
    std::size_t end;
    std::uint32_t call = 0;                 // of that one, the next
    std::unique_ptr<LocationAccount> open;  // of that one, from its first call on; null: accounted elsewhere
    PackedRows<Exposed>::Reader found;      // likewise
};

/// Blocks of about as many calls as a batch has rows: a location with more calls is a separate block. `calls`: how many
/// each accounted location has.
std::vector<CallBlock> call_blocks(const std::vector<std::size_t>& calls);

/// Exposed times before they enter the columns of `CallRows`, some rows at a time: most calls have time in few
/// categories, and a column in which no row has any is never made.
class ExposedRows {
  public:
    explicit ExposedRows(CallRows& rows) : rows_(rows) {}

    /// The next row.
    void put(const Exposed& exposed);
    /// Puts the rows that are still held into the columns.
    void flush();

  private:
    static constexpr std::size_t kColumns = kCategories - 1;
    static constexpr std::size_t kHeld = 128;

    CallRows& rows_;
    std::size_t row_ = 0;
    std::size_t held_ = 0;
    std::array<std::array<std::int64_t, kHeld>, kColumns> times_;  // NOLINT: written before it is read
    std::array<std::int64_t, kColumns> any_{};
};

/// How many rows the next batch of at most `limit` has, so that no batch is a small rest.
std::size_t rows_of_batch(const Program& program, const std::vector<std::size_t>& accounted, const CallBlock& block,
                          std::size_t limit);

/// Fills at most `limit` rows of a block; false when all were given. `open` and `close` begin and end the account of
/// the block's item.
template <class Open, class Close>
bool next_calls(const Program& program, const std::vector<std::size_t>& accounted, const CallNumbers& numbers,
                CallBlock& block, std::size_t limit, CallRows& rows, Open open, Close close) {
    if (block.item == block.end) {
        return false;
    }
    const auto count = rows_of_batch(program, accounted, block, limit);
    rows.resize(count);
    ExposedRows exposed(rows);
    std::size_t row = 0;
    while (block.item < block.end) {
        if (block.call == 0) {
            open(block);
        }
        const auto location = accounted[block.item];
        const auto& calls = program.timelines[location].calls;
        for (; row < count && block.call < calls.size(); ++row) {
            const auto c = block.call++;
            const auto& call = calls[c];
            exposed.put(block.open ? block.open->next() : block.found.next());
            rows.call[row] = numbers.of(location, c);
            rows.location[row] = static_cast<std::int32_t>(location);
            rows.region[row] = call.region;
            rows.callpath[row] = call.callpath;
            rows.enter[row] = call.enter_ps;
            rows.leave[row] = call.leave_ps;
        }
        if (block.call < calls.size()) {
            break;
        }
        close(block);
        ++block.item;
        block.call = 0;
    }
    exposed.flush();
    return true;
}

}  // namespace logpost::replay
