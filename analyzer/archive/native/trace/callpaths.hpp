#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// A calling-context tree that grows while events are read. Node 0 is the root and stands for no region; parents are
/// before their children.
class CallpathTree {
  public:
    static constexpr std::int32_t kRoot = 0;

    CallpathTree();

    /// The child of `parent` for `region`. Programs repeat themselves: a child is mostly followed by the sibling that
    /// followed it the last time. So each node remembers its successor, and the hash is looked up only when that fails.
    /// `site` distinguishes calls of one function from different places of its caller; 0: unknown.
    std::int32_t child(std::int32_t parent, std::int32_t region, std::int32_t site = 0) {
        auto& above = nodes_[static_cast<std::size_t>(parent)];
        const auto guess = nodes_[static_cast<std::size_t>(above.last_child)].successor;
        const auto& guessed = nodes_[static_cast<std::size_t>(guess)];
        if (guessed.parent == parent && guessed.region == region && guessed.site == site) {
            above.last_child = guess;
            return guess;
        }
        return find_or_add(parent, region, site);
    }

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] std::int32_t parent(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].parent; }
    [[nodiscard]] std::int32_t region(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].region; }

    [[nodiscard]] std::int32_t site(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].site; }

  private:
    struct Node {
        std::int32_t parent;
        std::int32_t region;
        std::int32_t site;
        std::int32_t last_child;  // kRoot: none yet
        std::int32_t successor;   // the sibling that followed this one the last time
    };
    std::int32_t find_or_add(std::int32_t parent, std::int32_t region, std::int32_t site);
    void rehash();

    std::vector<Node> nodes_;
    std::vector<std::int32_t> slots_;  // open addressing over (parent, region, site); kRoot: free
};

/// Merges the trees of several threads. Returns the tree's nodes in an order that does not depend on how the locations
/// were shared out: depth first, children by region and place of the call. `renumber[thread][node]` is the new id; -1
/// for roots.
std::vector<Callpath> merge_callpaths(const std::vector<const CallpathTree*>& trees,
                                      std::vector<std::vector<std::int32_t>>& renumber);

}  // namespace logpost::analyzer
