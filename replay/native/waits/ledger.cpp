#include "replay/native/waits/ledger.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace logpost::replay {
namespace {

constexpr std::size_t kFewEntries = 16;

/// Where an entry is looked for first, of a power of two: the product's upper bits depend on all of the key's.
std::size_t first_of(std::uint64_t key, std::size_t entries) noexcept {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> 32U) & (entries - 1);
}

}  // namespace

Ledger::Sum& Ledger::at(std::size_t location, std::uint32_t place, WaitKind kind, std::int32_t wait_callpath) {
    auto& book = books_[location];
    if (4 * (book.taken + 1) > 3 * book.entries.size()) {
        grow(book);
    }
    const auto key = (static_cast<std::uint64_t>(place * kWaitKinds + static_cast<std::size_t>(kind)) << 32U) |
                     static_cast<std::uint32_t>(wait_callpath);
    for (auto i = first_of(key, book.entries.size());; i = (i + 1) & (book.entries.size() - 1)) {
        auto& entry = book.entries[i];
        if (entry.key == kFree) {
            entry.key = key;
            ++book.taken;
        }
        if (entry.key == key) {
            return entry.sum;
        }
    }
}

void Ledger::grow(Book& book) {
    const auto before = std::exchange(book.entries, std::vector<Entry>(std::max(kFewEntries, 2 * book.entries.size())));
    for (const auto& entry : before) {
        if (entry.key == kFree) {
            continue;
        }
        auto i = first_of(entry.key, book.entries.size());
        while (book.entries[i].key != kFree) {
            i = (i + 1) & (book.entries.size() - 1);
        }
        book.entries[i] = entry;
    }
}

std::vector<DelayCost> Ledger::rows(const std::array<WidePs, kWaitKinds>& waits) const {
    std::vector<DelayCost> result;
    auto left = waits;
    for (std::size_t location = 0; location < books_.size(); ++location) {
        const auto begin = result.size();
        for (const auto& [key, sum] : books_[location].entries) {
            if (key == kFree) {
                continue;
            }
            const auto code = static_cast<std::uint32_t>(key >> 32U);
            DelayCost row{location_at(location),
                          CodePlace::of(code / kWaitKinds),
                          static_cast<std::int32_t>(static_cast<std::uint32_t>(key)),
                          static_cast<WaitKind>(code % kWaitKinds),
                          static_cast<WidePs>(sum.short_term),
                          static_cast<WidePs>(sum.long_term)};
            if (row.short_term_ps > 0 || row.long_term_ps > 0) {
                result.push_back(row);
            }
        }
        std::ranges::sort(
            result.begin() + static_cast<std::ptrdiff_t>(begin), result.end(), {},
            [](const DelayCost& row) { return std::tuple(row.place.code(), row.wait_callpath, row.kind); });
    }
    for (auto& row : result) {
        auto& of = left[static_cast<std::size_t>(row.kind)];
        // The last digits of long sums may exceed what there is to share.
        row.short_term_ps = std::min(row.short_term_ps, of);
        of -= row.short_term_ps;
        row.long_term_ps = std::min(row.long_term_ps, of);
        of -= row.long_term_ps;
    }
    for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
        if (left[kind] > 0) {
            result.push_back(
                {kNoLocation, {kUndefined, false}, kUndefined, static_cast<WaitKind>(kind), left[kind], 0});
        }
    }
    return result;
}

}  // namespace logpost::replay
