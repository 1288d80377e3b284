#pragma once

/// A program whose cause is known by construction, and the same program without it.

#include <optional>
#include <string>
#include <vector>

#include "archive.hpp"
#include "world.hpp"

namespace logpost::truth {

struct Case {
    std::string name;
    std::string story;          ///< one sentence: what is wrong, and where
    std::string finding;        ///< the kind of finding that names the cause; empty: there is none
    std::vector<int> culprits;  ///< ranks that the finding must name; empty: all, or it does not matter
    int ranks = 8;
    Machine machine;
    World::Program program;
    World::Program cured;              ///< the same work without the cause; empty for clean programs
    Machine cured_machine;             ///< the machine the cure runs on
    std::optional<ClockView> clock{};  ///< of the archive; none: as given to simulate
};

/// Collects cases; one file of programs registers its own.
class Cases {
  public:
    Case& add(std::string name, std::string story, std::string finding);
    [[nodiscard]] const std::vector<Case>& all() const noexcept { return cases_; }

  private:
    std::vector<Case> cases_;
};

void two_sided(Cases& cases);
void protocols(Cases& cases);
void progress(Cases& cases);
void crowds(Cases& cases);
void collectives(Cases& cases);
void more_collectives(Cases& cases);
void clean(Cases& cases);
void one_sided(Cases& cases);
void threads(Cases& cases);
void applications(Cases& cases);
void workloads(Cases& cases);

/// Every case there is.
Cases all_cases();

}  // namespace logpost::truth
