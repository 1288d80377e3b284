#pragma once

/// The messages of each algorithm, in an order in which everything that a message depends on is before it: the one
/// description that the split, the what-if replay and the tests read. A file per algorithm.
///
/// Members are numbered as the algorithm does: from the root on where there is one, by rank where there is none; those
/// of an inter-communicator as `Groups` does.
///
/// A visitor has
///   message(from, to, bytes)              one message; both have the next one after it
///   round(count, source, bytes, repeat)   each of the first `count` members sends one message and receives one: member
///                                         i from member source(i), concurrently. `repeat`: one for as many like it
///   burst(count, rounds, bytes)           each member sends one message to each of `rounds` others, then receives
///                                         theirs: the k-th of member i is from i - k
/// and may have
///   ready(i)                              when member i can send its next message: for a root that receives messages
///   in
///                                         the order of their arrival
///   combines(now)                         what members receive next is combined with what they have; at first it is
///   collect(order, bytes)                 one message of each of these to the first member, in the order of arrival
///   kEveryRound                           rounds are not joined
///   most_rounds                           so many rounds of a long algorithm, instead of kSingleRounds

#include "replay/native/collectives/algorithm.hpp"
#include "replay/native/collectives/between_groups.hpp"
#include "replay/native/collectives/binomial.hpp"
#include "replay/native/collectives/bruck.hpp"
#include "replay/native/collectives/chain.hpp"
#include "replay/native/collectives/dissemination.hpp"
#include "replay/native/collectives/linear.hpp"
#include "replay/native/collectives/linear_then_tree.hpp"
#include "replay/native/collectives/pairwise.hpp"
#include "replay/native/collectives/rabenseifner.hpp"
#include "replay/native/collectives/recursive_doubling.hpp"
#include "replay/native/collectives/ring.hpp"
#include "replay/native/collectives/scatter_ring.hpp"

namespace logpost::replay {

/// Visits every message of an operation.
template <class Visitor>
void visit_schedule(const Pattern& pattern, Algorithm algorithm, Visitor&& visitor) {
    if (pattern.size < 2) {
        return;
    }
    if (pattern.group != 0) {
        return schedule::between_groups(visitor, pattern, algorithm);
    }
    switch (algorithm) {
        case Algorithm::not_known:
        case Algorithm::leaders:
            return;
        case Algorithm::dissemination:
            return schedule::dissemination(visitor, pattern.size, pattern.bytes);
        case Algorithm::recursive_doubling:
            return schedule::recursive_doubling(visitor, pattern);
        case Algorithm::binomial:
            return schedule::binomial(visitor, pattern);
        case Algorithm::linear:
            return schedule::linear(visitor, pattern);
        case Algorithm::linear_then_tree:
            return schedule::linear_then_tree(visitor, pattern);
        case Algorithm::chain:
            return schedule::chain(visitor, pattern);
        case Algorithm::ring:
            return schedule::ring(visitor, pattern);
        case Algorithm::rabenseifner:
            return schedule::rabenseifner(visitor, pattern.size, pattern.bytes);
        case Algorithm::bruck:
            return schedule::bruck(visitor, pattern);
        case Algorithm::pairwise:
            return schedule::pairwise(visitor, pattern);
        case Algorithm::scatter_ring:
            return schedule::scatter_ring(visitor, pattern);
    }
}

}  // namespace logpost::replay
