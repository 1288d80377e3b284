// What the raw logs of one job say together: processes, worlds, hosts, clocks, communicators, layouts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "places.hpp"
#include "raw.hpp"
#include "ring.hpp"

namespace logpost::assembler {

inline constexpr std::uint32_t none = UINT32_MAX;

// A row of functions.txt: what the function numbers of the raw logs mean. Behind those are regions that stand for
// times at which recording was off and those between two threads of a location, and the regions that the program names.
struct Function {
    std::string name;
    std::string role;
    std::string operation;  // of a collective, as OTF2 spells it; "-" otherwise
    std::string file = {};  // of a function of the program
    std::uint32_t line = 0;
};

struct Measurement {
    double offset = 0;  // to be added to own ticks (of the archive's resolution) to get the reference's
    double error = 0;   // half the round trip
    std::uint64_t at = 0;
};

// A collective operation that returned an error.
struct Failed {
    std::uint64_t enter = 0;
    std::uint64_t leave = 0;
    std::uint32_t function = 0;
    std::uint32_t comm = 0;    // local id
    std::uint64_t before = 0;  // how many of the process's succeeded on the communicator before
    bool counts = false;       // the other members did it, so it is one of the communicator's
};

// From where calls were made.
struct Stack {
    std::vector<std::uint64_t> addresses = {};  // return addresses, innermost first
    std::vector<Place> python = {};             // the functions of the interpreter outside of these, innermost first
    bool cut = false;                           // callers beyond them were not recorded
};

// Code that a thread was in when a sample was taken, and the number of the stack of its callers; 0: not known.
struct Sampled {
    std::uint64_t address = 0;
    std::uint32_t callers = 0;

    auto operator<=>(const Sampled&) const = default;
};

// For how long a thread has been ready to run and had no processor, by an instant.
struct Queued {
    std::uint64_t ticks = 0;  // raw
    std::uint64_t ns = 0;
};

struct Thread {
    explicit Thread(RawLog of) : log(std::move(of)) {}

    RawLog log;
    std::string binding;
    std::uint64_t first = UINT64_MAX;  // raw ticks of the first and last completed call
    std::uint64_t last = 0;
    bool stopped = false;    // the disk was full or a limit was reached
    bool finalized = false;  // MPI_Finalize was seen
    std::uint64_t calls = 0;
    std::optional<lp_open> open;                   // the call that it was in when its process ended
    std::vector<Stack> stacks;                     // stack 1 is the first
    std::vector<Sampled> sampled;                  // each once, sorted
    std::uint64_t sample_period_ns = 0;            // of its processor time; 0: none was taken
    std::vector<std::vector<lp_carried>> carried;  // for each time that recording was off: requests pending then
    std::vector<std::vector<lp_ended>> ended;      // and those of other threads that had ended
    std::vector<Failed> failed;
    std::vector<Queued> queued;  // behind start-up, and before shut-down
};

struct Process {
    std::uint64_t id = 0;
    std::shared_ptr<const Ring> ring;              // nullptr: it has none
    std::vector<std::unique_ptr<Thread>> threads;  // by index; the first one called MPI_Init
    std::map<std::string, std::string> info;
    std::vector<lp_comm_def> comms;
    std::map<std::uint32_t, std::string> comm_names;
    std::vector<lp_rma_def> windows;
    std::map<std::uint32_t, std::string> window_names;
    std::unordered_map<std::uint32_t, lp_layout_def> layouts;
    std::vector<Module> modules;  // in the order in which they were noted
    std::vector<lp_sync> syncs;
    std::vector<lp_offset> offsets;
    std::vector<lp_skipped> skipped;  // while recording was off
    std::vector<lp_gap> rest;         // of threads that never noticed that it was on again
    std::map<std::uint32_t, std::string> region_names;
    std::map<std::uint32_t, std::uint64_t> region_functions;  // by their addresses
    std::map<std::uint32_t, std::string> files;               // as the kernel names them
    std::uint32_t world_rank = 0;
    std::uint32_t world_size = 0;

    std::uint32_t world = none;
    std::uint32_t rank = none;  // over all worlds
    std::uint32_t host = none;
    std::uint32_t clock = none;
    std::vector<Measurement> measured;
    std::unordered_map<std::uint32_t, std::uint32_t> comm_refs;    // local id -> archive's communicator
    std::unordered_map<std::uint32_t, std::uint32_t> window_refs;  // local id -> archive's window
    std::unordered_map<std::uint32_t, std::uint32_t> layout_refs;  // local id -> string
    std::unordered_map<std::uint32_t, std::uint32_t> region_refs;  // local id -> number among the job's functions
    // a call on a file (lp_file_call) and the file's local id, 0 for unknown ones -> number among the job's functions
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> file_call_refs;
    std::unordered_map<std::uint32_t, std::uint32_t> file_refs;  // local id -> among the job's files
};

struct World {
    std::uint32_t size = 0;
    std::uint32_t first_rank = 0;
    std::uint64_t real_ns = UINT64_MAX;  // when its first process started
};

struct Host {
    std::string name;
    std::uint64_t cores = 0;
};

// One oscillator: all processes of a host that use the same kind of clock share it.
struct Clock {
    std::string boot;
    std::uint32_t kind = 0;
    double hertz = 0;
    std::uint64_t base = 0;
    double base_span_s = 0;  // over which the rate was measured
};

struct Communicator {
    bool inter = false;
    bool self = false;
    std::array<std::vector<std::uint32_t>, 2> members;  // ranks over all worlds, `none` where no log states them
    std::string name;
    std::uint32_t name_rank = none;
    std::uint32_t parent = none;
    bool created = false;  // create and destroy events are written
};

// For one-sided accesses.
struct Window {
    std::uint32_t comm = none;  // the archive's; whose members it connects
    std::string name;
    std::uint32_t name_rank = none;
};

struct Job {
    std::vector<std::unique_ptr<Process>> processes;  // in the order of rank
    std::vector<Process*> by_rank;                    // nullptr: no log of that rank
    std::vector<World> worlds;
    std::vector<Host> hosts;
    std::vector<Clock> clocks;
    std::vector<Communicator> comms;
    std::vector<Window> windows;
    std::vector<Function> functions;  // by number
    std::vector<std::string> files;   // that calls of the C library reach, as the kernel names them
    std::uint32_t off = 0;            // the one that stands for times at which recording was off,
    std::uint32_t no_thread = 0;      // and for those between two threads
    std::uint64_t table = 0;
    bool so_far = false;           // the program still runs
    std::string program;           // as the archive is named after it
    std::uint64_t resolution = 0;  // ticks per second of the archive
    std::vector<std::string> warnings;

    // The process of a rank; nullptr where no log states it, and for the place of unknown members, which is one beyond
    // the last rank.
    Process* process_of(std::uint32_t rank) const { return rank < by_rank.size() ? by_rank[rank] : nullptr; }
    bool has_unknown_members() const;
    // A duration in the archive's ticks.
    std::uint64_t ns(std::uint64_t ticks) const {
        return static_cast<std::uint64_t>(static_cast<long double>(ticks) * 1e9L /
                                          static_cast<long double>(resolution));
    }
};

// Reads functions.txt and all *.raw files of a directory. Throws std::runtime_error with a line for the user.
Job read_job(const std::filesystem::path& directory);

// Gives ranks, hosts, communicators and windows their numbers.
void unify(Job& job);

// The communicator (local id) of a collective operation that returned an error; 0: the record is another one.
std::uint32_t failed_over(const Record& record);

// Finds which collective operations that failed on some members are operations of the communicator all the same.
void judge_failed(Job& job);

// Finds rates and offsets of the clocks; sets job.resolution.
void fit_clocks(Job& job);

// Raw ticks of a process in the archive's resolution, before offsets.
std::uint64_t to_archive_ticks(const Job& job, const Process& process, std::uint64_t ticks);

// The same with the offset applied (interpolated between measurements), for the extent of the trace.
std::uint64_t to_global_ticks(const Job& job, const Process& process, std::uint64_t ticks);

}  // namespace logpost::assembler
