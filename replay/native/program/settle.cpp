#include "replay/native/program/settle.hpp"

#include <array>
#include <cstddef>
#include <tuple>
#include <vector>

#include "replay/native/memory/spill.hpp"

namespace logpost::replay {
namespace {

template <class... Of>
void settle_columns(Spill& spill, Column<Of>&... of) {
    const auto columns = std::tie(of...);
    std::size_t bytes = 0;
    std::apply([&](const auto&... column) { ((bytes += column.bytes()), ...); }, columns);
    if (bytes == 0 || !spill.wants(bytes)) {
        return;
    }
    static std::array<std::byte, kCacheLine> padding{};
    std::vector<iovec> pieces;
    std::vector<std::size_t> begins;
    std::size_t end = 0;
    const auto list = [&]<class T>(const Column<T>& column) {
        begins.push_back(end);
        column.for_each_piece([&](const T* first, std::size_t n) {
            pieces.push_back({const_cast<T*>(first), n * sizeof(T)});  // of the system's making: it reads them only
        });
        end += column.size() * sizeof(T);
        if (const auto beyond = end % kCacheLine; beyond != 0) {
            pieces.push_back({padding.data(), kCacheLine - beyond});
            end += kCacheLine - beyond;
        }
    };
    std::apply([&](const auto&... column) { (list(column), ...); }, columns);
    std::byte* const place = spill.store(pieces);
    auto begin = begins.begin();
    const auto move = [&]<class T>(Column<T>& column) {
        column.place_at(reinterpret_cast<T*>(place + *begin++), column.size());  // NOLINT: trivially copyable
    };
    std::apply([&](auto&... column) { (move(column), ...); }, columns);
}

}  // namespace

void settle(Timeline& timeline, Spill& spill) {
    settle_columns(spill, timeline.calls, timeline.sends, timeline.receives, timeline.collectives, timeline.layouts,
                   timeline.transfers, timeline.epochs);
}

void settle_calls(Timeline& timeline, Spill& spill) {
    settle_columns(spill, timeline.calls);
}

void settle_all_but_calls(Timeline& timeline, Spill& spill) {
    settle_columns(spill, timeline.sends, timeline.receives, timeline.collectives, timeline.layouts, timeline.transfers,
                   timeline.epochs);
}

}  // namespace logpost::replay
