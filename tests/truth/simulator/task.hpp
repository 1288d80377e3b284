#pragma once

/// A lazily started coroutine that returns to its awaiter. A rank's program is one.

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace logpost::truth {

template <class T = void>
class Task;

namespace detail {

struct FinalAwaiter {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) const noexcept {
        auto next = done.promise().continuation;
        return next ? next : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
};

struct PromiseBase {
    std::coroutine_handle<> continuation;
    std::exception_ptr failure;
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] FinalAwaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { failure = std::current_exception(); }
};

}  // namespace detail

template <class T>
class Task {
  public:
    struct promise_type : detail::PromiseBase {
        std::optional<T> value;
        Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        void return_value(T result) { value = std::move(result); }
    };
    explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&&) = delete;
    ~Task() {
        if (handle_) {
            handle_.destroy();
        }
    }
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        handle_.promise().continuation = caller;
        return handle_;
    }
    T await_resume() {
        if (handle_.promise().failure) {
            std::rethrow_exception(handle_.promise().failure);
        }
        return std::move(*handle_.promise().value);
    }

  private:
    std::coroutine_handle<promise_type> handle_;
};

template <>
class Task<void> {
  public:
    struct promise_type : detail::PromiseBase {
        Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        void return_void() const noexcept {}
    };
    explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&&) = delete;
    ~Task() {
        if (handle_) {
            handle_.destroy();
        }
    }
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        handle_.promise().continuation = caller;
        return handle_;
    }
    void await_resume() const { rethrow(); }

    /// For the outermost task: runs it until it first waits.
    void start() const { handle_.resume(); }
    [[nodiscard]] bool done() const noexcept { return handle_.done(); }
    void rethrow() const {
        if (handle_.promise().failure) {
            std::rethrow_exception(handle_.promise().failure);
        }
    }

  private:
    std::coroutine_handle<promise_type> handle_;
};

}  // namespace logpost::truth
