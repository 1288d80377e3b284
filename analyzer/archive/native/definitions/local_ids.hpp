#pragma once

#include <otf2/otf2.h>

#include <cstddef>
#include <cstdint>

#include "analyzer/archive/native/definitions/definitions.hpp"
#include "analyzer/archive/native/trace/id_lookup.hpp"
#include "analyzer/archive/native/trace/quality.hpp"

namespace logpost::analyzer {

/// Ids as one location's events spell them -> dense ids, through the mapping tables of its local definitions.
class LocalIds {
  public:
    /// Ids of one kind. Those that the mapping table renames; all others are global already.
    struct Mapping {
        static constexpr std::int32_t kToNowhere = -2;  // renamed to an id without a definition
        const IdLookup* global = nullptr;
        IdLookup local{};
        [[nodiscard]] std::int32_t operator()(std::uint64_t id) const noexcept {
            if (!local.empty()) {
                if (const auto dense = local(id); dense != IdLookup::kAbsent) {
                    return dense == kToNowhere ? IdLookup::kAbsent : dense;
                }
            }
            return (*global)(id);
        }
    };

    LocalIds(const Definitions& definitions, QualityCounts& quality);
    LocalIds(const LocalIds&) = delete;
    LocalIds& operator=(const LocalIds&) = delete;

    /// Begins a location: nothing is renamed.
    void begin();
    /// A mapping table of the location.
    void rename(OTF2_MappingType type, const OTF2_IdMap* map);
    /// All mapping tables were given.
    void begin_events();

    [[nodiscard]] std::int32_t region(OTF2_RegionRef ref) {
        if (ref < region_table_size_) [[likely]] {
            if (const auto dense = region_table_[ref]; dense >= 0) [[likely]] {
                return dense;
            }
        }
        return rare_region(ref);
    }
    /// Index into Definitions::contexts; IdLookup::kAbsent, and counted: undefined.
    [[nodiscard]] std::int32_t context(OTF2_CallingContextRef ref);
    [[nodiscard]] std::int32_t communicator(OTF2_CommRef ref) const noexcept { return communicators_(ref); }
    /// Index into Definitions::group_members; IdLookup::kAbsent: undefined.
    [[nodiscard]] std::int32_t group(OTF2_GroupRef ref) const noexcept { return groups_(ref); }
    /// Index into Definitions::texts.
    [[nodiscard]] std::int32_t text(OTF2_StringRef ref) const noexcept { return strings_(ref); }
    /// Dense window; IdLookup::kAbsent: undefined.
    [[nodiscard]] std::int32_t window(OTF2_RmaWinRef ref) const noexcept { return windows_(ref); }
    /// The attribute that carries a message's layout; OTF2_UNDEFINED_ATTRIBUTE: there is none.
    [[nodiscard]] std::uint32_t layout_attribute() const noexcept { return layout_attribute_; }
    /// The same of the target's data in a one-sided transfer, and of what a member of a collective operation gets.
    [[nodiscard]] std::uint32_t target_layout_attribute() const noexcept { return target_layout_attribute_; }

    /// The attribute that carries a call's calling context; OTF2_UNDEFINED_ATTRIBUTE: there is none.
    [[nodiscard]] std::uint32_t context_attribute() const noexcept { return context_attribute_; }

    /// The attribute that says what a call waited for when its process ended; OTF2_UNDEFINED_ATTRIBUTE: there is none.
    [[nodiscard]] std::uint32_t open_attribute() const noexcept { return open_attribute_; }

    /// The attribute that numbers persistent collective operations; OTF2_UNDEFINED_ATTRIBUTE: there is none.
    [[nodiscard]] std::uint32_t persistent_attribute() const noexcept { return persistent_attribute_; }

    /// The attribute of receives that named no sender; OTF2_UNDEFINED_ATTRIBUTE: there is none.
    [[nodiscard]] std::uint32_t any_source_attribute() const noexcept { return any_source_attribute_; }

    /// The attribute of a sample for which several periods of the sampler passed; OTF2_UNDEFINED_ATTRIBUTE: there is
    /// none.
    [[nodiscard]] std::uint32_t periods_attribute() const noexcept { return periods_attribute_; }

  private:
    [[nodiscard]] std::int32_t rare_region(OTF2_RegionRef ref);

    const Definitions& definitions_;
    QualityCounts& quality_;
    const std::int32_t* region_table_ = nullptr;
    std::size_t region_table_size_ = 0;
    Mapping regions_, communicators_, contexts_, strings_, windows_, groups_;
    std::uint32_t layout_attribute_ = OTF2_UNDEFINED_ATTRIBUTE;
    std::uint32_t target_layout_attribute_ = OTF2_UNDEFINED_ATTRIBUTE;
    std::uint32_t context_attribute_ = OTF2_UNDEFINED_ATTRIBUTE;
    std::uint32_t open_attribute_ = OTF2_UNDEFINED_ATTRIBUTE;
    std::uint32_t persistent_attribute_ = OTF2_UNDEFINED_ATTRIBUTE;
    std::uint32_t any_source_attribute_ = OTF2_UNDEFINED_ATTRIBUTE;
    std::uint32_t periods_attribute_ = OTF2_UNDEFINED_ATTRIBUTE;
};

}  // namespace logpost::analyzer
