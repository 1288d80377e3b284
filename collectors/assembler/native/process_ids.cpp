#include "process_ids.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace logpost::assembler {
namespace {

OTF2_CollectiveOp operation_named(const std::string& name) {
    static const std::unordered_map<std::string, OTF2_CollectiveOp> known{
        {"BARRIER", OTF2_COLLECTIVE_OP_BARRIER},
        {"BCAST", OTF2_COLLECTIVE_OP_BCAST},
        {"GATHER", OTF2_COLLECTIVE_OP_GATHER},
        {"GATHERV", OTF2_COLLECTIVE_OP_GATHERV},
        {"SCATTER", OTF2_COLLECTIVE_OP_SCATTER},
        {"SCATTERV", OTF2_COLLECTIVE_OP_SCATTERV},
        {"ALLGATHER", OTF2_COLLECTIVE_OP_ALLGATHER},
        {"ALLGATHERV", OTF2_COLLECTIVE_OP_ALLGATHERV},
        {"ALLTOALL", OTF2_COLLECTIVE_OP_ALLTOALL},
        {"ALLTOALLV", OTF2_COLLECTIVE_OP_ALLTOALLV},
        {"ALLTOALLW", OTF2_COLLECTIVE_OP_ALLTOALLW},
        {"ALLREDUCE", OTF2_COLLECTIVE_OP_ALLREDUCE},
        {"REDUCE", OTF2_COLLECTIVE_OP_REDUCE},
        {"REDUCE_SCATTER", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
        {"REDUCE_SCATTER_BLOCK", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
        {"SCAN", OTF2_COLLECTIVE_OP_SCAN},
        {"EXSCAN", OTF2_COLLECTIVE_OP_EXSCAN},
    };
    const auto at = known.find(name);
    if (at == known.end()) {
        throw std::runtime_error("functions.txt names the unknown collective " + name);
    }
    return at->second;
}

}  // namespace

bool ProcessIds::comm(std::uint32_t local, OTF2_CommRef& ref) {
    const auto at = process_.comm_refs.find(local);
    if (at == process_.comm_refs.end()) {
        ++tally_.messages_without_comm;
        return false;
    }
    ref = at->second;
    return true;
}

bool ProcessIds::created_comm(std::uint32_t local, OTF2_CommRef& ref) {
    return local != 0 && comm(local, ref) && job_.comms[ref].created;
}

bool ProcessIds::add_layout(EventWriter& out, OTF2_AttributeRef attribute, std::uint32_t id) {
    if (id == 0) {
        return false;
    }
    auto at = process_.layout_refs.find(id);
    if (at == process_.layout_refs.end()) {
        const auto found = process_.layouts.find(id);
        if (found == process_.layouts.end()) {
            return false;
        }
        const lp_layout_def& l = found->second;
        const std::string text = "blocks=" + std::to_string(l.blocks) +
                                 " block_bytes=" + std::to_string(l.block_bytes) +
                                 " stride_bytes=" + std::to_string(l.stride_bytes) +
                                 " extent_bytes=" + std::to_string(l.extent_bytes) + (l.regular ? "" : " irregular=1");
        at = process_.layout_refs.emplace(id, strings_(text)).first;
    }
    OTF2_AttributeList_AddStringRef(out.attributes, attribute, at->second);
    return true;
}

OTF2_AttributeList* ProcessIds::layout(EventWriter& out, std::uint32_t id) {
    return add_layout(out, layout_attribute, id) ? out.attributes : nullptr;  // the writer empties it
}

OTF2_AttributeList* ProcessIds::received(EventWriter& out, const lp_message& m) {
    const bool layout = add_layout(out, layout_attribute, m.layout);
    if (m.any_source != 0) {
        OTF2_AttributeList_AddUint8(out.attributes, any_source_attribute, 1);
    }
    return layout || m.any_source != 0 ? out.attributes : nullptr;
}

OTF2_AttributeList* ProcessIds::layouts(EventWriter& out, std::uint32_t id, std::uint32_t target) {
    const bool own = add_layout(out, layout_attribute, id);
    return add_layout(out, target_layout_attribute, target) || own ? out.attributes : nullptr;
}

OTF2_GroupRef ProcessIds::group(std::uint32_t window, const std::vector<std::uint64_t>& ranks) {
    const auto& members = job_.comms[job_.windows[window].comm].members[0];
    std::vector<std::uint32_t> group;
    group.reserve(ranks.size());
    for (const std::uint64_t rank : ranks) {
        group.push_back(rank < members.size() ? members[rank] : none);
    }
    const auto [at, fresh] = tally_.group_refs.try_emplace(group, static_cast<OTF2_GroupRef>(tally_.groups.size() + 1));
    if (fresh) {
        tally_.groups.push_back(group);
    }
    return at->second;
}

std::uint32_t ProcessIds::rank_in(std::uint32_t window) const {
    const auto& members = job_.comms[job_.windows[window].comm].members[0];
    const auto at = std::ranges::find(members, process_.rank);
    return at != members.end() ? static_cast<std::uint32_t>(at - members.begin()) : OTF2_UNDEFINED_UINT32;
}

OTF2_RegionRef ProcessIds::region(const Calls& source, std::uint32_t function) {
    if (function >= tally_.regions.size()) {
        throw std::runtime_error(source.path() + ": a record refers to a function that is not in the table");
    }
    OTF2_RegionRef& region = tally_.regions[function];
    if (region == program_region) {
        tally_.called.push_back(function);
        region = static_cast<OTF2_RegionRef>(tally_.called.size());
    }
    return region;
}

OTF2_CollectiveOp ProcessIds::operation(std::uint32_t function) const {
    return operation_named(job_.functions[function].operation);
}

}  // namespace logpost::assembler
