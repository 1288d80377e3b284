#include "case.hpp"

namespace logpost::truth {

Case& Cases::add(std::string name, std::string story, std::string finding) {
    cases_.push_back({.name = std::move(name),
                      .story = std::move(story),
                      .finding = std::move(finding),
                      .culprits = {},
                      .machine = {},
                      .program = {},
                      .cured = {},
                      .cured_machine = {}});
    return cases_.back();
}

Cases all_cases() {
    Cases cases;
    two_sided(cases);
    protocols(cases);
    progress(cases);
    crowds(cases);
    collectives(cases);
    clean(cases);
    one_sided(cases);
    threads(cases);
    applications(cases);
    workloads(cases);
    more_collectives(cases);
    return cases;
}

}  // namespace logpost::truth
