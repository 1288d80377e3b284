#include "decode.hpp"

#include <algorithm>

#include "event_records.hpp"

namespace logpost::analyzer {
namespace {

constexpr std::int64_t kBeforeAll = -Clock::kSaturated;

// Zeros in a damaged file are records of unknown type and no length. So many at one time are no newer libotf2's.
constexpr std::uint64_t kMostUnknown = 4096;

bool waits_for_collective_record(RegionKind kind) {
    return kind == RegionKind::barrier || kind == RegionKind::collective || kind == RegionKind::collective_nonblocking;
}

}  // namespace

Decoder::Decoder(const Definitions& definitions, const Trace& trace)
    : definitions_(definitions), trace_(trace), kinds_with_synthetic_(definitions.kinds) {
    kinds_with_synthetic_.push_back(RegionKind::user);   // undefined_region
    kinds_with_synthetic_.push_back(RegionKind::other);  // outside_region
    kinds_ = kinds_with_synthetic_.data();
    regions_.global = &definitions.regions;
    communicators_.global = &definitions.communicators;
    contexts_.global = &definitions.calling_contexts;
    strings_.global = &definitions.strings;
    windows_.global = &definitions.device_windows;
}

std::int32_t Decoder::undefined_region(const Trace& trace) {
    return static_cast<std::int32_t>(trace.regions.size());
}
std::int32_t Decoder::outside_region(const Trace& trace) {
    return static_cast<std::int32_t>(trace.regions.size()) + 1;
}

void Decoder::begin(std::int32_t location, LocationTrace& out) {
    location_ = location;
    out_ = &out;
    offsets_.clear();
    for (auto* mapping : {&regions_, &communicators_, &contexts_, &strings_, &windows_}) {
        mapping->local.clear();
    }
    attribute_mapped_ = false;
    layout_attribute_ = definitions_.layout_attribute;
    stack_.clear();
    call_depth_ = 0;
    call_has_collective_ = false;
    any_cancelled_ = false;
    unknown_run_ = 0;
    communicator_ref_ = ~std::uint64_t{0};
    communicator_ = kUndefined;
    peers_ = nullptr;
    last_ps_ = kBeforeAll;
}

void Decoder::begin_events() {
    clock_ = Clock(definitions_.ticks_per_second, definitions_.global_offset, offsets_);
    const auto& table = regions_.local.empty() ? definitions_.regions.near() : regions_.local.near();
    region_table_ = table.data();
    region_table_size_ = table.size();
    out_->first_ps = kBeforeAll;
}

std::int64_t Decoder::time_backwards() {
    count(quality_, Quality::time_backwards);
    return last_ps_;
}

std::int32_t Decoder::rare_region(OTF2_RegionRef ref) {
    const auto dense = regions_(ref);
    if (dense != IdLookup::kAbsent) {
        return dense;
    }
    count(quality_, Quality::undefined_region);
    return undefined_region(trace_);
}

void Decoder::enter(std::int64_t now, std::int32_t region) {
    const auto callpath = tree_.child(stack_.empty() ? CallpathTree::kRoot : stack_.back().callpath, region);
    stack_.push_back({now, 0, region, callpath});
    if (kinds_[region] != RegionKind::user) {
        ++out_->communication_events;
        if (call_depth_ == 0) {
            call_depth_ = stack_.size();
            call_has_collective_ = false;
            out_->calls.push_back({now, now, region, callpath});
        } else {
            count(quality_, Quality::nested_communication);
        }
    }
}

void Decoder::leave(std::int64_t now, std::int32_t region) {
    if (stack_.empty() || stack_.back().region != region) [[unlikely]] {
        leave_mis_nested(now, region);
        return;
    }
    pop(now);
}

void Decoder::leave_mis_nested(std::int64_t now, std::int32_t region) {
    const auto open = std::find_if(stack_.rbegin(), stack_.rend(), [&](const Frame& f) { return f.region == region; });
    if (open == stack_.rend()) {
        count(quality_, Quality::leave_without_enter);
        return;
    }
    count(quality_, Quality::leave_mis_nested);
    const auto keep = static_cast<std::size_t>(stack_.rend() - open) - 1;
    while (stack_.size() > keep) {
        pop(now);
    }
}

void Decoder::pop(std::int64_t now) {
    const auto frame = stack_.back();
    const auto duration = now - frame.enter_ps;
    const auto node = static_cast<std::size_t>(frame.callpath);
    if (node >= profile_.size()) [[unlikely]] {
        profile_.resize(std::max(tree_.size(), 2 * profile_.size()));
    }
    auto& profile = profile_[node];
    if (profile.visits++ == 0) {
        touched_.push_back(frame.callpath);
    }
    profile.inclusive_ps += duration;
    profile.exclusive_ps += duration - frame.children_ps;
    if (kinds_[frame.region] != RegionKind::user) {
        ++out_->communication_events;
        if (stack_.size() == call_depth_) {
            close_call(now);
        }
    }
    stack_.pop_back();
    if (!stack_.empty()) {
        stack_.back().children_ps += duration;
    }
}

void Decoder::close_call(std::int64_t now) {
    auto& call = out_->calls.back();
    call.leave_ps = now;
    call_depth_ = 0;
    if (!call_has_collective_ && waits_for_collective_record(kinds_[call.region])) {
        count(quality_, Quality::collective_call_without_record);
    }
}

std::uint32_t Decoder::call_for_record(std::int64_t now) {
    ++out_->communication_events;
    if (call_depth_ == 0) [[unlikely]] {
        count(quality_, Quality::record_outside_call);
        enter(now, outside_region(trace_));
        pop(now);
        out_->communication_events -= 2;
    }
    return static_cast<std::uint32_t>(out_->calls.size() - 1);
}

void Decoder::use_communicator(OTF2_CommRef ref) {
    if (ref == communicator_ref_) [[likely]] {
        return;
    }
    communicator_ref_ = ref;
    communicator_ = communicators_(ref);
    peers_ = nullptr;
    communicator_is_self_ = false;
    if (communicator_ != kUndefined) {
        const auto& communicator = trace_.communicators[static_cast<std::size_t>(communicator_)];
        communicator_is_self_ = communicator.is_self;
        peers_ = &communicator.locations;
        if (!communicator.remote_locations.empty()) {
            const auto self = definitions_.owner[static_cast<std::size_t>(location_)];
            const auto& remote = communicator.remote_locations;
            const bool in_remote = std::find(remote.begin(), remote.end(), self) != remote.end();
            peers_ = in_remote ? &communicator.locations : &remote;
        }
    }
}

std::int32_t Decoder::peer(std::uint32_t rank) {
    if (communicator_ == kUndefined) {
        count(quality_, Quality::undefined_communicator);
        return kUndefined;
    }
    if (rank < peers_->size()) [[likely]] {
        if (const auto location = (*peers_)[rank]; location != kUndefined) {
            return location;
        }
    } else if (communicator_is_self_ && rank == 0) {
        return definitions_.owner[static_cast<std::size_t>(location_)];
    }
    count(quality_, Quality::undefined_peer);
    return kUndefined;
}

void Decoder::layout(const OTF2_AttributeList* attributes, std::size_t send) {
    OTF2_StringRef text = OTF2_UNDEFINED_STRING;
    if (!OTF2_AttributeList_TestAttributeByID(attributes, layout_attribute_) ||
        OTF2_AttributeList_GetStringRef(attributes, layout_attribute_, &text) != OTF2_SUCCESS) {
        return;
    }
    const auto index = strings_(text);
    const auto layout =
        index == IdLookup::kAbsent ? kUndefined : definitions_.layout_of_text[static_cast<std::size_t>(index)];
    if (layout == kUndefined) {
        count(quality_, Quality::layout_unreadable);
        return;
    }
    out_->layouts.push_back({static_cast<std::uint32_t>(send), layout});
}

/// Cancelled operations were marked by call == kNone; the others keep their order.
void Decoder::drop_cancelled() {
    auto& sends = out_->sends;
    std::vector<std::uint32_t> new_index(sends.size(), kNone);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sends.size(); ++i) {
        if (sends[i].call != kNone) {
            new_index[i] = static_cast<std::uint32_t>(kept);
            sends[kept++] = sends[i];
        }
    }
    sends.truncate(kept);
    auto& layouts = out_->layouts;
    kept = 0;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        if (new_index[layouts[i].send] != kNone) {
            layouts[kept++] = {new_index[layouts[i].send], layouts[i].layout};
        }
    }
    layouts.truncate(kept);
    auto& receives = out_->receives;
    kept = 0;
    for (std::size_t i = 0; i < receives.size(); ++i) {
        if (receives[i].call != kNone) {
            receives[kept++] = receives[i];
        }
    }
    receives.truncate(kept);
}

void Decoder::end(std::uint64_t events) {
    out_->events = events;
    if (last_ps_ == kBeforeAll) {
        out_->first_ps = out_->last_ps = 0;
    } else {
        if (out_->first_ps == -Clock::kSaturated || last_ps_ == Clock::kSaturated) {
            count(quality_, Quality::time_out_of_range);
        }
        out_->last_ps = last_ps_;
    }
    count(quality_, Quality::region_open_at_end, stack_.size());
    const auto leaves = out_->communication_events;
    while (!stack_.empty()) {
        pop(last_ps_);
    }
    out_->communication_events = leaves;
    count(quality_, Quality::request_never_completed, requests_.clear());
    if (any_cancelled_) {
        drop_cancelled();
    }
    out_->calls.trim();
    out_->sends.trim();
    out_->receives.trim();
    out_->collectives.trim();
    out_->layouts.trim();
    out_->profile.reserve(touched_.size());
    for (const auto callpath : touched_) {
        auto& from = profile_[static_cast<std::size_t>(callpath)];
        out_->profile.push_back({callpath, from.visits, from.inclusive_ps, from.exclusive_ps});
        from = Accumulator{};
    }
    touched_.clear();
    out_ = nullptr;
}

// ---------------------------------------------------------------------------------------------------------------------

/// What libotf2 calls. Every event callback notes its time first, so that the last event of any type is known.
struct Callbacks {
    static Decoder& self(void* user) { return *static_cast<Decoder*>(user); }
    static constexpr auto kGoOn = OTF2_CALLBACK_SUCCESS;

    /// C++ exceptions (failed allocations) must not pass through libotf2.
    static OTF2_CallbackCode out_of_memory(void* user) noexcept {
        self(user).out_of_memory_ = true;
        return OTF2_CALLBACK_INTERRUPT;
    }
    template <class Body>
    static OTF2_CallbackCode guarded(void* user, Body&& body) noexcept {
        try {
            body();
            return OTF2_CALLBACK_SUCCESS;
        } catch (...) {
            return out_of_memory(user);
        }
    }

    static std::int64_t at(Decoder& d, OTF2_TimeStamp ticks) {
        const auto now = d.at(ticks);
        if (d.out_->first_ps == kBeforeAll) [[unlikely]] {
            d.out_->first_ps = now;
        }
        return now;
    }

    // -- local definitions --

    static void map_into(std::uint64_t local, std::uint64_t global, void* user) {
        auto& mapping = *static_cast<Decoder::Mapping*>(user);
        const auto dense = (*mapping.global)(global);
        mapping.local.insert(local, dense == IdLookup::kAbsent ? Decoder::Mapping::kToNowhere : dense);
    }
    struct AttributeMap {
        std::uint32_t global;
        std::uint32_t local;
    };
    static void find_attribute(std::uint64_t local, std::uint64_t global, void* user) {
        auto& map = *static_cast<AttributeMap*>(user);
        if (global == map.global) {
            map.local = static_cast<std::uint32_t>(local);
        }
    }

    static OTF2_CallbackCode on_mapping(void* user, OTF2_MappingType type, const OTF2_IdMap* map) {
        return guarded(user, [&] {
            auto& d = self(user);
            switch (type) {
                case OTF2_MAPPING_REGION:
                    OTF2_IdMap_Traverse(map, map_into, &d.regions_);
                    break;
                case OTF2_MAPPING_COMM:
                    OTF2_IdMap_Traverse(map, map_into, &d.communicators_);
                    break;
                case OTF2_MAPPING_CALLING_CONTEXT:
                    OTF2_IdMap_Traverse(map, map_into, &d.contexts_);
                    break;
                case OTF2_MAPPING_RMA_WIN:
                    OTF2_IdMap_Traverse(map, map_into, &d.windows_);
                    break;
                case OTF2_MAPPING_STRING:
                    if (d.definitions_.layout_attribute != OTF2_UNDEFINED_ATTRIBUTE) {
                        OTF2_IdMap_Traverse(map, map_into, &d.strings_);
                    }
                    break;
                case OTF2_MAPPING_ATTRIBUTE:
                    if (d.definitions_.layout_attribute != OTF2_UNDEFINED_ATTRIBUTE) {
                        AttributeMap attribute{d.definitions_.layout_attribute, d.definitions_.layout_attribute};
                        OTF2_IdMap_Traverse(map, find_attribute, &attribute);
                        d.layout_attribute_ = attribute.local;
                    }
                    break;
                default:
                    break;
            }
        });
    }
    static OTF2_CallbackCode on_clock_offset(void* user, OTF2_TimeStamp time, std::int64_t offset, double) {
        return guarded(user, [&] { self(user).offsets_.push_back({time, offset}); });
    }

    // -- events --

    using L = OTF2_LocationRef;
    using T = OTF2_TimeStamp;
    using A = OTF2_AttributeList;

    template <class... Rest>
    static OTF2_CallbackCode on_any(L, T ticks, std::uint64_t, void* user, A*, Rest...) {
        at(self(user), ticks);
        return kGoOn;
    }
    template <class... Rest>
    static OTF2_CallbackCode on_communication(L, T ticks, std::uint64_t, void* user, A*, Rest...) {
        auto& d = self(user);
        at(d, ticks);
        d.out_->communication_events += d.call_depth_ != 0 ? 1 : 0;
        return kGoOn;
    }
    template <class... Rest>
    static OTF2_CallbackCode on_one_sided_collective(L location, T ticks, std::uint64_t position, void* user,
                                                     A* attributes, Rest... rest) {
        self(user).call_has_collective_ = true;
        return on_communication(location, ticks, position, user, attributes, rest...);
    }
    static OTF2_CallbackCode on_unknown(L, T ticks, std::uint64_t, void* user, A*) {
        auto& d = self(user);
        const auto before = d.last_ps_;
        d.unknown_run_ = at(d, ticks) == before ? d.unknown_run_ + 1 : 1;
        if (d.unknown_run_ > kMostUnknown) {
            d.quality_[static_cast<std::size_t>(Quality::unknown_record)] -= kMostUnknown;
            return OTF2_CALLBACK_INTERRUPT;
        }
        count(d.quality_, Quality::unknown_record);
        return kGoOn;
    }
    static OTF2_CallbackCode on_measurement(L, T ticks, std::uint64_t, void* user, A*, OTF2_MeasurementMode mode) {
        auto& d = self(user);
        at(d, ticks);
        if (mode == OTF2_MEASUREMENT_OFF) {
            count(d.quality_, Quality::measurement_off);
        }
        return kGoOn;
    }
    static OTF2_CallbackCode on_enter(L, T ticks, std::uint64_t, void* user, A*, OTF2_RegionRef region) noexcept try {
        auto& d = self(user);
        const auto now = at(d, ticks);
        d.enter(now, d.region(region));
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
    static OTF2_CallbackCode on_leave(L, T ticks, std::uint64_t, void* user, A*, OTF2_RegionRef region) noexcept try {
        auto& d = self(user);
        const auto now = at(d, ticks);
        d.leave(now, d.region(region));
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
    static std::int32_t context_region(Decoder& d, OTF2_CallingContextRef context) {
        const auto dense = d.contexts_(context);
        if (dense != IdLookup::kAbsent) {
            return dense;
        }
        count(d.quality_, Quality::undefined_region);
        return Decoder::undefined_region(d.trace_);
    }
    static OTF2_CallbackCode on_context_enter(L, T ticks, std::uint64_t, void* user, A*, OTF2_CallingContextRef context,
                                              std::uint32_t) {
        return guarded(user, [&] {
            auto& d = self(user);
            const auto now = at(d, ticks);
            d.enter(now, context_region(d, context));
        });
    }
    static OTF2_CallbackCode on_context_leave(L, T ticks, std::uint64_t, void* user, A*,
                                              OTF2_CallingContextRef context) {
        return guarded(user, [&] {
            auto& d = self(user);
            const auto now = at(d, ticks);
            d.leave(now, context_region(d, context));
        });
    }

    static void push_send(Decoder& d, std::int64_t now, const A* attributes, std::uint32_t receiver,
                          OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes, bool blocking) {
        const auto call = d.call_for_record(now);
        d.use_communicator(communicator);
        const auto peer = d.peer(receiver);
        if (d.layout_attribute_ != OTF2_UNDEFINED_ATTRIBUTE) [[unlikely]] {
            d.layout(attributes, d.out_->sends.size());
        }
        d.out_->sends.push_back(
            {call, blocking ? call : kNone, bytes, peer, d.communicator_, static_cast<std::int32_t>(tag), kNone});
    }
    static OTF2_CallbackCode on_send(L, T ticks, std::uint64_t, void* user, A* attributes, std::uint32_t receiver,
                                     OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes) noexcept try {
        auto& d = self(user);
        push_send(d, at(d, ticks), attributes, receiver, communicator, tag, bytes, true);
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
    static void pending(Decoder& d, std::uint64_t request, PendingRequests::What what, std::size_t index) {
        if (!d.requests_.insert(request, what, static_cast<std::uint32_t>(index))) {
            count(d.quality_, Quality::request_reused);
        }
    }
    static OTF2_CallbackCode on_isend(L, T ticks, std::uint64_t, void* user, A* attributes, std::uint32_t receiver,
                                      OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes,
                                      std::uint64_t request) noexcept try {
        auto& d = self(user);
        push_send(d, at(d, ticks), attributes, receiver, communicator, tag, bytes, false);
        pending(d, request, PendingRequests::What::send, d.out_->sends.size() - 1);
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
    static OTF2_CallbackCode on_isend_complete(L, T ticks, std::uint64_t, void* user, A*,
                                               std::uint64_t request) noexcept try {
        auto& d = self(user);
        const auto call = d.call_for_record(at(d, ticks));
        const auto entry = d.requests_.take(request);
        if (entry.what == PendingRequests::What::send) [[likely]] {
            d.out_->sends[entry.index].complete_call = call;
        } else {
            count(d.quality_, Quality::request_unknown);
        }
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
    static OTF2_CallbackCode on_recv(L, T ticks, std::uint64_t, void* user, A*, std::uint32_t sender,
                                     OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes) noexcept try {
        auto& d = self(user);
        const auto call = d.call_for_record(at(d, ticks));
        d.use_communicator(communicator);
        const auto peer = d.peer(sender);
        d.out_->receives.push_back({call, call, bytes, peer, d.communicator_, static_cast<std::int32_t>(tag), kNone});
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
    static OTF2_CallbackCode on_irecv_request(L, T ticks, std::uint64_t, void* user, A*, std::uint64_t request) noexcept
        try {
        auto& d = self(user);
        const auto call = d.call_for_record(at(d, ticks));
        d.out_->receives.push_back({call, kNone, 0, kUndefined, kUndefined, kUndefined, kNone});
        pending(d, request, PendingRequests::What::receive, d.out_->receives.size() - 1);
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
    static OTF2_CallbackCode on_irecv(L, T ticks, std::uint64_t, void* user, A*, std::uint32_t sender,
                                      OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t bytes,
                                      std::uint64_t request) noexcept try {
        auto& d = self(user);
        const auto call = d.call_for_record(at(d, ticks));
        d.use_communicator(communicator);
        const auto peer = d.peer(sender);
        const auto entry = d.requests_.take(request);
        if (entry.what == PendingRequests::What::receive) [[likely]] {
            auto& receive = d.out_->receives[entry.index];
            receive.complete_call = call;
            receive.bytes = bytes;
            receive.peer = peer;
            receive.comm = d.communicator_;
            receive.tag = static_cast<std::int32_t>(tag);
        } else {
            count(d.quality_, Quality::request_unknown);
            d.out_->receives.push_back(
                {call, call, bytes, peer, d.communicator_, static_cast<std::int32_t>(tag), kNone});
        }
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
    static OTF2_CallbackCode on_cancelled(L, T ticks, std::uint64_t, void* user, A*, std::uint64_t request) {
        auto& d = self(user);
        at(d, ticks);
        d.out_->communication_events += d.call_depth_ != 0 ? 1 : 0;
        const auto entry = d.requests_.take(request);
        if (entry.what == PendingRequests::What::send) {
            d.out_->sends[entry.index].call = kNone;
        } else if (entry.what == PendingRequests::What::receive) {
            d.out_->receives[entry.index].call = kNone;
        } else {
            count(d.quality_, Quality::request_unknown);
            return kGoOn;
        }
        d.any_cancelled_ = true;
        count(d.quality_, Quality::request_cancelled);
        return kGoOn;
    }

    static std::int32_t root(std::uint32_t rank) {
        return rank >= OTF2_COLLECTIVE_ROOT_THIS_GROUP ? kUndefined : static_cast<std::int32_t>(rank);
    }
    static OTF2_CallbackCode on_collective_end(L, T ticks, std::uint64_t, void* user, A*, OTF2_CollectiveOp operation,
                                               OTF2_CommRef communicator, std::uint32_t root_rank, std::uint64_t sent,
                                               std::uint64_t received) noexcept try {
        auto& d = self(user);
        const auto now = at(d, ticks);
        const auto call = d.call_for_record(now);
        d.use_communicator(communicator);
        if (d.communicator_ == kUndefined) {
            count(d.quality_, Quality::undefined_communicator);
        }
        d.call_has_collective_ = true;
        d.out_->collectives.push_back({d.out_->calls.back().enter_ps, now, sent, received, call, call, d.communicator_,
                                       root(root_rank), kNone, operation});
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
    static OTF2_CallbackCode on_collective_request(L, T ticks, std::uint64_t, void* user, A*,
                                                   std::uint64_t request) noexcept try {
        auto& d = self(user);
        const auto now = at(d, ticks);
        const auto call = d.call_for_record(now);
        d.call_has_collective_ = true;
        d.out_->collectives.push_back(
            {d.out_->calls.back().enter_ps, now, 0, 0, call, kNone, kUndefined, kUndefined, kNone, 0});
        pending(d, request, PendingRequests::What::collective, d.out_->collectives.size() - 1);
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }
    static OTF2_CallbackCode on_collective_complete(L, T ticks, std::uint64_t, void* user, A*,
                                                    OTF2_CollectiveOp operation, OTF2_CommRef communicator,
                                                    std::uint32_t root_rank, std::uint64_t sent, std::uint64_t received,
                                                    std::uint64_t request) noexcept try {
        auto& d = self(user);
        const auto now = at(d, ticks);
        const auto call = d.call_for_record(now);
        d.use_communicator(communicator);
        if (d.communicator_ == kUndefined) {
            count(d.quality_, Quality::undefined_communicator);
        }
        const auto entry = d.requests_.take(request);
        if (entry.what != PendingRequests::What::collective) {
            count(d.quality_, Quality::request_unknown);
            return kGoOn;
        }
        auto& collective = d.out_->collectives[entry.index];
        collective.end_ps = now;
        collective.bytes_sent = sent;
        collective.bytes_received = received;
        collective.complete_call = call;
        collective.comm = d.communicator_;
        collective.root = root(root_rank);
        collective.operation = operation;
        return kGoOn;
    } catch (...) {
        return out_of_memory(user);
    }

    static bool one_sided(void* user, T ticks, OTF2_RmaWinRef window, Decoder** out) {
        auto& d = self(user);
        at(d, ticks);
        *out = &d;
        if (d.windows_(window) != IdLookup::kAbsent) {
            count(d.quality_, Quality::device_transfer);
            return false;
        }
        d.out_->communication_events += d.call_depth_ != 0 ? 1 : 0;
        return true;
    }
    static OTF2_CallbackCode on_put(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window, std::uint32_t,
                                    std::uint64_t bytes, std::uint64_t) {
        Decoder* d = nullptr;
        if (one_sided(user, ticks, window, &d)) {
            ++d->out_->one_sided.puts;
            d->out_->one_sided.put_bytes += bytes;
        }
        return kGoOn;
    }
    static OTF2_CallbackCode on_get(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window, std::uint32_t,
                                    std::uint64_t bytes, std::uint64_t) {
        Decoder* d = nullptr;
        if (one_sided(user, ticks, window, &d)) {
            ++d->out_->one_sided.gets;
            d->out_->one_sided.get_bytes += bytes;
        }
        return kGoOn;
    }
    static OTF2_CallbackCode on_atomic(L, T ticks, std::uint64_t, void* user, A*, OTF2_RmaWinRef window, std::uint32_t,
                                       OTF2_RmaAtomicType, std::uint64_t sent, std::uint64_t received, std::uint64_t) {
        Decoder* d = nullptr;
        if (one_sided(user, ticks, window, &d)) {
            ++d->out_->one_sided.atomics;
            d->out_->one_sided.atomic_bytes += sent + received;
        }
        return kGoOn;
    }
};

OTF2_DefReaderCallbacks* Decoder::local_definition_callbacks() {
    OTF2_DefReaderCallbacks* c = OTF2_DefReaderCallbacks_New();
    OTF2_DefReaderCallbacks_SetMappingTableCallback(c, Callbacks::on_mapping);
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(c, Callbacks::on_clock_offset);
    return c;
}

OTF2_EvtReaderCallbacks* Decoder::event_callbacks() {
    OTF2_EvtReaderCallbacks* c = OTF2_EvtReaderCallbacks_New();
    // Of most records only the time matters; the others follow.
#define LOGPOST_TIME(name) OTF2_EvtReaderCallbacks_Set##name##Callback(c, Callbacks::on_any);
    LOGPOST_EVENT_RECORDS(LOGPOST_TIME)
#undef LOGPOST_TIME
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, Callbacks::on_unknown);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(c, Callbacks::on_measurement);
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, Callbacks::on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, Callbacks::on_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(c, Callbacks::on_context_enter);
    OTF2_EvtReaderCallbacks_SetCallingContextLeaveCallback(c, Callbacks::on_context_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, Callbacks::on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, Callbacks::on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, Callbacks::on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, Callbacks::on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, Callbacks::on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, Callbacks::on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, Callbacks::on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, Callbacks::on_collective_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, Callbacks::on_collective_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, Callbacks::on_collective_complete);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, Callbacks::on_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, Callbacks::on_get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, Callbacks::on_atomic);

    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, Callbacks::on_one_sided_collective);

    // Of communication calls, but nothing is kept of them
#define LOGPOST_COUNT(name) OTF2_EvtReaderCallbacks_Set##name##Callback(c, Callbacks::on_communication)
    LOGPOST_COUNT(MpiRequestTest);
    LOGPOST_COUNT(MpiCollectiveBegin);
    LOGPOST_COUNT(CommCreate);
    LOGPOST_COUNT(CommDestroy);
    LOGPOST_COUNT(RmaWinCreate);
    LOGPOST_COUNT(RmaWinDestroy);
    LOGPOST_COUNT(RmaCollectiveBegin);
    LOGPOST_COUNT(RmaGroupSync);
    LOGPOST_COUNT(RmaRequestLock);
    LOGPOST_COUNT(RmaAcquireLock);
    LOGPOST_COUNT(RmaTryLock);
    LOGPOST_COUNT(RmaReleaseLock);
    LOGPOST_COUNT(RmaSync);
    LOGPOST_COUNT(RmaWaitChange);
    LOGPOST_COUNT(RmaOpCompleteBlocking);
    LOGPOST_COUNT(RmaOpCompleteNonBlocking);
    LOGPOST_COUNT(RmaOpTest);
    LOGPOST_COUNT(RmaOpCompleteRemote);
#undef LOGPOST_COUNT

    return c;
}

}  // namespace logpost::analyzer
