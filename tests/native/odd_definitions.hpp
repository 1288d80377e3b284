#pragma once

// Definitions that libotf2 writes and reads back, and that make no sense: references to nothing, to themselves, in a
// cycle, one id defined twice. Which fields refer to what is read from tests/fuzz/references.tsv.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "definition_rows.hpp"

namespace logpost::tests {

/// A field that defines an id or refers to one.
struct Reference {
    std::string definition;
    std::size_t field;
    bool defines;                      // the id of the definition itself
    std::vector<std::string> targets;  // kinds that share the ids which it may state
    std::uint64_t undefined;           // the value that refers to nothing
};

inline const std::vector<Reference>& references() {
    static const auto kAll = [] {
        std::ifstream file(LOGPOST_REFERENCES);
        std::vector<Reference> all;
        std::string line;
        std::getline(file, line);  // the columns' names
        while (std::getline(file, line)) {
            std::istringstream columns(line);
            std::string definition, field, name, targets, bits;
            std::getline(columns, definition, '\t');
            std::getline(columns, field, '\t');
            std::getline(columns, name, '\t');
            std::getline(columns, targets, '\t');
            std::getline(columns, bits, '\t');
            Reference reference{definition, std::stoul(field), name == "self", {}, 0};
            std::istringstream kinds(targets);
            for (std::string kind; std::getline(kinds, kind, ' ');) {
                reference.targets.push_back(kind);
            }
            reference.undefined = std::numeric_limits<std::uint64_t>::max() >> (64 - std::stoul(bits));
            all.push_back(std::move(reference));
        }
        if (all.empty()) {
            throw std::runtime_error("no references in " LOGPOST_REFERENCES);
        }
        return all;
    }();
    return kAll;
}

class OddDefinitions {
  public:
    /// Draws a number below n, which is not 0.
    using Draw = std::function<std::uint64_t(std::uint64_t n)>;

    OddDefinitions(std::vector<Definition>& rows, Draw draw) : rows_(rows), draw_(std::move(draw)) {}

    /// Changes so many things.
    void change(std::uint64_t times) {
        for (; times > 0 && !rows_.empty(); --times) {
            switch (draw_(8)) {
                case 0:
                    twice();
                    break;
                case 1:
                    move();
                    break;
                case 2:
                    rows_.erase(at(draw_(rows_.size())));
                    break;
                case 3:
                    cycle();
                    break;
                default:
                    refer();
            }
        }
    }

  private:
    struct Place {
        std::size_t row;
        const Reference* reference;
    };

    std::vector<Definition>::iterator at(std::uint64_t row) { return rows_.begin() + static_cast<std::ptrdiff_t>(row); }

    /// The fields of all rows for which `wanted` holds.
    template <class Wanted>
    std::vector<Place> places(Wanted&& wanted) {
        std::vector<Place> found;
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            for (const auto& reference : references()) {
                if (reference.definition == rows_[row].kind && wanted(reference) &&
                    !rows_[row].fields.at(reference.field).numbers.empty()) {
                    found.push_back({row, &reference});
                }
            }
        }
        return found;
    }

    /// The field of a place; of several numbers any one.
    std::uint64_t& number(const Place& place) {
        auto& numbers = rows_[place.row].fields.at(place.reference->field).numbers;
        return numbers[draw_(numbers.size())];
    }

    /// Another id of a kind that the field may refer to; its own; none; any number.
    void refer() {
        // Each field of each kind as often as any other, whatever the number of its rows.
        std::map<const Reference*, std::vector<Place>> by_field;
        for (const auto& place : places([](const Reference& of) { return !of.defines; })) {
            by_field[place.reference].push_back(place);
        }
        if (by_field.empty()) {
            return;
        }
        // In the table's order: its rows are elements of one vector.
        auto field = by_field.begin();
        std::advance(field, static_cast<std::ptrdiff_t>(draw_(by_field.size())));
        const auto& place = field->second[draw_(field->second.size())];
        auto& to = number(place);
        switch (draw_(4)) {
            case 0:
                to = place.reference->undefined;
                break;
            case 1:
                to = one_of<std::uint64_t>({1000, 1'600'000'000, place.reference->undefined - 1, 0});
                break;
            case 2:
                to = own_id(place.row, to);
                break;
            default:
                to = any_id(*place.reference, to);
        }
    }

    /// The rows of one kind refer to each other in a ring.
    void cycle() {
        const auto same = places([](const Reference& of) {
            return !of.defines && std::ranges::find(of.targets, of.definition) != of.targets.end();
        });
        if (same.empty()) {
            return;
        }
        const auto* reference = same[draw_(same.size())].reference;
        std::vector<Place> ring;
        for (const auto& place : same) {
            if (place.reference == reference && (ring.empty() || draw_(3) != 0)) {
                ring.push_back(place);
            }
        }
        for (std::size_t i = 0; i < ring.size(); ++i) {
            auto& to = number(ring[i]);
            to = own_id(ring[(i + 1) % ring.size()].row, to);
        }
    }

    /// A definition a second time, maybe with another content, anywhere; or the id of another one of its kind.
    void twice() {
        const auto defining = places([](const Reference& of) { return of.defines; });
        if (defining.empty()) {
            return;
        }
        const auto& place = defining[draw_(defining.size())];
        if (draw_(2) == 0) {
            number(place) = any_id(*place.reference, number(place));
            return;
        }
        const auto copy = rows_[place.row];
        rows_.insert(at(draw_(rows_.size() + 1)), copy);
    }

    /// A definition elsewhere: before what it refers to, or behind what refers to it.
    void move() {
        const auto from = at(draw_(rows_.size()));
        auto row = std::move(*from);
        rows_.erase(from);
        rows_.insert(at(draw_(rows_.size() + 1)), std::move(row));
    }

    std::uint64_t own_id(std::size_t row, std::uint64_t otherwise) {
        for (const auto& reference : references()) {
            if (reference.definition == rows_[row].kind && reference.defines) {
                return rows_[row].fields.at(reference.field).number();
            }
        }
        return otherwise;
    }

    /// One that is defined, of the kinds that a field may refer to.
    std::uint64_t any_id(const Reference& of, std::uint64_t otherwise) {
        const auto defined = places([&](const Reference& by) {
            return by.defines && std::ranges::find(of.targets, by.definition) != of.targets.end();
        });
        return defined.empty() ? otherwise : number(defined[draw_(defined.size())]);
    }

    template <class T>
    T one_of(std::vector<T> values) {
        return values[draw_(values.size())];
    }

    std::vector<Definition>& rows_;
    Draw draw_;
};

}  // namespace logpost::tests
