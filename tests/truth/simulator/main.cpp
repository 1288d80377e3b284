/// simulate DIRECTORY [--case NAME]... [--set L|o_s|o_r|g|G=FACTOR]... [--tick PS] [--noise PS] [--seed N]
///          [--drawn COUNT | --exchanges COUNT | --overlaps | --shared-cores] [--list]
///
/// --drawn takes so many programs that are drawn from the seed instead of those that are written down; --exchanges
/// likewise, of collective operations between all ranks; --overlaps those whose Waits could be behind the work;
/// --shared-cores those whose ranks take turns on the cores of a node.
/// --set multiplies a value of every case's machine, between nodes and within.
/// For each case, DIRECTORY/NAME and DIRECTORY/NAME.cured: an archive, truth.json and machine.toml.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "archive.hpp"
#include "case.hpp"
#include "programs/overlaps.hpp"
#include "programs/random.hpp"
#include "programs/shared_cores.hpp"
#include "truth_file.hpp"

namespace {

using namespace logpost::truth;

void write(const Case& entry, const Machine& machine, const World::Program& program, const std::filesystem::path& place,
           const ClockView& clock) {
    World world(machine, entry.ranks);
    world.run(program);
    std::filesystem::create_directories(place);
    write_archive(world.record(), place, clock);
    write_truth(entry, world.record(), place / "truth.json");
    write_machine(world.record(), place / "machine.toml");
}

/// Multiplies a value of both classes of a machine; `text` is NAME=FACTOR.
void scale(Machine& machine, const std::string& text) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const double factor = equals == std::string::npos ? 0.0 : std::stod(text.substr(equals + 1));
    for (auto* values : {&machine.other_node, &machine.same_node}) {
        const auto multiply = [&](Time& time) { time = std::llround(static_cast<double>(time) * factor); };
        if (name == "L") {
            multiply(values->L);
        } else if (name == "o_s") {
            multiply(values->o_s);
        } else if (name == "o_r") {
            multiply(values->o_r);
        } else if (name == "g") {
            multiply(values->g);
        } else if (name == "G") {
            values->G *= factor;
        } else {
            throw std::invalid_argument("--set " + text + ": write L, o_s, o_r, g or G = FACTOR");
        }
    }
}

int run(int count, char** arguments) {
    std::filesystem::path directory;
    std::optional<int> drawn, exchanges;
    bool list = false;
    bool overlapping = false;
    bool sharing = false;
    std::set<std::string> wanted;
    ClockView clock;
    std::vector<std::string> settings;
    for (int i = 1; i < count; ++i) {
        const std::string argument = arguments[i];
        if (argument == "--list") {
            list = true;
            continue;
        }
        if (argument == "--overlaps") {
            overlapping = true;
            continue;
        }
        if (argument == "--shared-cores") {
            sharing = true;
            continue;
        }
        if (argument.starts_with("--")) {
            if (i + 1 == count) {
                std::cerr << "simulate: " << argument << " needs a value\n";
                return 2;
            }
            const std::string value = arguments[++i];
            if (argument == "--case") {
                wanted.insert(value);
            } else if (argument == "--set") {
                settings.push_back(value);
            } else if (argument == "--tick") {
                clock.tick = std::stoll(value);
            } else if (argument == "--noise") {
                clock.noise = std::stoll(value);
            } else if (argument == "--seed") {
                clock.seed = std::stoull(value);
            } else if (argument == "--drawn") {
                drawn = std::stoi(value);
            } else if (argument == "--exchanges") {
                exchanges = std::stoi(value);
            } else {
                std::cerr << "simulate: unknown option " << argument << "\n";
                return 2;
            }
        } else {
            directory = argument;
        }
    }
    Cases cases;
    if (overlapping) {
        overlaps(cases);
    } else if (sharing) {
        shared_cores(cases);
    } else if (exchanges.has_value()) {
        random_exchanges(cases, clock.seed, *exchanges);
    } else if (drawn.has_value()) {
        random_programs(cases, clock.seed, *drawn, wanted);
    } else {
        cases = all_cases();
    }
    if (list) {
        for (const auto& entry : cases.all()) {
            std::cout << entry.name << "\t" << entry.finding << "\t" << entry.story << "\n";
        }
        return 0;
    }
    if (directory.empty()) {
        std::cerr << "usage: simulate DIRECTORY [--case NAME]... [--set NAME=FACTOR]... [--tick PS] [--noise PS] "
                     "[--seed N] [--drawn COUNT | --exchanges COUNT | --overlaps | --shared-cores] [--list]\n";
        return 2;
    }
    for (const auto& entry : cases.all()) {
        if (!wanted.empty() && !wanted.contains(entry.name)) {
            continue;
        }
        auto machine = entry.machine;
        auto cured_machine = entry.cured_machine;
        for (const auto& setting : settings) {
            scale(machine, setting);
            scale(cured_machine, setting);
        }
        write(entry, machine, entry.program, directory / entry.name, entry.clock.value_or(clock));
        if (entry.cured) {
            write(entry, cured_machine, entry.cured, directory / (entry.name + ".cured"), entry.clock.value_or(clock));
        }
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    try {
        return run(count, arguments);
    } catch (const std::exception& error) {
        std::cerr << "simulate: " << error.what() << "\n";
        return 1;
    }
}
