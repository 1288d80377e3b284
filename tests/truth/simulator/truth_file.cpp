#include "truth_file.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "ledger.hpp"

namespace logpost::truth {
namespace {

std::ofstream open(const std::filesystem::path& file) {
    std::ofstream out(file);
    if (!out) {
        throw std::runtime_error("cannot write " + file.string());
    }
    return out;
}

std::string quoted(const std::string& text) {
    return '"' + text + '"';  // names and stories are ours: nothing in them needs an escape
}

template <class Values>
std::string list(const Values& values) {
    std::string text = "[";
    for (const auto& value : values) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(value);
    }
    return text + "]";
}

std::string sums(const Sums& values) {
    std::string text = "{";
    for (std::size_t i = 0; i < kCauses; ++i) {
        if (values[i] != 0) {
            text +=
                (text.size() > 1 ? ", " : "") + quoted(std::string(kCauseNames[i])) + ": " + std::to_string(values[i]);
        }
    }
    return text + "}";
}

std::string sums(const ThreadSums& of) {
    const std::pair<const char*, Time> values[] = {{"parallel", of.parallel},
                                                   {"imbalance", of.imbalance},
                                                   {"communication", of.communication},
                                                   {"serial", of.serial},
                                                   {"idle_communication", of.idle_communication},
                                                   {"idle_serial", of.idle_serial},
                                                   {"not_in_team", of.not_in_team}};
    std::string text;
    for (const auto& [name, time] : values) {
        text.append(text.empty() ? "{" : ", ").append(quoted(name)).append(": ").append(std::to_string(time));
    }
    return text + "}";
}

void write_class(std::ofstream& out, const std::string& name, const Class& values, const Machine& machine) {
    out << "\n[loggp." << name << "]\n";
    if (machine.eager_limit.has_value()) {
        out << "eager_limit = " << *machine.eager_limit << "\n";
    }
    out << "L = " << values.L << "\no_s = " << values.o_s << "\no_r = " << values.o_r << "\ng = " << values.g
        << "\nG = " << values.G << "\n";
}

/// What the simulator's library does (README.md, "Rules of the machine"), stated as a library profile.
void write_library(std::ostream& out) {
    out << "\n[library]\nname = \"simulated\"\ntitle = \"Rules of the simulation\"\ndate = \"2026-11-28\"\n";
    const auto state = [&](const char* property, const char* value, const char* sentence, const char* source) {
        out << "\n[library.properties." << property << "]\nvalue = \"" << value << "\"\nsentence = \"" << sentence
            << "\"\nsource = \"" << source << "\"\n";
    };
    constexpr const char* kSend = "A send occupies its processor for the overhead; then the NIC has an eager message.";
    state("sends_within_nodes", "return", kSend, "tests/truth/simulator/rank.cpp: Rank::send");
    state("sends_between_nodes", "return", kSend, "tests/truth/simulator/rank.cpp: Rank::send");
    state("synchronous_sends", "handshake", "A synchronous send is a rendezvous, whatever its size.",
          "tests/truth/simulator/rank.cpp: Mode::synchronous");
    state("root_receives", "overhead", "The receiver's processor completes one message after another, o_r each.",
          "tests/truth/simulator/world.hpp: rules");
    state("collectives", "textbook", "Each operation has one algorithm, whatever its size.",
          "tests/truth/simulator/collectives.cpp: Rank");
}

}  // namespace

void write_truth(const Case& entry, const Record& record, const std::filesystem::path& file) {
    auto out = open(file);
    Time end = 0;
    for (const auto& rank : record.ranks) {
        end = std::max(end, rank.end);
    }
    out << "{\n\"name\": " << quoted(entry.name) << ",\n\"story\": " << quoted(entry.story)
        << ",\n\"finding\": " << quoted(entry.finding) << ",\n\"culprits\": " << list(entry.culprits)
        << ",\n\"end_ps\": " << end << ",\n\"messages\": [";
    bool first = true;
    for (std::size_t id = 0; id < record.messages.size(); ++id) {
        const auto& m = record.messages[id];
        if (m.internal || m.receive_call == kNone) {
            continue;
        }
        const auto& calls = record.ranks[static_cast<std::size_t>(m.sender)].calls;
        const auto& received = record.ranks[static_cast<std::size_t>(m.receiver)].calls[m.receive_call];
        out << (first ? "\n" : ",\n") << "{\"sender\": " << m.sender << ", \"receiver\": " << m.receiver
            << ", \"bytes\": " << m.bytes << ", \"tag\": " << m.tag << ", \"rendezvous\": " << (m.rendezvous ? 1 : 0)
            << ", \"send_enter_ps\": " << calls[m.send_call].enter << ", \"recv_leave_ps\": " << received.leave
            << ", \"parts\": " << sums(sum(segments(record, id))) << "}";
        first = false;
    }
    out << "\n],\n\"transfers\": [";
    first = true;
    for (std::size_t id = 0; id < record.transfers.size(); ++id) {
        const auto& t = record.transfers[id];
        if (t.complete_call != kNone) {
            out << (first ? "\n" : ",\n") << "{\"origin\": " << t.origin << ", \"target\": " << t.target
                << ", \"bytes\": " << t.bytes << ", \"parts\": " << sums(sum(transfer_segments(record, id))) << "}";
            first = false;
        }
    }
    out << "\n],\n\"accounts\": [";
    first = true;
    for (const auto& rank : accounts(record)) {
        out << (first ? "\n" : ",\n") << sums(rank);
        first = false;
    }
    out << "\n],\n\"in_collectives\": [";
    first = true;
    for (const auto& rank : in_collectives(record)) {
        out << (first ? "\n" : ",\n") << sums(rank);
        first = false;
    }
    out << "\n],\n\"threads\": [";
    first = true;
    for (const auto& threads : thread_accounts(record)) {
        out << (first ? "\n[" : ",\n[");
        for (std::size_t t = 0; t < threads.size(); ++t) {
            out << (t == 0 ? "" : ", ") << sums(threads[t]);
        }
        out << "]";
        first = false;
    }
    out << "\n]\n}\n";
}

void write_machine(const Record& record, const std::filesystem::path& file) {
    auto out = open(file);
    const auto& machine = record.machine;
    out << "format = 1\nname = \"simulated\"\ntitle = \"Simulated machine of known causes\"\ndate = \"2026-11-22\"\n"
           "kind = \"documentation\"\nsource = \"SIM\"\nunits = [\"ps\", \"ps/B\", \"B\"]\n\n[sources.SIM]\n"
           "kind = \"manual\"\ntext = \"Parameters of the simulation itself\"\n\n[nic]\nlocation = "
           "\"simulated\"\nper_node = "
        << machine.nics_per_node << "\n";
    write_library(out);
    write_class(out, "same_node", machine.same_node, machine);
    write_class(out, "other_node", machine.other_node, machine);
    if (machine.l_mw_per_byte > 0) {
        // Linear in size, the same for every stride: two sizes and two strides say it whole.
        for (const double size : {64.0, 1048576.0}) {
            out << "\n[[log3p.point]]\nsize_bytes = " << size << "\no_mw = 0\no_net = 0\n";
            for (const int stride : {16, 4096}) {
                out << "\n[[log3p.point]]\nsize_bytes = " << size << "\nstride_bytes = " << stride
                    << "\nblock_bytes = 8\nl_mw = " << size * machine.l_mw_per_byte << "\n";
            }
        }
    }
}

}  // namespace logpost::truth
