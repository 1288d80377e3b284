/// The messages of collective operations, one by one.

#include "replay/native/collectives/every_message.hpp"
#include "replay/native/python/bindings.hpp"

namespace logpost::replay::bindings {

using namespace nb::literals;

void bind_collectives(nb::module_& module) {
    module.def(
        "collective_messages",
        [](std::uint8_t operation, std::uint32_t size, std::uint64_t bytes) {
            if (operation > static_cast<std::uint8_t>(Operation::unknown)) {
                throw nb::value_error("there is no collective operation of this code");
            }
            const Pattern pattern{static_cast<Operation>(operation), size, bytes};
            auto found = every_message(pattern, usual(pattern));
            return nb::make_tuple(array(std::move(found.from)), array(std::move(found.to)),
                                  array(std::move(found.bytes)), array(std::move(found.step)));
        },
        "operation"_a, "size"_a, "bytes"_a,
        nb::sig("def collective_messages(operation: int, size: int, bytes: int) "
                "-> tuple[logpost.replay.columns.Int32, logpost.replay.columns.Int32, "
                "logpost.replay.columns.UInt64, logpost.replay.columns.Int32]"),
        "Sender, receiver, bytes and step of each message of the usual algorithm; members count from the root.");
}

}  // namespace logpost::replay::bindings
