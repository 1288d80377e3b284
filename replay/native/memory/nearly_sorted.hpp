#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <utility>
#include <vector>

namespace logpost::replay {

/// Sorts stably by insertion while elements move little; whether they did. Else they are sorted in part, and what is
/// equal stays in order.
template <std::ranges::random_access_range Items, class Less>
[[nodiscard]] bool sorted_by_insertion(Items&& items, Less&& less) {
    constexpr std::size_t kMovesPerItem = 8;
    std::size_t moves = 0;
    for (std::size_t i = 1; i < items.size(); ++i) {
        if (!less(items[i], items[i - 1])) {
            continue;
        }
        auto item = std::move(items[i]);
        std::size_t to = i;
        do {
            items[to] = std::move(items[to - 1]);
            --to;
        } while (to > 0 && less(item, items[to - 1]));
        items[to] = std::move(item);
        moves += i - to;
        if (moves > kMovesPerItem * items.size()) {
            return false;
        }
    }
    return true;
}

/// Sorts stably what is almost in order, as recorded events are: insertion while elements move little, else a merge
/// sort of the whole.
template <std::ranges::random_access_range Items, class Less>
void sort_nearly_sorted(Items&& items, Less&& less) {
    if (!sorted_by_insertion(items, less)) {
        std::stable_sort(items.begin(), items.end(), less);
    }
}

/// Merges two runs, one behind the other, into `out`; stable. Of runs that interleave, the next
/// one cannot be foreseen: no branch depends on it.
template <class Item, class Less>
void merge_two(const Item* first, const Item* middle, const Item* end, Item* out, Less&& less) {
    const Item* second = middle;
    while (first != middle && second != end) {
        const bool from_second = less(*second, *first);
        *out++ = from_second ? *second : *first;
        second += from_second ? 1 : 0;
        first += from_second ? 0 : 1;
    }
    std::copy(second, end, std::copy(first, middle, out));
}

/// Merges runs, each in order, into one; stable. `ends`, of the runs, is left with one end.
template <class Item, class Less>
void merge_runs(std::vector<Item>& items, std::vector<std::size_t>& ends, Less&& less) {
    thread_local std::vector<Item> merged;
    while (ends.size() > 1) {
        merged.resize(items.size());
        std::size_t begin = 0;
        std::size_t kept = 0;
        for (std::size_t run = 0; run < ends.size(); run += 2) {
            const auto middle = ends[run];
            const auto end = run + 1 < ends.size() ? ends[run + 1] : middle;
            merge_two(items.data() + begin, items.data() + middle, items.data() + end, merged.data() + begin, less);
            ends[kept++] = end;
            begin = end;
        }
        ends.resize(kept);
        items.swap(merged);
    }
}

}  // namespace logpost::replay
