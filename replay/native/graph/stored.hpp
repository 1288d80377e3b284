#pragma once

/// A graph in a file, so that it is built once a run. Columns are as in memory, so the file is for the build of logpost
/// and the machine that wrote it: `key` names these, the run and all else that the graph depends on.

#include <filesystem>
#include <optional>
#include <string_view>

#include "replay/native/graph/graph.hpp"
#include "replay/native/program/surroundings.hpp"

namespace logpost::replay {

/// A graph, and where its program ran.
struct PlacedGraph {
    Graph graph;
    Surroundings ran;
};

/// Writes a graph, whole or not at all; not where it would fill more than a tenth of the free space. Whether it could.
bool store_graph(const Graph& graph, const Surroundings& ran, const std::filesystem::path& file,
                 std::string_view key) noexcept;

/// The graph that was stored under this key. Nothing where there is none, or the file is not whole: its sum is checked.
std::optional<PlacedGraph> stored_graph(const std::filesystem::path& file, std::string_view key);

}  // namespace logpost::replay
