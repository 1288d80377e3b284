#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace logpost::analyzer {

/// Runs work(i) for every i in [0, n) on `threads` threads, handing out indices one by one. The first exception that
/// is thrown is thrown again here, after all threads have ended.
template <class Work>
void parallel_for(unsigned threads, std::size_t n, Work&& work) {
    if (threads <= 1 || n <= 1) {
        for (std::size_t i = 0; i < n; ++i) {
            work(i);
        }
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto run = [&] {
        try {
            for (std::size_t i = next++; i < n; i = next++) {
                work(i);
            }
        } catch (...) {
            const std::scoped_lock lock(failure_lock);
            if (!failure) {
                failure = std::current_exception();
            }
            next = n;
        }
    };
    {
        std::vector<std::jthread> pool;
        for (unsigned t = 1; t < threads && t < n; ++t) {
            pool.emplace_back(run);
        }
        run();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace logpost::analyzer
