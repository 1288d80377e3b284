/// The extension module logpost.analyzer.archive._native: table of contents.

#include "analyzer/archive/native/python/bindings.hpp"

NB_MODULE(_native, module) {
    module.doc() = "Native core of logpost.analyzer.";
    nanobind::module_::import_("logpost.replay._native");  // the Program of a trace is its
    logpost::analyzer::bindings::bind_trace(module);
    logpost::analyzer::bindings::bind_shards(module);
    logpost::analyzer::bindings::bind_goal(module);
    logpost::analyzer::bindings::bind_perfetto(module);
}
