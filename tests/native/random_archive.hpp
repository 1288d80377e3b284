#pragma once

// Whole archives by chance: what a writer may write, and what a broken one may, with records of every kind that the
// reader knows. The same seed, or the same bytes of a fuzzer, give the same archive.

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "archive_builder.hpp"
#include "odd_definitions.hpp"

namespace logpost::tests {

class RandomArchive {
  public:
    /// Draws a number below n, which is not 0.
    using Draw = std::function<std::uint64_t(std::uint64_t n)>;

    explicit RandomArchive(Draw draw) : draw_(std::move(draw)) {}
    explicit RandomArchive(std::uint64_t seed)
        : draw_([random = std::mt19937_64(seed)](std::uint64_t n) mutable { return random() % n; }) {}

    /// Whether processes have records of one-sided communication.
    bool one_sided = true;

    /// Writes the archive into a directory that does not exist; returns the anchor file.
    std::filesystem::path write(const std::filesystem::path& directory) {
        ArchiveBuilder archive(directory, ArchiveBuilder::kSmallest);
        static constexpr const char* kRegions[] = {
            "main",          "solve",     "MPI_Init",     "MPI_Finalize",   "MPI_Send",    "MPI_Isend",
            "MPI_Ssend",     "MPI_Recv",  "MPI_Irecv",    "MPI_Wait",       "MPI_Waitall", "MPI_Test",
            "MPI_Sendrecv",  "MPI_Probe", "MPI_Barrier",  "MPI_Allreduce",  "MPI_Ibcast",  "MPI_Put",
            "MPI_Win_fence", "MPI_Start", "MPI_Win_lock", "MPI_Win_unlock", "shmem_put64", "shmem_barrier_all"};
        regions_.clear();
        for (const auto* name : kRegions) {
            const bool user = name[0] != 'M' && name[0] != 's';
            regions_.push_back(archive.region(name, user ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI));
        }
        static constexpr std::uint64_t kResolutions[] = {1'000'000'000, 1'000'000'000'000, 2'596'156'638, 1'000'000, 1};
        archive.ticks_per_second = wild() ? one_of(kResolutions) : kResolutions[0];
        archive.global_offset = wild() ? size() : 0;
        ranks_ = 1 + below(5);
        archive.world(ranks_);
        archive.self_communicator(1);
        if (ranks_ > 2 && wild()) {
            archive.inter_communicator({0}, {1, 2}, 2);
        }
        archive.window(0, 0);
        const auto place = archive.source_location("solve.c", 40);
        const auto outer = archive.calling_context(regions_[0], place);
        const auto inner = archive.calling_context(regions_[1], place, outer);
        archive.calling_context(regions_[4], OTF2_UNDEFINED_SOURCE_CODE_LOCATION, inner);
        archive.cores("n0", 4);
        archive.cpu_binding(0, "0");
        archive.change_definitions = [this](std::vector<Definition>& rows) {
            if (below(2) == 0) {
                OddDefinitions(rows, draw_).change(1 + below(6));
            }
        };
        step_ = one_of(kSteps);
        for (std::uint32_t l = 0; l < ranks_; ++l) {
            if (below(4) == 0) {
                const auto shift = wild() ? size() : below(1000);  // unsigned: the later one may begin anew at the end
                const auto later = shift + (wild() ? 1'000'000 : 3);
                archive.local(l,
                              {{below(100), static_cast<std::int64_t>(shift)},
                               {100 + below(100'000), static_cast<std::int64_t>(later)}},
                              wild() ? std::map<std::uint64_t, std::uint64_t>{{below(30), below(30)}}
                                     : std::map<std::uint64_t, std::uint64_t>{});
            }
            archive.events(l, [&](Events& events) { fill(events, l); });
        }
        return archive.finish();
    }

    /// A number below n.
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(draw_(n)); }

    template <class T, std::size_t n>
    const T& one_of(const T (&values)[n]) {
        return values[below(static_cast<std::uint32_t>(n))];
    }

  private:
    static constexpr std::uint64_t kSteps[] = {
        0, 1, 20, 1000, 1'000'000, std::uint64_t{1} << 40, std::uint64_t{1} << 50};

    bool wild() { return below(24) == 0; }

    std::uint64_t size() {
        static constexpr std::uint64_t kSizes[] = {0,
                                                   1,
                                                   8,
                                                   1023,
                                                   1024,
                                                   65536,
                                                   std::uint64_t{1} << 31,
                                                   (std::uint64_t{1} << 44) - 1,
                                                   std::uint64_t{1} << 44,
                                                   std::uint64_t{1} << 62,
                                                   (std::uint64_t{1} << 63) - 1,
                                                   std::uint64_t{1} << 63,
                                                   UINT64_MAX};
        return wild() ? one_of(kSizes) : kSizes[below(6)];
    }

    std::uint64_t next() {
        time_ += step_ == 0 ? 0 : draw_(2 * step_);
        if (below(400) == 0) {
            time_ += size();
        }
        return time_;
    }

    /// Rounds that most ranks go through alike, so that messages match, and stray records between them.
    void fill(Events& e, std::uint32_t self) {
        time_ = 0;
        const auto right = (self + 1) % ranks_;
        const auto left = (self + ranks_ - 1) % ranks_;
        const auto rounds = 1 + below(6);
        tried([&] { e.enter(next(), regions_[0]); });
        for (std::uint64_t round = 0; round < rounds; ++round) {
            tried([&] {
                e.enter(next(), regions_[8]).irecv_request(next(), 2 * round).leave(next(), regions_[8]);
                e.enter(next(), regions_[5]);
                e.isend(next(), right, 0, 1, size(), 2 * round + 1).leave(next(), regions_[5]);
                e.enter(next(), regions_[10]).isend_complete(next(), 2 * round + 1);
                e.irecv(next(), left, 0, 1, size(), 2 * round).leave(next(), regions_[10]);
            });
            for (auto stray = below(6); stray > 0; --stray) {
                tried([&] { one(e); });
            }
            tried([&] {
                e.enter(next(), regions_[14]);
                const auto begin = next();
                e.collective(begin, next(), OTF2_COLLECTIVE_OP_BARRIER, 0).leave(next(), regions_[14]);
            });
        }
        if (!wild()) {
            tried([&] { e.leave(next(), regions_[0]); });
        }
    }

    /// libotf2 refuses to write some of it: what it refuses is no input.
    template <class Body>
    void tried(Body&& body) {
        try {
            body();
        } catch (const std::runtime_error&) {
        }
    }

    std::uint32_t region() {
        return wild() ? below(100) : regions_[below(static_cast<std::uint32_t>(regions_.size()))];
    }
    std::uint32_t peer() { return wild() ? below(1000) : below(ranks_); }
    std::uint32_t comm() { return wild() ? below(5) : 0; }
    std::uint64_t request() { return below(12); }
    std::uint32_t context() { return wild() ? below(100) : below(3); }

    void one(Events& e) {
        switch (below(one_sided ? 24 : 14)) {
            case 0:
                e.enter(next(), region());
                break;
            case 1:
                e.leave(next(), region());
                break;
            case 2:
                e.enter(next(), regions_[4]).send(next(), peer(), comm(), below(2), size()).leave(next(), regions_[4]);
                break;
            case 3:
                e.enter(next(), regions_[7]).recv(next(), peer(), comm(), below(2), size()).leave(next(), regions_[7]);
                break;
            case 4:
                e.isend(next(), peer(), comm(), below(2), size(), request());
                break;
            case 5:
                e.isend_complete(next(), request());
                break;
            case 6:
                e.irecv_request(next(), request());
                break;
            case 7:
                e.irecv(next(), peer(), comm(), below(2), size(), request());
                break;
            case 8:
                e.request_test(next(), request());
                break;
            case 9:
                e.cancelled(next(), request());
                break;
            case 10: {
                const auto begin = next();
                e.enter(begin, regions_[15]);
                e.collective(begin, next(), static_cast<OTF2_CollectiveOp>(below(24)), comm(), peer(), size(), size());
                e.leave(next(), regions_[15]);
                break;
            }
            case 11:
                e.collective_request(next(), request());
                break;
            case 12:
                e.collective_complete(next(), static_cast<OTF2_CollectiveOp>(below(24)), comm(), request());
                break;
            case 13:
                e.measurement(next(), below(2) == 0 ? OTF2_MEASUREMENT_OFF : OTF2_MEASUREMENT_ON);
                break;
            case 14:
                e.enter(next(), regions_[17]).put(next(), 0, peer(), size(), request()).leave(next(), regions_[17]);
                break;
            case 15:
                e.enter(next(), regions_[22]).get(next(), 0, peer(), size(), request()).leave(next(), regions_[22]);
                break;
            case 16:
                e.completed(next(), 0, request());
                break;
            case 17:
                e.completed_remotely(next(), 0, request());
                break;
            case 18: {
                const auto begin = next();
                e.enter(begin, regions_[18]).rma_collective(begin, next(), OTF2_COLLECTIVE_OP_BARRIER, 0);
                e.leave(next(), regions_[18]);
                break;
            }
            case 19:
                e.request_lock(next(), 0, peer(), OTF2_LOCK_EXCLUSIVE);
                break;
            case 20:
                e.acquire_lock(next(), 0, peer(), OTF2_LOCK_EXCLUSIVE);
                break;
            case 21:
                e.release_lock(next(), 0, peer());
                break;
            case 22:
                e.context_enter(next(), context());
                break;
            default:
                e.context_leave(next(), context());
        }
    }

    Draw draw_;
    std::vector<std::uint32_t> regions_;
    std::uint32_t ranks_ = 1;
    std::uint64_t step_ = 1;
    std::uint64_t time_ = 0;
};

}  // namespace logpost::tests
