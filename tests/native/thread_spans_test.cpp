// What threads do in parallel regions. Times of the archives are ticks of 1000 ps; those of the tests are ticks, too.

#include "analyzer/archive/native/events/thread_spans.hpp"

#include <map>
#include <tuple>

#include "reader_fixture.hpp"

namespace logpost::analyzer {
namespace {

using Category = ThreadCategory;

/// Two threads of a process, and regions of OpenMP.
class ThreadSpans : public Reader {
  protected:
    ThreadSpans() {
        archive.location(0);
        archive.thread(10);
        archive.numbering(OTF2_PARADIGM_MPI, {0});
        archive.communicator({0}, 0, "MPI_COMM_WORLD");
    }
    std::uint32_t region(const char* name) { return archive.region(name, OTF2_PARADIGM_OPENMP); }

    std::uint32_t main = archive.region("main", OTF2_PARADIGM_USER);
    std::uint32_t parallel = region("!$omp parallel @a.c:1");
    std::uint32_t barrier = region("!$omp barrier @a.c:2");
    std::uint32_t implicit = region("!$omp implicit barrier @a.c:9");
    std::uint32_t critical = region("!$omp critical @a.c:3");
    std::uint32_t block = region("!$omp critical sblock @a.c:3");
    std::uint32_t task = region("!$omp task @a.c:4");
    std::uint32_t implicit_task = region("!$omp implicit_task");
    std::uint32_t wait_barrier = region("!$omp wait_barrier");
};

/// Time of a location by category; ticks.
std::map<Category, std::int64_t> sums(const Trace& trace, std::int32_t location) {
    std::map<Category, std::int64_t> found;
    for (const auto& span : trace.thread_spans) {
        if (replay::number(span.location) == location) {
            found[span.category] += (span.end_ps - span.begin_ps) / 1000;
        }
    }
    return found;
}

std::string name_of(const Trace& trace, std::int32_t callpath) {
    const auto region = trace.callpaths[static_cast<std::size_t>(callpath)].region;
    return trace.regions[static_cast<std::size_t>(region)].name;
}

using Sums = std::map<Category, std::int64_t>;

TEST_F(ThreadSpans, WhoComesFirstToABarrierWaitsUntilTheLastIsThere) {
    archive.events(0, [&](Events& e) {
        e.enter(0, main).fork(10, 2).team_begin(12, 0).enter(13, parallel);
        e.enter(40, implicit).leave(72, implicit).leave(73, parallel).team_end(74, 0).join(80).leave(100, main);
    });
    archive.events(10, [&](Events& e) {
        e.team_begin(15, 0).enter(16, parallel);
        e.enter(70, implicit).leave(75, implicit).leave(76, parallel).team_end(77, 0);
    });
    const auto trace = read();
    // The fork lasts from 10 to 80. First thread: 10-13 and 70-72, 73-80 management, 13-40 and 72-73 in the region.
    EXPECT_EQ(sums(trace, 0), (Sums{{Category::parallel, 28}, {Category::imbalance, 30}, {Category::management, 12}}));
    // The other one: 10-16, 70-75, 76-80 management, 16-70 and 75-76 in the region; it waits for no thread.
    EXPECT_EQ(sums(trace, 1), (Sums{{Category::parallel, 55}, {Category::management, 15}}));
    for (const auto& span : trace.thread_spans) {
        EXPECT_EQ(name_of(trace, span.callpath), "!$omp parallel @a.c:1");
        EXPECT_EQ(span.instance, 0);
        EXPECT_EQ(name_of(trace, span.place),
                  span.category == Category::imbalance ? "!$omp implicit barrier @a.c:9" : "!$omp parallel @a.c:1");
    }
}

TEST_F(ThreadSpans, EachBarrierOfARegionIsOneOfItsOwn) {
    // Without forks and teams. First thread: works 10-20 and 40-50; the other one 10-40 and 40-45.
    archive.events(0, [&](Events& e) {
        e.enter(0, main).enter(10, parallel).enter(20, barrier).leave(40, barrier);
        e.enter(50, implicit).leave(50, implicit).leave(50, parallel).leave(60, main);
    });
    archive.events(10, [&](Events& e) {
        e.enter(10, parallel).enter(40, barrier).leave(40, barrier).enter(45, implicit).leave(50, implicit);
        e.leave(50, parallel);
    });
    const auto trace = read();
    EXPECT_EQ(sums(trace, 0), (Sums{{Category::parallel, 20}, {Category::imbalance, 20}}));
    EXPECT_EQ(sums(trace, 1), (Sums{{Category::parallel, 35}, {Category::imbalance, 5}}));
}

TEST_F(ThreadSpans, AfterAnExplicitBarrierWorkMayFollowUntilTheEnd) {
    archive.events(0, [&](Events& e) {
        e.enter(0, main).enter(10, parallel).enter(20, barrier).leave(20, barrier).leave(50, parallel).leave(60, main);
    });
    archive.events(10,
                   [&](Events& e) { e.enter(10, parallel).enter(15, barrier).leave(20, barrier).leave(30, parallel); });
    const auto trace = read();
    EXPECT_EQ(sums(trace, 0), (Sums{{Category::parallel, 40}}));
    EXPECT_EQ(sums(trace, 1), (Sums{{Category::parallel, 15}, {Category::imbalance, 25}}));  // 15-20, 30-50
}

TEST_F(ThreadSpans, CriticalSectionsTasksAndCallsAreToldApart) {
    const auto send = archive.region("MPI_Send");
    archive.events(0, [&](Events& e) {
        e.enter(0, main).enter(10, parallel).enter(20, critical).enter(25, block).leave(35, block).leave(36, critical);
        e.enter(40, send).send(40, 0, 0, 1, 8).leave(50, send);
        e.enter(60, implicit).leave(100, implicit).leave(100, parallel).leave(110, main);
    });
    archive.events(10, [&](Events& e) {
        // A task within the barrier: it is ready when that ends, at 90.
        e.enter(10, parallel).enter(50, implicit).enter(70, task).leave(90, task).leave(100, implicit);
        e.leave(100, parallel);
    });
    const auto trace = read();
    EXPECT_EQ(sums(trace, 0), (Sums{{Category::parallel, 10 + 10 + 4 + 10},
                                    {Category::synchronization, 5 + 1},
                                    {Category::communication, 10},
                                    {Category::imbalance, 30},
                                    {Category::management, 10}}));
    EXPECT_EQ(sums(trace, 1),
              (Sums{{Category::parallel, 40 + 20}, {Category::imbalance, 20}, {Category::management, 10}}));
}

TEST_F(ThreadSpans, AThreadThatIsInNoTeamOfARegionHasNoPartInIt) {
    archive.events(0, [&](Events& e) {
        e.enter(0, main).enter(10, parallel).leave(20, parallel).enter(30, parallel).leave(50, parallel);
        e.leave(60, main);
    });
    archive.events(10, [&](Events& e) { e.enter(30, parallel).leave(50, parallel); });
    const auto trace = read();
    EXPECT_EQ(sums(trace, 0), (Sums{{Category::parallel, 30}}));
    EXPECT_EQ(sums(trace, 1), (Sums{{Category::not_in_team, 10}, {Category::parallel, 20}}));
}

TEST_F(ThreadSpans, OmptLetsAThreadLeaveBeforeTheLastHasCome) {
    archive.events(0, [&](Events& e) {
        e.enter(0, main).enter(10, parallel).enter(12, implicit_task).enter(40, barrier).enter(41, wait_barrier);
        e.leave(80, wait_barrier).leave(81, barrier).leave(82, implicit_task).leave(85, parallel).leave(90, main);
    });
    archive.events(10, [&](Events& e) {
        e.enter(15, implicit_task).enter(20, barrier).leave(21, barrier).leave(22, implicit_task);
    });
    const auto trace = read();
    // First thread: 12-40 and 81-82 work; it arrived last, at 40: 10-12, 40-81, 82-85 management.
    EXPECT_EQ(sums(trace, 0), (Sums{{Category::parallel, 29}, {Category::management, 46}}));
    // The other one: 15-20 and 21-22 work; it waits 20-21 and 22-40.
    EXPECT_EQ(sums(trace, 1), (Sums{{Category::parallel, 6}, {Category::imbalance, 19}, {Category::management, 50}}));
}

TEST_F(ThreadSpans, WaitingInNestedRegionsIsNotDividedFurther) {
    archive.events(0, [&](Events& e) {
        e.enter(0, main).enter(10, parallel).enter(20, parallel).enter(30, implicit).leave(50, implicit);
        e.leave(50, parallel).leave(60, parallel).leave(70, main);
    });
    archive.events(
        10, [&](Events& e) { e.enter(20, parallel).enter(45, implicit).leave(50, implicit).leave(50, parallel); });
    const auto trace = read();
    EXPECT_EQ(sums(trace, 0), (Sums{{Category::parallel, 30}, {Category::imbalance, 20}}));
    EXPECT_EQ(sums(trace, 1), (Sums{{Category::not_in_team, 20}, {Category::parallel, 25}, {Category::imbalance, 5}}));
    EXPECT_EQ(trace.thread_spans.front().instance, kUndefined);
}

TEST_F(ThreadSpans, ARegionWithoutTheFirstThreadBelongsToNoExecution) {
    archive.events(0, [&](Events& e) { e.enter(0, main).enter(10, parallel).leave(20, parallel).leave(90, main); });
    archive.events(10,
                   [&](Events& e) { e.enter(30, parallel).enter(40, barrier).leave(45, barrier).leave(50, parallel); });
    const auto trace = read();
    EXPECT_EQ(sums(trace, 1), (Sums{{Category::not_in_team, 10}, {Category::parallel, 15}, {Category::imbalance, 5}}));
    EXPECT_EQ(trace.thread_spans.back().instance, kUndefined);
}

TEST_F(ThreadSpans, ABarrierOfNoLengthBelongsToTheRegionThatItEnds) {
    archive.events(0, [&](Events& e) {  // it arrives last, and the next region begins when the first one ends
        e.enter(0, main).enter(10, parallel).enter(30, implicit).leave(30, implicit).leave(30, parallel);
        e.enter(30, parallel).enter(50, implicit).leave(50, implicit).leave(50, parallel).leave(60, main);
    });
    archive.events(10, [&](Events& e) {
        for (const std::uint64_t begin : {10, 30}) {
            e.enter(begin, parallel).enter(begin + 5, implicit).leave(begin + 20, implicit).leave(begin + 20, parallel);
        }
    });
    const auto trace = read();
    EXPECT_EQ(sums(trace, 0), (Sums{{Category::parallel, 40}}));
    EXPECT_EQ(sums(trace, 1), (Sums{{Category::parallel, 10}, {Category::imbalance, 30}}));
}

TEST_F(ThreadSpans, AProcessOfOneThreadHasNone) {
    archive.events(0, [&](Events& e) { e.enter(0, main).enter(10, parallel).leave(20, parallel).leave(90, main); });
    archive.events(10, [&](Events& e) { e.enter(30, main).leave(50, main); });
    EXPECT_TRUE(read().thread_spans.empty());
}

TEST_F(ThreadSpans, SpansOfAThreadDoNotOverlapAndWholeExecutionsAreDivided) {
    archive.events(0, [&](Events& e) {
        e.enter(0, main).enter(10, parallel).enter(20, barrier).leave(25, barrier).leave(50, parallel).leave(60, main);
    });
    archive.events(10, [&](Events& e) {  // its clock is behind
        e.enter(5, parallel).enter(22, barrier).leave(26, barrier).leave(58, parallel);
    });
    const auto trace = read();
    for (const std::int32_t location : {0, 1}) {
        std::int64_t sum = 0;
        for (const auto& [category, time] : sums(trace, location)) {
            EXPECT_GE(time, 0);
            sum += time;
        }
        EXPECT_EQ(sum, 40);
    }
}

}  // namespace
}  // namespace logpost::analyzer
