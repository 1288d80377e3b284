/// The extension module logpost.analyzer._native: table of contents.

#include "bindings.hpp"

NB_MODULE(_native, module) {
    module.doc() = "Native core of logpost.analyzer.";
    nanobind::module_::import_("logpost.replay._native");  // its Parameters are taken here
    logpost::analyzer::bindings::bind_trace(module);
    logpost::analyzer::bindings::bind_analysis(module);
}
