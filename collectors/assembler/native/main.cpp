// logpost-assemble RAW OUT: makes an OTF2 archive of a directory of raw logs. Prints a summary as JSON; needs no MPI.
// logpost-assemble --gasnet OUT FILE...: the same of GASNet's own text traces.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "archive.hpp"
#include "gasnet_archive.hpp"
#include "json.hpp"

int main(int argc, char** argv) {
    using namespace logpost::assembler;
    if (argc == 2 && std::string(argv[1]) == "--sources") {
        std::cout << LOGPOST_SOURCES << '\n';
        return 0;
    }
    const bool from_gasnet = argc >= 4 && std::string(argv[1]) == "--gasnet";
    if (argc != 3 && !from_gasnet) {
        std::cerr << "usage: logpost-assemble RAW_DIRECTORY NEW_ARCHIVE_DIRECTORY\n"
                     "       logpost-assemble --gasnet NEW_ARCHIVE_DIRECTORY FILE...\n";
        return 2;
    }
    try {
        if (from_gasnet) {
            gasnet::import(argv[2], std::vector<std::string>(argv + 3, argv + argc), std::cout);
            return 0;
        }
        Job job = read_job(argv[1]);
        unify(job);
        judge_failed(job);
        fit_clocks(job);
        const Tally tally = write_archive(argv[2], job);
        std::size_t threads = 0;
        std::size_t stopped = 0;
        std::size_t finalized = 0;
        for (const auto& process : job.processes) {
            threads += process->threads.size();
            for (const auto& thread : process->threads) {
                stopped += thread->stopped ? 1U : 0U;
                finalized += thread->finalized ? 1U : 0U;
            }
        }
        std::cout << "{\"ranks\": " << job.by_rank.size() << ", \"recorded\": " << job.processes.size()
                  << ", \"finalized\": " << finalized << ", \"threads\": " << threads << ", \"stopped\": " << stopped
                  << ", \"hosts\": " << job.hosts.size() << ", \"communicators\": " << job.comms.size()
                  << ", \"calls\": " << tally.calls << ", \"events\": " << tally.events
                  << ", \"calls_with_site\": " << tally.calls_with_site
                  << ", \"unknown_communicator\": " << tally.messages_without_comm
                  << ", \"regions_entered\": " << tally.regions_entered
                  << ", \"region_ends_left_out\": " << tally.ends_alone << ", \"windows\": " << job.windows.size()
                  << ", \"unknown_window\": " << tally.accesses_without_window
                  << ", \"contradictory_statuses\": " << tally.contradictory
                  << ", \"overwritten_calls\": " << lost_of(job).calls << ", \"skipped_calls\": " << tally.off.calls
                  << ", \"halves_left_out\": " << tally.halves << ", \"incomplete_requests\": " << tally.pending
                  << ", \"ticks_per_second\": " << job.resolution << ", \"length_ticks\": " << tally.last - tally.first
                  << ", \"warnings\": [";
        const char* separator = "";
        for (const std::string& warning : job.warnings) {
            std::cout << separator << quoted(warning);
            separator = ", ";
        }
        std::cout << "]}\n";
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
