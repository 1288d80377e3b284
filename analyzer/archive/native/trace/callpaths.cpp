#include "analyzer/archive/native/trace/callpaths.hpp"

#include <algorithm>
#include <utility>

namespace logpost::analyzer {
namespace {

std::size_t hash(std::int32_t parent, std::int32_t region, std::int32_t site) noexcept {
    const auto key =
        (static_cast<std::uint64_t>(static_cast<std::uint32_t>(parent)) << 32) | static_cast<std::uint32_t>(region);
    const auto place = static_cast<std::uint64_t>(static_cast<std::uint32_t>(site)) * 0xC2B2AE3D27D4EB4FULL;
    return static_cast<std::size_t>(((key ^ place) * 0x9E3779B97F4A7C15ULL) >> 20);
}

}  // namespace

CallpathTree::CallpathTree() : nodes_{{kUndefined, kUndefined, 0, kRoot, kRoot}}, slots_(256, kRoot) {}

std::int32_t CallpathTree::find_or_add(std::int32_t parent, std::int32_t region, std::int32_t site) {
    const auto mask = slots_.size() - 1;
    auto slot = hash(parent, region, site) & mask;
    std::int32_t found = kRoot;
    while (slots_[slot] != kRoot) {
        const auto& node = nodes_[static_cast<std::size_t>(slots_[slot])];
        if (node.parent == parent && node.region == region && node.site == site) {
            found = slots_[slot];
            break;
        }
        slot = (slot + 1) & mask;
    }
    if (found == kRoot) {
        found = static_cast<std::int32_t>(nodes_.size());
        nodes_.push_back({parent, region, site, kRoot, kRoot});
        slots_[slot] = found;
        if (nodes_.size() * 2 > slots_.size()) {
            rehash();
        }
    }
    auto& above = nodes_[static_cast<std::size_t>(parent)];
    nodes_[static_cast<std::size_t>(above.last_child)].successor = found;
    above.last_child = found;
    return found;
}

void CallpathTree::rehash() {
    slots_.assign(slots_.size() * 2, kRoot);
    const auto mask = slots_.size() - 1;
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        auto slot = hash(nodes_[i].parent, nodes_[i].region, nodes_[i].site) & mask;
        while (slots_[slot] != kRoot) {
            slot = (slot + 1) & mask;
        }
        slots_[slot] = static_cast<std::int32_t>(i);
    }
}

std::vector<Callpath> merge_callpaths(const std::vector<const CallpathTree*>& trees,
                                      std::vector<std::vector<std::int32_t>>& renumber) {
    CallpathTree all;
    std::vector<std::vector<std::int32_t>> in_all(trees.size());
    for (std::size_t t = 0; t < trees.size(); ++t) {
        in_all[t].assign(trees[t]->size(), CallpathTree::kRoot);
        for (std::size_t i = 1; i < trees[t]->size(); ++i) {
            const auto node = static_cast<std::int32_t>(i);
            const auto parent = in_all[t][static_cast<std::size_t>(trees[t]->parent(node))];
            in_all[t][i] = all.child(parent, trees[t]->region(node), trees[t]->site(node));
        }
    }
    // Children of every node, by region and site.
    std::vector<std::vector<std::int32_t>> children(all.size());
    for (std::size_t i = 1; i < all.size(); ++i) {
        const auto node = static_cast<std::int32_t>(i);
        children[static_cast<std::size_t>(all.parent(node))].push_back(node);
    }
    std::vector<Callpath> merged;
    merged.reserve(all.size() - 1);
    std::vector<std::int32_t> final_id(all.size(), kUndefined);
    std::vector<std::int32_t> pending = {CallpathTree::kRoot};
    while (!pending.empty()) {
        const auto node = pending.back();
        pending.pop_back();
        if (node != CallpathTree::kRoot) {
            final_id[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(merged.size());
            merged.push_back({final_id[static_cast<std::size_t>(all.parent(node))], all.region(node), all.site(node)});
        }
        auto& mine = children[static_cast<std::size_t>(node)];
        std::sort(mine.begin(), mine.end(), [&](auto a, auto b) {
            return std::pair(all.region(a), all.site(a)) > std::pair(all.region(b), all.site(b));
        });
        pending.insert(pending.end(), mine.begin(), mine.end());
    }
    renumber.resize(trees.size());
    for (std::size_t t = 0; t < trees.size(); ++t) {
        renumber[t].resize(trees[t]->size());
        for (std::size_t i = 0; i < renumber[t].size(); ++i) {
            renumber[t][i] = final_id[static_cast<std::size_t>(in_all[t][i])];
        }
    }
    return merged;
}

}  // namespace logpost::analyzer
