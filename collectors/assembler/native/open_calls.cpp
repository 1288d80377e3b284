#include "open_calls.hpp"

#include <algorithm>

namespace logpost::assembler {
namespace {

// A rank of a communicator as the archive's rank, and the communicator itself, as far as logs state them.
class Members {
  public:
    Members(const Job& job, const Process& process, std::uint32_t local) {
        if (const auto at = process.comm_refs.find(local); at != process.comm_refs.end()) {
            ref_ = at->second;
            comm_ = &job.comms.at(ref_);
        }
        own_ = process.rank;
    }

    std::string text(std::int32_t peer) const {
        if (peer == LP_ANY_PEER) {
            return "any";
        }
        if (comm_ == nullptr || peer < 0) {
            return "unknown";
        }
        if (comm_->self) {
            return std::to_string(own_);
        }
        // Peers in an inter-communicator are those of the group that this process is not in.
        const auto& first = comm_->members[0];
        const bool far = comm_->inter && std::ranges::find(first, own_) != first.end();
        const auto& members = comm_->members[far ? 1 : 0];
        const auto place = static_cast<std::size_t>(peer);
        return place < members.size() && members[place] != none ? std::to_string(members[place]) : "unknown";
    }

    std::string comm() const { return " comm=" + (comm_ != nullptr ? std::to_string(ref_) : std::string("unknown")); }

  private:
    std::uint32_t ref_ = 0;
    std::uint32_t own_ = 0;
    const Communicator* comm_ = nullptr;
};

std::string message(const Members& members, const char* direction, std::int32_t peer, std::int32_t tag) {
    return direction + members.text(peer) + " tag=" + (tag == LP_ANY_TAG ? "any" : std::to_string(tag)) +
           members.comm();
}

std::string operation(const Job& job, const Process& process, const Pending& p) {
    using Kind = Pending::Kind;
    const Members members(job, process, p.message.comm);
    switch (p.kind) {
        case Kind::send:
            return message(members, "send to=", p.message.peer, p.message.tag);
        case Kind::receive:
            return message(members, "recv from=", p.message.peer, p.message.tag);
        case Kind::both:
            return message(members, "send to=", p.message.peer, p.message.tag) + "; " +
                   message(members, "recv from=", p.second.peer, p.second.tag);
        case Kind::collective:
            return "collective" + Members(job, process, p.collective.comm).comm();
        case Kind::idup:
            return "collective" + Members(job, process, p.comm.parent).comm();
        case Kind::access:
            return "access";
        case Kind::nothing:
            break;
    }
    return "unknown";
}

std::string waited_for(const Job& job, const Process& process, const RequestEvents& requests, std::uint32_t thread,
                       const lp_open& open) {
    const Members members(job, process, open.comm);
    switch (open.what & 0xffU) {
        case LP_SEND:
            return message(members, "send to=", open.peer, open.tag);
        case LP_SENDRECV:
            return message(members, "send to=", open.peer, open.tag) +
                   "; recv from=" + members.text(static_cast<std::int32_t>(open.handle[0])) + members.comm();
        case LP_RECV:
            return message(members, "recv from=", open.peer, open.tag);
        case LP_COLL:
            return "collective" + members.comm();
        case LP_ABORTS:
            return "abort code=" + std::to_string(open.tag);
        case LP_DONE: {
            std::string text = "requests=" + std::to_string(open.handles) + ":";
            const std::uint32_t known = std::min(open.handles, LP_OPEN_HANDLES);
            for (std::uint32_t i = 0; i < known; ++i) {
                const Pending* p = requests.waiting(open.handle[i], thread);
                text += (i == 0 ? " " : "; ") + (p != nullptr ? operation(job, process, *p) : std::string("unknown"));
            }
            return text;
        }
        default:
            return "call";
    }
}

}  // namespace

std::string what_is_open(const Job& job, const Process& process, const RequestEvents& requests, std::uint32_t thread,
                         const lp_open& open) {
    const bool aborts = (open.what & 0xffU) == LP_ABORTS;
    return waited_for(job, process, requests, thread, open) +
           (open.exited != 0 && !aborts ? "; exit=" + std::to_string(open.status) : "");
}

}  // namespace logpost::assembler
