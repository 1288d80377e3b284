// First pass over the logs: everything but the events.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "model.hpp"

namespace logpost::assembler {
namespace {

void read_functions(Job& job, const std::filesystem::path& path) {
    std::ifstream in(path);
    std::string word;
    if (!(in >> word >> word)) {
        throw std::runtime_error(path.string() +
                                 " is missing or empty: this is not a directory of raw logs of logpost record");
    }
    if (word.empty() || word.size() > 16 || word.find_first_not_of("0123456789abcdef") != std::string::npos) {
        throw std::runtime_error(path.string() + " is damaged: its table has the number " + word);
    }
    job.table = std::stoull(word, nullptr, 16);
    in >> job.program;
    std::size_t number = 0;
    Function f;
    job.functions.emplace_back();
    while (in >> number >> f.name >> f.role >> f.operation) {
        if (number >= job.functions.size()) {
            job.functions.resize(number + 1);
        }
        job.functions[number] = f;
    }
    job.off = static_cast<std::uint32_t>(job.functions.size());
    job.functions.push_back({"MEASUREMENT OFF", "artificial", "-"});  // as Score-P names it
    job.no_thread = static_cast<std::uint32_t>(job.functions.size());
    job.functions.push_back({"NO THREAD", "artificial", "-"});
}

Module module_from(std::map<std::string, std::string> values) {
    const auto number = [&](const char* key) { return std::strtoull(values[key].c_str(), nullptr, 16); };
    return {number("base"), number("begin"), number("end"), values["id"], values["path"]};
}

constexpr std::size_t most_stacks = std::size_t{1} << 24U;  // as many as the numbers in calls can distinguish

void take_stack(Thread& thread, const Record& record) {
    const auto def = record.get<lp_stack_def>();
    if (def.stack == 0 || def.stack >= most_stacks) {
        return;
    }
    if (thread.stacks.size() < def.stack) {
        thread.stacks.resize(def.stack);
    }
    Stack& stack = thread.stacks[def.stack - 1];
    for (std::size_t at = sizeof def; at + 8 <= record.data_bytes && stack.addresses.size() < def.frames; at += 8) {
        stack.addresses.push_back(record.get<std::uint64_t>(at));
    }
    stack.cut = def.cut != 0;
}

// The functions of the interpreter are outside of the native frames up to it.
void take_python(Thread& thread, const Record& record) {
    const auto def = record.get<lp_python_def>();
    if (def.stack == 0 || def.stack >= most_stacks) {
        return;
    }
    if (thread.stacks.size() < def.stack) {
        thread.stacks.resize(def.stack);
    }
    Stack stack;
    if (def.native != 0 && def.native < def.stack) {
        stack.addresses = thread.stacks[def.native - 1].addresses;
    }
    stack.cut = def.cut != 0;
    const auto* text = reinterpret_cast<const char*>(record.data) + sizeof def;
    std::istringstream lines(std::string(text, strnlen(text, record.data_bytes - sizeof def)));
    Place place;
    std::string line;
    while (std::getline(lines, place.function, '\t') && std::getline(lines, place.file, '\t') &&
           std::getline(lines, line)) {
        place.line = static_cast<std::uint32_t>(std::strtoul(line.c_str(), nullptr, 10));
        stack.python.push_back(place);
    }
    thread.stacks[def.stack - 1] = std::move(stack);
}

// A local id and its name.
std::pair<std::uint32_t, std::string> name_from(const Record& record) {
    const auto length = record.get<std::uint32_t>(4);
    const auto* text = reinterpret_cast<const char*>(record.data) + 8;
    return {record.get<std::uint32_t>(), std::string(text, std::min<std::size_t>(length, record.data_bytes - 8))};
}

template <class Entry>
void take_all(const Record& record, std::vector<Entry>& entries) {
    for (std::size_t at = 0; at + sizeof(Entry) <= record.data_bytes; at += sizeof(Entry)) {
        entries.push_back(record.get<Entry>(at));
    }
}

void take_note(Process& process, Thread& thread, const Record& record) {
    switch (record.head.kind) {
        case LP_DEF_COMM:
            process.comms.push_back(record.get<lp_comm_def>());
            break;
        case LP_NAME_COMM: {
            const auto [id, name] = name_from(record);
            process.comm_names[id] = name;
            break;
        }
        case LP_DEF_RMA:
            process.windows.push_back(record.get<lp_rma_def>());
            break;
        case LP_NAME_RMA: {
            const auto [id, name] = name_from(record);
            process.window_names[id] = name;
            break;
        }
        case LP_DEF_LAYOUT: {
            const auto layout = record.get<lp_layout_def>();
            process.layouts[layout.layout] = layout;
            break;
        }
        case LP_INFO:
            process.info = key_values(record.text());
            break;
        case LP_THREAD: {
            auto values = key_values(record.text());
            thread.binding = values["binding"];
            break;
        }
        case LP_SYNC:
            process.syncs.push_back(record.get<lp_sync>());
            break;
        case LP_OFFSET:
            process.offsets.push_back(record.get<lp_offset>());
            break;
        case LP_STOPPED:
            thread.stopped = true;
            break;
        case LP_SKIPPED:
            take_all(record, process.skipped);
            break;
        case LP_CARRIED:
            take_all(record, thread.carried.back());
            break;
        case LP_ENDED:
            take_all(record, thread.ended.back());
            break;
        case LP_REST:
            process.rest.push_back(record.get<lp_gap>());
            break;
        case LP_DEF_REGION: {
            const auto [id, name] = name_from(record);
            process.region_names[id] = name;
            break;
        }
        case LP_DEF_FILE: {
            const auto [id, name] = name_from(record);
            process.files[id] = name;
            break;
        }
        case LP_DEF_FUNCTION:
            process.region_functions[record.get<std::uint32_t>()] = record.get<std::uint64_t>(8);
            break;
        case LP_MODULE:
            process.modules.push_back(module_from(key_values(record.text())));
            break;
        case LP_DEF_PYTHON:
            take_python(thread, record);
            break;
        case LP_SAMPLING:
            thread.sample_period_ns = record.get<std::uint64_t>();
            break;
        case LP_QUEUED:
            thread.queued.push_back({record.head.enter, record.get<std::uint64_t>()});
            break;
        case LP_DEF_STACK:
            take_stack(thread, record);
            break;
        default:
            break;
    }
}

void scan(Process& process, Thread& thread) {
    std::size_t offset = 0;
    bool off = false;
    thread.carried.emplace_back();
    thread.ended.emplace_back();
    while (auto record = thread.log.next(offset)) {
        if (record->is_note()) {
            take_note(process, thread, *record);
        } else if (record->head.kind == LP_ON) {
            off = false;
            thread.carried.emplace_back();
            thread.ended.emplace_back();
        } else if (record->head.kind == LP_OFF) {
            off = true;
        } else if (!off && !record->is_part()) {
            thread.first = std::min(thread.first, record->head.enter);
            thread.last = std::max(thread.last, record->head.leave);
            thread.finalized = thread.finalized || record->head.kind == LP_FINALIZE;
            thread.calls += record->head.kind < LP_OFF ? 1U : 0U;
            if (record->head.kind == LP_SAMPLE) {
                thread.sampled.push_back({record->get<lp_sample>().address, record->stack()});
            }
            if (const auto comm = failed_over(*record); comm != 0) {
                thread.failed.push_back({record->head.enter, record->head.leave, record->head.function, comm});
            }
        }
    }
    std::ranges::sort(thread.sampled);
    thread.sampled.erase(std::ranges::unique(thread.sampled).begin(), thread.sampled.end());
    const auto last = thread.log.opened_last();
    if (last && !off && !thread.finalized && !thread.stopped && thread.calls != 0 && last->enter > thread.last) {
        thread.open = last;
    }
}

// The ring of the process that wrote a log HOST.PID.START.THREAD.raw; nullptr: it has none.
std::shared_ptr<const Ring> ring_of(const std::filesystem::path& log,
                                    std::map<std::string, std::shared_ptr<const Ring>>& rings) {
    const auto base = std::filesystem::path(log).replace_extension().replace_extension();
    const auto [at, fresh] = rings.try_emplace(base.string());
    if (fresh && std::filesystem::exists(base.string() + ".ring")) {
        at->second = std::make_shared<const Ring>(base);
    }
    return at->second;
}

}  // namespace

Job read_job(const std::filesystem::path& directory) {
    Job job;
    read_functions(job, directory / "functions.txt");
    job.so_far = std::filesystem::exists(directory / "so_far");
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        if (entry.path().extension() == ".raw") {
            paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    std::map<std::uint64_t, std::unique_ptr<Process>> found;
    std::map<std::string, std::shared_ptr<const Ring>> rings;
    for (const auto& path : paths) {
        const auto ring = ring_of(path, rings);
        auto thread = std::make_unique<Thread>(RawLog(path, ring.get()));
        if (!thread->log.usable()) {
            job.warnings.push_back(path.filename().string() + ": no records");
            continue;
        }
        if (thread->log.header().table != job.table) {
            throw std::runtime_error(path.string() +
                                     " was written with a table of functions other than functions.txt next to it");
        }
        auto& process = found[thread->log.header().process];
        if (!process) {
            process = std::make_unique<Process>();
            process->id = thread->log.header().process;
            process->ring = ring;
            if (ring != nullptr && ring->torn()) {
                job.warnings.push_back(path.filename().string() +
                                       ": its process was killed while its ring turned; counts may lack one slot");
            }
        }
        scan(*process, *thread);
        process->threads.push_back(std::move(thread));
    }
    for (auto& [id, process] : found) {
        auto& threads = process->threads;
        std::sort(threads.begin(), threads.end(),
                  [](const auto& a, const auto& b) { return a->log.header().thread < b->log.header().thread; });
        const bool has_world = std::any_of(process->comms.begin(), process->comms.end(), [](const lp_comm_def& c) {
            return (c.flags & (LP_COMM_WORLD | LP_COMM_SESSIONS)) != 0;
        });
        if (!has_world || process->info.empty()) {
            job.warnings.push_back(threads.front()->log.path() + ": its process ended before MPI_Init returned");
            continue;
        }
        job.processes.push_back(std::move(process));
    }
    if (job.processes.empty()) {
        throw std::runtime_error("no process in " + directory.string() +
                                 " completed MPI_Init, so there is nothing to assemble");
    }
    return job;
}

}  // namespace logpost::assembler
