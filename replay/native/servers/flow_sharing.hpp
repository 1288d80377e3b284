#pragma once

/// Flows that share the links of a network: each has its max-min fair share of every moment.
///
/// The rates r are the largest, the smallest first, for which sum of r_f c_lf <= 1 over the flows of every link l, with
/// c_lf how long a byte of f occupies l (Bertsekas & Gallager, Data Networks, 6.5.2). They change where a flow starts
/// or ends, and only for flows that are joined with it by links.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <vector>

namespace logpost::replay {

class FlowSharing {
  public:
    /// A link that a flow takes, and how long a byte of it occupies the link.
    struct Share {
        std::uint32_t link;
        double byte_ps;
    };

    explicit FlowSharing(std::size_t links) : links_(links) {}

    /// A flow starts; its place, until it ends. Times never fall from call to call. At least one share has a byte_ps
    /// above 0.
    std::uint32_t start(std::int64_t now_ps, std::uint32_t flow, double bytes, std::span<const Share> shares);

    /// When the next flow ends; INT64_MAX: none is in flight.
    [[nodiscard]] std::int64_t next_end();
    /// Takes away the flow that ends at next_end().
    std::uint32_t end();
    /// Takes away a flow before its end; the bytes that are left of it.
    double stop(std::int64_t now_ps, std::uint32_t place);

  private:
    struct Link {
        std::vector<std::uint32_t> flows;  // places
        double used = 0;                   // by flows whose rate is settled
        double requested = 0;              // sum of byte_ps of the others
        std::uint32_t unsettled = 0;
        bool reached = false;
    };
    struct Flow {
        std::uint32_t id = 0;
        std::uint32_t version = 0;
        double bytes = 0;  // that are left at `since`
        double rate = 0;
        double settled = 0;  // the new rate; negative: not yet
        std::int64_t since = 0;
        bool reached = false;
        std::vector<Share> shares;
    };
    struct End {
        std::int64_t time;
        std::uint32_t place, version;
        friend bool operator>(const End& a, const End& b) noexcept {
            return a.time != b.time ? a.time > b.time : a.place > b.place;
        }
    };

    void advance(std::int64_t now_ps);
    void remove(std::uint32_t place);
    void settle();
    void set_rate(Flow& flow, std::uint32_t place, double rate);
    void reach();
    void share_out();

    std::vector<Link> links_;
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> changed_;                  // links whose flows are others since rates were settled
    std::vector<std::uint32_t> reached_links_, reached_;  // what the changes concern
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::int64_t now_ = INT64_MIN;
};

}  // namespace logpost::replay
