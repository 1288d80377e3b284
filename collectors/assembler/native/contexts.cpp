#include "contexts.hpp"

namespace logpost::assembler {
namespace {

const Module* module_of(const Process& process, std::uint64_t address) {
    // The last one that was loaded there.
    for (auto at = process.modules.rbegin(); at != process.modules.rend(); ++at) {
        if (address > at->begin && address <= at->end) {
            return &*at;
        }
    }
    return nullptr;
}

// Whether the outermost frame is what the loader enters, which may have no name: the C library's start calls main().
bool starts_program(const Process& process, const std::vector<std::uint64_t>& addresses) {
    const Module* inner = addresses.size() > 1 ? module_of(process, addresses[addresses.size() - 2]) : nullptr;
    return inner != nullptr && inner->path.find("/libc.so") != std::string::npos;
}

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

bool is_interpreter(const std::string& path) {
    const std::string name = file_name(path);
    return name.starts_with("libpython") || name.starts_with("python");
}

// Whether an object leads from Python to MPI and has no code of the program: mpi4py, ctypes.
bool binds_python(const std::string& path) {
    const std::string name = file_name(path);
    return path.find("/mpi4py/") != std::string::npos || name.starts_with("_ctypes.") || name.starts_with("libffi.");
}

// How many of the innermost frames are below the interpreter's.
std::size_t below_interpreter(const Process& process, const std::vector<std::uint64_t>& addresses) {
    std::size_t at = 0;
    while (at < addresses.size()) {
        const Module* module = module_of(process, addresses[at]);
        if (module != nullptr && is_interpreter(module->path)) {
            break;
        }
        ++at;
    }
    return at;
}

// Places are those of the instruction before an address, for addresses are those that calls return to.
std::uint64_t after(const Sampled& sampled) {
    return sampled.address + 1;
}

template <class Key>
std::uint32_t number_of(std::map<Key, std::uint32_t>& refs, std::vector<Key>& all, const Key& key) {
    const auto [at, fresh] = refs.try_emplace(key, static_cast<std::uint32_t>(all.size()));
    if (fresh) {
        all.push_back(key);
    }
    return at->second;
}

}  // namespace

Contexts::Contexts(Job& job) {
    for (const auto& process : job.processes) {
        for (const auto& [id, function] : process->region_functions) {
            if (const Module* module = module_of(*process, function + 1)) {
                places_.want(*module, function + 1);
            }
        }
        for (const auto& thread : process->threads) {
            for (const Stack& stack : thread->stacks) {
                for (const std::uint64_t address : stack.addresses) {
                    if (const Module* module = module_of(*process, address)) {
                        places_.want(*module, address);
                    }
                }
            }
            for (const Sampled& sampled : thread->sampled) {
                if (const Module* module = module_of(*process, after(sampled))) {
                    places_.want(*module, after(sampled));
                }
            }
        }
    }
    places_.resolve(job.warnings);
}

OTF2_CallingContextRef Contexts::node(Node wanted) {
    const auto key = std::tuple(wanted.parent, wanted.function, wanted.number, wanted.location);
    const auto [at, fresh] = refs_.try_emplace(key, static_cast<OTF2_CallingContextRef>(nodes_.size()));
    if (fresh) {
        nodes_.push_back(wanted);
    }
    return at->second;
}

// The frames of a stack, outermost first.
std::vector<Place> Contexts::frames(const Process& process, const Stack& stack, bool& unnamed) const {
    const std::vector<std::uint64_t>& addresses = stack.addresses;
    std::vector<Place> found;
    for (auto place = stack.python.rbegin(); place != stack.python.rend(); ++place) {
        if (!place->file.starts_with("<frozen ")) {  // the interpreter's own way to a module
            found.push_back(*place);
        }
    }
    // Without Python's functions, as at its end, the interpreter's own are one frame.
    const std::size_t below = below_interpreter(process, addresses);
    const bool in_python = below < addresses.size() || !stack.python.empty();
    const std::size_t native = stack.python.empty() ? addresses.size() : below;
    bool within_interpreter = false;
    for (std::size_t at = native; at-- > 0;) {
        const Module* module = module_of(process, addresses[at]);
        if (module == nullptr || (at + 1 == addresses.size() && starts_program(process, addresses))) {
            unnamed = unnamed || module == nullptr;
            continue;
        }
        if (in_python && binds_python(module->path)) {
            continue;
        }
        if (is_interpreter(module->path)) {
            if (!within_interpreter) {
                found.push_back({file_name(module->path), "", 0});
            }
            within_interpreter = true;
            continue;
        }
        within_interpreter = false;
        const std::vector<Place>& places = places_.at(*module, addresses[at]);
        found.insert(found.end(), places.rbegin(), places.rend());
    }
    return found;
}

Contexts::Site Contexts::caller(const Process& process, const Stack& stack) {
    Site site;
    OTF2_CallingContextRef& context = site.context;
    const Place* above = nullptr;
    const std::vector<Place> places = frames(process, stack, site.unnamed);
    for (const Place& place : places) {
        if (above != nullptr && above->function == "main" && place.function == "main") {
            context = nodes_[context].parent;  // a Fortran program is a function below the main() that starts it
        }
        above = &place;
        const Named named{place.function, place.line != 0 ? place.file : ""};
        const std::uint32_t function = number_of(function_refs_, functions_, named);
        const std::uint32_t location =
            !place.file.empty() ? number_of(location_refs_, locations_, Location{place.file, place.line}) : none;
        context = node({context, function, 0, location});
    }
    site.cut = stack.cut && (context == OTF2_UNDEFINED_CALLING_CONTEXT || outermost(context) != "main");
    return site;
}

// The function that has no caller; what calls main() is the C library's start.
const std::string& Contexts::outermost(OTF2_CallingContextRef context) const {
    while (nodes_[context].parent != OTF2_UNDEFINED_CALLING_CONTEXT) {
        context = nodes_[context].parent;
    }
    return functions_[nodes_[context].function].first;
}

Place Contexts::place_of(const Process& process, std::uint64_t function) {
    const Module* module = module_of(process, function + 1);
    if (module == nullptr) {
        return {};
    }
    const std::vector<Place>& places = places_.at(*module, function + 1);
    return places.empty() ? Place{} : places.back();
}

Contexts::Site Contexts::of_sample(const Process& process, const Thread& thread, const Sampled& sampled) {
    const auto [at, fresh] = sampled_.try_emplace({&thread, sampled});
    if (fresh) {
        Stack stack;
        if (sampled.callers != 0 && sampled.callers <= thread.stacks.size()) {
            stack = thread.stacks[sampled.callers - 1];
        }
        stack.addresses.insert(stack.addresses.begin(), after(sampled));
        at->second = caller(process, stack);
    }
    return at->second;
}

Contexts::Site Contexts::of_call(const Process& process, const Thread& thread, std::uint32_t stack,
                                 std::uint32_t number) {
    if (stack == 0 || stack > thread.stacks.size()) {
        return {};
    }
    const auto [known, unseen] = callers_.try_emplace({&thread, stack});
    if (unseen) {
        known->second = caller(process, thread.stacks[stack - 1]);
    }
    Site site = known->second;
    if (site.context == OTF2_UNDEFINED_CALLING_CONTEXT) {
        return site;
    }
    const auto [at, fresh] = leaves_.try_emplace(static_cast<std::uint64_t>(site.context) << 32U | number);
    if (fresh) {
        at->second = node({site.context, none, number, none});
    }
    site.context = at->second;
    return site;
}

}  // namespace logpost::assembler
