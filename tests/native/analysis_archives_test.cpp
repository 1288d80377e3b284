// Whole analyses of the real archives in batches on several threads: the identities hold, and nothing depends on how
// many threads worked or how long the batches were. `make sanitize` runs the same under the sanitizers.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/archive/native/events/damage.hpp"
#include "analyzer/archive/native/read/program.hpp"
#include "analyzer/archive/native/read/read.hpp"
#include "replay/native/cost/model.hpp"
#include "replay/native/split/analysis.hpp"
#include "replay/native/split/samples.hpp"
#include "replay/native/waits/wait_states.hpp"

namespace logpost::analyzer {
namespace {

namespace fs = std::filesystem;

/// A machine with everything a machine can have: ranges, an eager limit, strided layouts, log3P, two NICs.
replay::Parameters machine() {
    replay::Parameters parameters;
    for (auto& locality : parameters.localities) {
        locality.ranges.push_back({.up_to_bytes = 1024, .L = 500e3, .o_s = 100e3, .o_r = 120e3, .g = 100e3, .G = 100});
        locality.ranges.push_back({.up_to_bytes = UINT64_MAX,
                                   .L = 900e3,
                                   .o_s = 150e3,
                                   .o_s_per_byte = 10,
                                   .o_r = 120e3,
                                   .g = 150e3,
                                   .G = 90});
        locality.eager_limit = 8192;
    }
    const std::vector<double> bytes{8, 65536};
    parameters.middleware.tables = {
        {.block_bytes = 0,
         .l_mw = {.z = {16, 1024}, .curves = {{.x = bytes, .y = {1e3, 1e6}}, {.x = bytes, .y = {1e4, 1e7}}}}}};
    parameters.o_mw = {.x = bytes, .y = {2e5, 4e6}};
    parameters.o_net = {.x = bytes, .y = {5e5, 7e6}};
    parameters.nics_per_node = 2;
    return parameters;
}

using Figures = std::vector<std::int64_t>;

void add_messages(replay::Analysis& analysis, std::size_t batch, Figures& figures) {
    using replay::MessageRows;
    MessageRows messages;
    while (analysis.next_messages(batch, messages)) {
        for (std::size_t i = 0; i < messages.bytes.size(); ++i) {
            std::int64_t sum = 0;
            for (std::size_t part = 0; part < replay::kParts; ++part) {
                const auto length = messages.times[MessageRows::first_part + part][i];
                EXPECT_GE(length, 0);
                sum += length;
                figures.push_back(length);
            }
            EXPECT_EQ(sum, messages.times[MessageRows::envelope][i]);
        }
    }
}

void add_calls(replay::Analysis& analysis, std::size_t batch, Figures& figures) {
    replay::CallRows calls;
    for (std::size_t block = 0; block < analysis.call_blocks(); ++block) {
        while (analysis.next_calls(block, batch, calls)) {
            for (std::size_t i = 0; i < calls.enter.size(); ++i) {
                std::int64_t sum = 0;
                for (std::size_t category = 0; category < calls.exposed.size(); ++category) {
                    sum += calls.exposed_ps(category, i);
                    figures.push_back(calls.exposed_ps(category, i));
                }
                EXPECT_EQ(sum, calls.leave[i] - calls.enter[i]);
            }
        }
    }
}

/// Sums, the critical path, and what made others wait.
void add_sums(const replay::Program& program, replay::Analysis& analysis, Figures& figures) {
    for (std::size_t i = 0; i < analysis.accounted().size(); ++i) {
        const auto location = analysis.accounted()[i];
        std::int64_t wall = 0;
        for (const auto& row : analysis.accounts()[i]) {
            EXPECT_GT(row.exposed_ps, 0);
            wall += row.exposed_ps;
            figures.push_back(row.exposed_ps);
        }
        EXPECT_EQ(wall, program.timelines[location].last_ps - program.timelines[location].first_ps);
        for (const auto& state : analysis.wait_states()[location]) {
            figures.push_back(state.wait_ticks);
        }
    }
    // The critical path is as long as the execution, without a gap; every picosecond of it is accounted.
    std::int64_t begin = INT64_MAX;
    std::int64_t end = INT64_MIN;
    for (const auto location : analysis.accounted()) {
        begin = std::min(begin, program.timelines[location].first_ps);
        end = std::max(end, program.timelines[location].last_ps);
    }
    std::int64_t at = begin;
    std::int64_t accounted = 0;
    for (const auto& stretch : analysis.path()) {
        EXPECT_EQ(stretch.begin_ps, at);
        EXPECT_GE(stretch.end_ps, stretch.begin_ps);
        at = stretch.end_ps;
        accounted += stretch.location == replay::kNoLocation ? stretch.end_ps - stretch.begin_ps : 0;
    }
    for (std::size_t item = 0; item < analysis.accounted().size(); ++item) {
        for (const auto& row : analysis.callpaths(item)) {
            for (const auto length : row.on_path) {
                accounted += length;
                figures.push_back(length);
            }
        }
    }
    if (!analysis.accounted().empty()) {
        EXPECT_EQ(at, end);
        EXPECT_EQ(accounted, end - begin);
    }
    for (const auto& cost : analysis.delays()) {
        EXPECT_GE(cost.short_term_ps, 0);
        EXPECT_GE(cost.long_term_ps, 0);
        figures.push_back(static_cast<std::int64_t>(cost.short_term_ps));
        figures.push_back(static_cast<std::int64_t>(cost.long_term_ps));
    }
    for (const auto& locality : replay::samples(program, 1000)) {
        figures.push_back(static_cast<std::int64_t>(locality.messages));
    }
}

/// Every figure of an analysis, in the order of the tables' rows.
Figures analyze(const replay::Program& program, unsigned threads, std::size_t batch,
                replay::Model model = replay::Model::full) {
    const auto parameters = replay::reduced(machine(), model);
    replay::Analysis analysis(program, parameters, {}, threads);
    Figures figures;
    add_messages(analysis, batch, figures);
    add_calls(analysis, batch, figures);
    add_sums(program, analysis, figures);
    return figures;
}

/// The same while causes are found concurrently with the choice of a machine, the queues, and messages and calls, which
/// are read at once: as a run is written.
Figures analyze_at_once(const replay::Program& program, unsigned threads, std::size_t batch) {
    const auto parameters = machine();
    const auto causes = std::make_shared<replay::Causes>(program, std::vector<replay::Span>{}, threads);
    std::jthread finds([&] { causes->delays(); });
    replay::samples(program, 1000);
    replay::Analysis analysis(program, parameters, threads, causes);
    Figures figures;
    Figures of_calls;
    {
        const std::jthread calls([&] { add_calls(analysis, batch, of_calls); });
        const std::jthread delays([&] { analysis.delays(); });
        const std::jthread waits([&] { analysis.wait_states(); });
        add_messages(analysis, batch, figures);
        replay::TransferRows transfers;
        while (analysis.next_transfers(batch, transfers)) {
        }
        analysis.path();
        analysis.pairs();
    }
    figures.insert(figures.end(), of_calls.begin(), of_calls.end());
    add_sums(program, analysis, figures);
    return figures;
}

TEST(AnalysisOfArchives, AddsUpAndDependsNeitherOnThreadsNorOnBatches) {
    std::size_t analyzed = 0;
    for (const auto& entry : fs::directory_iterator(LOGPOST_ARCHIVES)) {
        SCOPED_TRACE(entry.path().filename().string());
        ReadOptions options;
        options.threads = 2;
        try {
            auto trace = read_archive(entry.path(), options);
            take_program(trace);
            // Comparing vectors by EXPECT_EQ would print them.
            const auto alone = analyze(trace.program, 1, 1U << 17U);
            EXPECT_TRUE(alone == analyze(trace.program, 3, 5000));
            EXPECT_TRUE(alone == analyze_at_once(trace.program, 2, 5000));
            for (const auto model :
                 {replay::Model::loggp, replay::Model::logpc, replay::Model::log3p, replay::Model::logp}) {
                analyze(trace.program, 3, 1U << 17U, model);
            }
            ++analyzed;
        } catch (const ArchiveError&) {
            EXPECT_EQ(entry.path().filename(), "casita-4_mpi_lammps_colloid");
        }
    }
    EXPECT_GE(analyzed, 20U);
}

}  // namespace
}  // namespace logpost::analyzer
