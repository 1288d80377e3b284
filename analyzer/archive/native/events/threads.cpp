// Forks and joins of threads, and the teams that they make. The Enter and Leave of a region state what happens in it.
#include "analyzer/archive/native/events/decoding.hpp"

namespace logpost::analyzer {
namespace {

using namespace decoding;

template <ThreadRole role, class... Rest>
OTF2_CallbackCode on_begin(L, T ticks, std::uint64_t, void* user, A*, Rest...) {
    return guarded(user, [&] {
        auto& d = self(user);
        d.stack.begin_team(d.at(ticks), role);
    });
}

template <ThreadRole role, class... Rest>
OTF2_CallbackCode on_end(L, T ticks, std::uint64_t, void* user, A*, Rest...) {
    return guarded(user, [&] {
        auto& d = self(user);
        d.stack.end_team(d.at(ticks), role);
    });
}

}  // namespace

void set_thread_callbacks(OTF2_EvtReaderCallbacks* c) {
    OTF2_EvtReaderCallbacks_SetThreadForkCallback(c, on_begin<ThreadRole::fork>);
    OTF2_EvtReaderCallbacks_SetThreadJoinCallback(c, on_end<ThreadRole::fork>);
    OTF2_EvtReaderCallbacks_SetOmpForkCallback(c, on_begin<ThreadRole::fork>);
    OTF2_EvtReaderCallbacks_SetOmpJoinCallback(c, on_end<ThreadRole::fork>);
    OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(c, on_begin<ThreadRole::team>);
    OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(c, on_end<ThreadRole::team>);
}

}  // namespace logpost::analyzer
