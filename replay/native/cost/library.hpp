#pragma once

/// What an MPI library does that a trace does not show: properties that a library profile states. Of a property that is
/// not stated, the observations of a trace decide where all of them agree; else it is open.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace logpost::replay {

enum class LibraryProperty : std::uint8_t {
    sends_within_nodes,
    sends_between_nodes,
    synchronous_sends,
    root_receives,
    collectives,
    progress
};
constexpr std::size_t kLibraryProperties = 6;
constexpr std::array<std::string_view, kLibraryProperties> kLibraryPropertyNames{
    "sends_within_nodes", "sends_between_nodes", "synchronous_sends", "root_receives", "collectives", "progress"};

/// Eager sends while the NIC still has the message before.
enum class Sends : std::uint8_t {
    returns,  ///< after their overhead: the message queues
    wait,     ///< until the NIC is free (LogP's g)
};
/// Synchronous sends below the eager limit.
enum class Synchronous : std::uint8_t {
    handshake,  ///< request, clear-to-send, data
    push,       ///< data, acknowledgement
    match,      ///< data, once both ends have called; of larger messages, too
};
/// The root of a reduction, of messages that have arrived.
enum class RootReceives : std::uint8_t {
    overhead,  ///< one per o_r
    gap,       ///< one per gap g
};

/// By which algorithms collective operations are carried out.
enum class Collectives : std::uint8_t {
    nearest,   ///< of each kind, the one whose replay is nearest to the measured ends; the usual one if it is as near
    second,    ///< the other one that is as near
    textbook,  ///< the usual ones, whatever the size
    openmpi,   ///< by the rules of a library: collectives/selector.hpp
    mpich,
    simgrid,
};
/// Rendezvous and one-sided transfers whose processors compute.
enum class Progress : std::uint8_t {
    processors,    ///< wait for a call of the library
    asynchronous,  ///< continue
};

constexpr std::size_t kMostAlternatives = 6;
/// By property; empty: it has no more.
constexpr std::array<std::array<std::string_view, kMostAlternatives>, kLibraryProperties> kAlternativeNames{
    {{"return", "wait"},
     {"return", "wait"},
     {"handshake", "push", "match"},
     {"overhead", "gap"},
     {"nearest", "second", "textbook", "openmpi", "mpich", "simgrid"},
     {"processors", "asynchronous"}}};

/// What a profile states; by property.
using Library = std::array<std::optional<std::uint8_t>, kLibraryProperties>;

/// One property as a program's graph has it.
struct Decided {
    std::uint8_t value = 0;                                ///< the alternative that the graph is built with
    bool stated = false;                                   ///< by the profile
    std::uint64_t places = 0;                              ///< where the alternatives make different graphs
    std::uint64_t observations = 0;                        ///< in the trace
    std::array<std::uint64_t, kMostAlternatives> agree{};  ///< observations that an alternative allows

    /// One observation; bit i: alternative i allows it.
    void see(unsigned allowed) noexcept {
        ++observations;
        for (std::size_t i = 0; i < agree.size(); ++i) {
            agree[i] += (allowed >> i) & 1U;
        }
    }
    /// The stated value; else the first one that all observations allow, or the first of all where none is.
    void decide(const std::optional<std::uint8_t>& by_profile) noexcept {
        stated = by_profile.has_value();
        value = by_profile.value_or(0);
        for (std::size_t i = agree.size(); !stated && i-- > 0;) {
            value = agree[i] == observations ? static_cast<std::uint8_t>(i) : value;
        }
    }
};
using DecidedLibrary = std::array<Decided, kLibraryProperties>;

template <class Alternative>
[[nodiscard]] constexpr unsigned allows(Alternative one) noexcept {
    return 1U << static_cast<unsigned>(one);
}

}  // namespace logpost::replay
