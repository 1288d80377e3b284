#include "pending.hpp"

#include <cstring>

namespace logpost::assembler {

Pending collective_of(const ProcessIds& ids, const Record& r) {
    Pending p;
    p.kind = Pending::Kind::collective;
    p.collective = r.get<lp_collective>();
    p.operation = ids.operation(r.head.function);
    return p;
}

Pending persistent_of(const ProcessIds& ids, const Record& r) {
    Pending p = collective_of(ids, r);
    p.number = static_cast<std::uint32_t>(r.get<std::uint64_t>(sizeof(lp_collective) + sizeof(std::uint64_t)));
    return p;
}

lp_head carried_head(const lp_carried& c) {
    lp_head head{};
    std::memcpy(&head, c.record, sizeof head);
    return head;
}

bool only_made(const lp_carried& c) {
    const auto kind = carried_head(c).kind;
    return c.active == 0 && (kind == LP_SEND_INIT || kind == LP_RECV_INIT || kind == LP_COLL_INIT);
}

Pending begun(const ProcessIds& ids, const lp_carried& c) {
    using Kind = Pending::Kind;
    const lp_head head = carried_head(c);
    const Record r{head, reinterpret_cast<const std::byte*>(c.record) + sizeof head, sizeof c.record - sizeof head};
    Pending p;
    p.message = r.get<lp_message>();
    switch (head.kind) {
        case LP_SEND_INIT:
            p.kind = c.active == 0 ? Kind::send : Kind::nothing;
            break;
        case LP_ISENDRECV:
            p.message = r.get<lp_message>(sizeof(lp_message));
            [[fallthrough]];
        case LP_IRECV:
        case LP_RECV_INIT:
            p.kind = Kind::receive;
            break;
        case LP_COLL_INIT:
            p = persistent_of(ids, r);
            if (c.active != 0) {
                p.kind = Kind::nothing;
            }
            break;
        default:
            break;
    }
    return p;
}

}  // namespace logpost::assembler
