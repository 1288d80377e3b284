#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "replay/native/memory/spill.hpp"

namespace logpost::replay {

/// Runs `body(thread)` on `threads` threads, the caller's among them, and waits for all. The first exception is passed
/// on.
template <class Body>
void on_threads(unsigned threads, Body&& body) {
    std::vector<std::exception_ptr> failures(std::max(threads, 1U));
    const auto guarded = [&](unsigned thread) noexcept {
        try {
            body(thread);
        } catch (...) {
            failures[thread] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (unsigned t = 1; t < threads; ++t) {
            others.emplace_back(guarded, t);
        }
        guarded(0);
    }
    for (const auto& failure : failures) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
}

/// Runs `body(i, thread)` for i in 0..n-1, handed out in blocks as threads become free. After each, memory is looked
/// at.
template <class Body>
void for_each_parallel(std::size_t n, unsigned threads, std::size_t block, Body&& body) {
    std::atomic<std::size_t> next{0};
    on_threads(static_cast<unsigned>(std::min<std::size_t>(std::max(threads, 1U), std::max<std::size_t>(n, 1))),
               [&](unsigned thread) {
                   for (;;) {
                       const auto begin = next.fetch_add(block, std::memory_order_relaxed);
                       if (begin >= n) {
                           return;
                       }
                       for (auto i = begin; i < std::min(begin + block, n); ++i) {
                           body(i, thread);
                       }
                       Spill::look();
                   }
               });
}

}  // namespace logpost::replay
