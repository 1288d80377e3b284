/// A graph in a file: what is read is what was written, or nothing.

#include "replay/native/graph/stored.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "scratch_directory.hpp"

namespace logpost::replay {
namespace {

namespace fs = std::filesystem;

class StoredGraph : public testing::Test {
  protected:
    void SetUp() override {
        graph_.first_edge = {0, 1, 3};
        graph_.arcs = {Arc(Graph::kNoSource, 0), Arc(0, 1), Arc(1, 2)};
        graph_.models = {{.kind = EdgeModel::Kind::compute, .location = Location{1}, .callpath = 4}};
        graph_.costs = {17};
        graph_.own_weights = {5, -6};
        graph_.own_models = {0, 0};
        graph_.callpath = {2, 3};
        graph_.callpaths = 4;
        graph_.chooses = true;
        graph_.steps = {{.origin = 1, .bytes = 9}};
        graph_.rebuilt = 3;
        graph_.slots_needed = 2;
        graph_.communicates = {1, 0};
        graph_.tick_ps = 1000;
        ran_.placement =
            Placement({{.process = 0, .socket = 1, .node = 0, .rank = Rank{0}}, {.process = 1, .node = 1}});
        ran_.placement.set_hops({0, 2, 2, 0}, {1, 0});
        ran_.network.pairs = {Network::key_of(0, 1)};
        ran_.network.route_begin = {0, 2};
        ran_.network.route = {0, 1};
        ran_.network.links = 2;
        ran_.network.byte_ps = 12.5;
    }

    tests::ScratchDirectory scratch_;
    fs::path folder_ = scratch_.path();
    fs::path file_ = folder_ / "graph.bin";
    Graph graph_;
    Surroundings ran_;
};

TEST_F(StoredGraph, IsReadAsItWasWritten) {
    ASSERT_TRUE(store_graph(graph_, ran_, file_, "key"));
    const auto stored = stored_graph(file_, "key");
    ASSERT_TRUE(stored.has_value());
    const auto* const found = &stored->graph;
    EXPECT_EQ(found->first_edge, graph_.first_edge);
    ASSERT_EQ(found->arcs.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found->arcs[i].source, graph_.arcs[i].source);
        EXPECT_EQ(found->arcs[i].row(), graph_.arcs[i].row());
    }
    EXPECT_EQ(found->models, graph_.models);
    EXPECT_EQ(found->costs, graph_.costs);
    EXPECT_EQ(found->own_weights, graph_.own_weights);
    EXPECT_EQ(found->callpath, graph_.callpath);
    EXPECT_EQ(found->callpaths, 4U);
    EXPECT_TRUE(found->chooses);
    EXPECT_EQ(found->steps.at(0).bytes, 9U);
    EXPECT_EQ(found->rebuilt, 3U);
    EXPECT_EQ(found->slots_needed, 2U);
    EXPECT_EQ(found->communicates, graph_.communicates);
    EXPECT_EQ(found->tick_ps, 1000);
    EXPECT_EQ(stored->ran.placement, ran_.placement);
    EXPECT_EQ(stored->ran.placement.hops(Location{0}, Location{1}), 2);
    EXPECT_EQ(stored->ran.network.pairs, ran_.network.pairs);
    EXPECT_EQ(stored->ran.network.pair(0, 1), 0U);
    EXPECT_EQ(stored->ran.network.links_of(0).back(), 1);
    EXPECT_EQ(stored->ran.network.byte_ps, 12.5);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1) << "nothing else is left";
}

TEST_F(StoredGraph, OfAnotherKeyThereIsNone) {
    EXPECT_FALSE(stored_graph(file_, "key").has_value());
    ASSERT_TRUE(store_graph(graph_, ran_, file_, "key"));
    EXPECT_FALSE(stored_graph(file_, "kez").has_value());
    EXPECT_FALSE(stored_graph(file_, "").has_value());
    graph_.rebuilt = 4;
    ASSERT_TRUE(store_graph(graph_, ran_, file_, "kez")) << "the file is replaced";
    EXPECT_EQ(stored_graph(file_, "kez").value().graph.rebuilt, 4U);
}

TEST_F(StoredGraph, OfAFileThatIsCutOrChangedThereIsNone) {
    ASSERT_TRUE(store_graph(graph_, ran_, file_, "key"));
    std::string whole;
    {
        std::ifstream in(file_, std::ios::binary);
        whole.assign(std::istreambuf_iterator<char>(in), {});
    }
    const auto write = [&](const std::string& bytes) { std::ofstream(file_, std::ios::binary) << bytes; };
    for (std::size_t at = 0; at < whole.size(); at += 7) {
        write(whole.substr(0, at));
        ASSERT_FALSE(stored_graph(file_, "key").has_value()) << at << " bytes";
        auto changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x40);
        write(changed);
        ASSERT_FALSE(stored_graph(file_, "key").has_value()) << "byte " << at;
    }
    write(whole);
    EXPECT_TRUE(stored_graph(file_, "key").has_value());
}

TEST_F(StoredGraph, WhereNoFileCanBeWrittenNoneIs) {
    EXPECT_FALSE(store_graph(graph_, ran_, folder_ / "missing" / "graph.bin", "key"));
}

}  // namespace
}  // namespace logpost::replay
