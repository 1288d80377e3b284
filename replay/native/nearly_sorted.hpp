#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <utility>

namespace logpost::replay {

/// Sorts stably what is almost in order, as recorded events are: insertion while elements move little, else a merge
/// sort of the whole.
template <std::ranges::random_access_range Items, class Less>
void sort_nearly_sorted(Items&& items, Less&& less) {
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
            std::stable_sort(items.begin(), items.end(), less);
            return;
        }
    }
}

}  // namespace logpost::replay
