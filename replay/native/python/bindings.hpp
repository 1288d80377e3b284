#pragma once

/// What the parts of the bindings share; module.cpp is their table of contents.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/native/memory/spill.hpp"
#include "replay/native/program/wide.hpp"

namespace logpost::replay {

class Analysis;

namespace bindings {

namespace nb = nanobind;

/// A full disk reaches Python as an OSError; the message names the folder in bytes of any encoding, as Python's paths.
inline void register_spill_error() {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const SpillError& error) {
            const std::string_view what = error.what();
            const auto text = nb::steal<nb::object>(
                PyUnicode_DecodeUTF8(what.data(), static_cast<Py_ssize_t>(what.size()), "surrogateescape"));
            PyErr_SetObject(PyExc_OSError, text.ptr());
        }
    });
}

/// A column that the caller holds.
template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A numpy array that owns the vector's memory.
template <class T, class Allocator>
nb::object array(std::vector<T, Allocator>&& values) {
    using Values = std::vector<T, Allocator>;
    auto owned = std::make_unique<Values>(std::move(values));
    auto* data = owned->data();
    const std::size_t size = owned->size();
    nb::capsule owner(owned.release(), [](void* pointer) noexcept { delete static_cast<Values*>(pointer); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, {size}, owner));
}

/// A column of `rows`, each computed by `value`.
template <class T, class Rows, class Value>
nb::object column(const Rows& rows, Value&& value) {
    std::vector<T> values;
    values.reserve(rows.size());
    for (const auto& row : rows) {
        values.push_back(static_cast<T>(value(row)));
    }
    return array(std::move(values));
}

/// A column of sums as `analyzer/run/wide.py` reads it: the bytes of Arrow's decimal128.
template <class Rows, class Value>
nb::object wide_column(const Rows& rows, Value&& value) {
    std::vector<std::uint64_t> halves;
    halves.reserve(2 * rows.size());
    for (const auto& row : rows) {
        const WidePs sum = value(row);
        halves.push_back(static_cast<std::uint64_t>(sum));
        halves.push_back(static_cast<std::uint64_t>(sum >> 64U));
    }
    return array(std::move(halves));
}

template <class Rows, class Value>
nb::list texts(const Rows& rows, Value&& value) {
    nb::list result;
    for (const auto& row : rows) {
        // Names in archives are bytes of any encoding; what is not UTF-8 is shown with replacement characters.
        const std::string& text = value(row);
        result.append(
            nb::steal<nb::object>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
    }
    return result;
}

/// Program, filled from columns, and what it says of its machine.
void bind_program(nb::module_& module);
/// Analysis: split and accounting, in batches.
void bind_analysis(nb::module_& module);
/// The messages of collective operations.
void bind_collectives(nb::module_& module);
/// Surroundings: another place and network for a program.
void bind_surroundings(nb::module_& module);
/// WhatIf: the dependency graph and its replays.
void bind_goal(nb::module_& module);
void bind_whatif(nb::module_& module);
/// Cures: transformations of a recorded program's edges, and their replay.
void bind_cures(nb::module_& module);

/// Analysis' sums: accounts, wait states, the critical path, delay costs.
void bind_accounts(nb::class_<Analysis>& analysis);
/// Analysis' rows of the table `collectives`, and what divided operations consist of.
void bind_divided_collectives(nb::class_<Analysis>& analysis);
/// Analysis' rows of the tables `transfers` and `epochs`.
void bind_one_sided(nb::class_<Analysis>& analysis);

}  // namespace bindings
}  // namespace logpost::replay
