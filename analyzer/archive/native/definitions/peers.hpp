#pragma once

#include <otf2/otf2.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/archive/native/definitions/definitions.hpp"
#include "analyzer/archive/native/definitions/local_ids.hpp"
#include "analyzer/archive/native/trace/quality.hpp"
#include "analyzer/archive/native/trace/trace.hpp"
#include "replay/native/program/ids.hpp"

namespace logpost::analyzer {

/// The communicator of the current record, and its ranks as the location sees them. Programs use one
/// communicator many times in a row, so the last one stays resolved.
class Peers {
  public:
    Peers(const Definitions& definitions, const Trace& trace, const LocalIds& ids, QualityCounts& quality)
        : definitions_(definitions), trace_(trace), ids_(ids), quality_(quality) {}

    void begin(replay::Location location) {
        location_ = location;
        ref_ = kNoRef;
        communicator_ = kUndefined;
        locations_ = nullptr;
    }

    /// The next record is of this communicator.
    void use(OTF2_CommRef ref) {
        if (ref != ref_) [[unlikely]] {
            resolve(ref);
        }
    }

    /// Dense communicator in use; kUndefined: it has no definition.
    [[nodiscard]] std::int32_t communicator() const noexcept { return communicator_; }
    void count_if_undefined() {
        if (communicator_ == kUndefined) {
            count(quality_, Quality::undefined_communicator);
        }
    }

    /// Dense location of a rank of the communicator in use; kNoLocation, and counted: there is none.
    replay::Location operator()(replay::Rank rank) {
        if (communicator_ != kUndefined) [[likely]] {
            const auto location = replay::location_of(*locations_, rank);
            if (location != kNoLocation) [[likely]] {
                return location;
            }
        }
        return rare(rank);
    }

  private:
    static constexpr std::uint64_t kNoRef = ~std::uint64_t{0};

    void resolve(OTF2_CommRef ref);
    replay::Location rare(replay::Rank rank);

    const Definitions& definitions_;
    const Trace& trace_;
    const LocalIds& ids_;
    QualityCounts& quality_;
    replay::Location location_ = kNoLocation;
    std::uint64_t ref_ = kNoRef;
    std::int32_t communicator_ = kUndefined;
    bool is_self_ = false;
    const std::vector<replay::Location>* locations_ = nullptr;  // by rank
};

}  // namespace logpost::analyzer
