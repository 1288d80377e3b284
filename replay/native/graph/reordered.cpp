#include "replay/native/graph/reordered.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/native/graph/choice_facts.hpp"
#include "replay/native/graph/recorded_queues.hpp"
#include "replay/native/graph/schedule.hpp"
#include "replay/native/memory/huge_column.hpp"

namespace logpost::replay {
namespace {

constexpr std::size_t kRecorded = 0;
constexpr std::size_t kPlanned = 1;

/// The node to which each edge leads.
HugeColumn<std::uint32_t> targets_of(const Graph& graph) {
    HugeColumn<std::uint32_t> targets;
    targets.reserve(graph.arcs.size());
    for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
        targets.resize(graph.first_edge[node + 1], node);
    }
    return targets;
}

class Reordering {
  public:
    Reordering(const Program& program, const Graph& graph, const Parameters& machine, const Setting& setting,
               std::span<const Delay> waits)
        : graph_(graph),
          weights_(graph, machine, std::vector<Setting>{{.machine = machine}, setting}),
          sources_(sources_of(graph)),
          program_(program),
          targets_(targets_of(graph)),
          followers_(
              static_cast<std::uint32_t>(graph.nodes()), static_cast<std::uint32_t>(graph.arcs.size()),
              [&](std::uint32_t edge) { return std::pair{queues(edge) ? kNone : sources_[edge], targets_[edge]}; }),
          schedule_(followers_.sources) {
        if (!graph.crossings.empty()) {
            std::vector<Delay> delays;
            for (const auto& one : graph.crossings) {
                delays.push_back({one.delay_ps, one.sent_delay_ps});
            }
            weights_.set_delays(kRecorded, delays);
            weights_.set_delays(kPlanned, waits.empty() ? delays : std::vector(waits.begin(), waits.end()));
        }
    }

    std::optional<Graph> graph(bool as_recorded) {
        find_servers(as_recorded);
        facts_.emplace(graph_, weights_, sources_, targets_, choices_of(program_, graph_, sources_), recorded_,
                       kRecorded);
        rows_.resize(facts_->choices.rows.size());
        for (std::uint32_t row = 0; row < rows_.size(); ++row) {
            rows_[row].row = row;
        }
        channels_.resize(facts_->channels.size());
        allowed_.assign(facts_->row_of.size(), 0);
        matched_.assign(allowed_.size(), kNone);
        into_.assign(allowed_.size(), kNone);
        replay();
        if (!changed_ || order_.size() != nodes()) {
            return std::nullopt;  // or the recorded matches do not allow the order
        }
        return built();
    }

  private:
    [[nodiscard]] bool queues(std::uint32_t edge) const noexcept {
        return is_queue(graph_.models[graph_.model_of(edge)]);
    }
    [[nodiscard]] std::uint32_t nodes() const noexcept { return static_cast<std::uint32_t>(graph_.nodes()); }
    template <class Body>
    void for_each_edge(std::uint32_t node, Body&& body) const {
        for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
            body(i);
        }
    }

    void find_servers(bool as_recorded) {
        auto found = recorded_queues(graph_, sources_);
        servers_.resize(found.servers);
        last_.assign(found.servers, kNone);
        const auto weight = [&](std::uint32_t edge) { return weights_.weight(edge, kRecorded); };
        late_ =
            as_recorded ? lateness(graph_, sources_, found, weight, recorded_) : std::vector<std::int64_t>(nodes(), 0);
        server_ = std::move(found.server);
        service_ = std::move(found.service);
        before_ = std::move(found.before);
    }

    // What happens in the order of time: a message at a server; of a choice, its request is complete, its message or
    // its post is there to be matched; of a row, its rank reaches the next choice.
    enum class What : std::uint8_t { served, complete, arrives, posted, free };
    using Event = std::tuple<std::int64_t, What, std::uint32_t>;

    /// A row while it is replayed.
    struct RowState {
        std::uint32_t row = 0;
        std::uint32_t done = 0;            // choices
        std::uint32_t sent = 0;            // of these, completions of sends
        bool waits = false;                // its rank is at a choice
        std::int64_t at = 0;               // since when
        std::uint32_t into = kNone;        // by which arc it is reached
        std::vector<std::uint32_t> ready;  // choices whose requests are complete
    };
    /// The receives of a row on a communicator, likewise.
    struct ChannelState {
        std::uint32_t taken = 0;
        std::deque<std::uint32_t> messages;  // choices whose messages have arrived, before there was a post
        std::deque<std::uint32_t> posts;     // nodes at which receives are posted, before there was a message
    };

    /// Every node once all that it waits for has its time; of those at a NIC, and of requests, the first to arrive.
    void replay() {
        time_.assign(nodes(), INT64_MIN);
        for (std::uint32_t node = 0; node < nodes(); ++node) {
            for_each_edge(node, [&](std::uint32_t i) {
                if (sources_[i] == kNone) {
                    time_[node] = weights_.weight(i, kPlanned);
                }
            });
        }
        for (std::uint32_t node = 0; node < nodes(); ++node) {
            if (schedule_.waits(node) == 0) {
                enter(node);
            }
        }
        order_.reserve(nodes());
        schedule_.run([&](std::uint32_t node) { has_time(node); }, [&](const Event& event) { happen(event); });
    }

    void happen(const Event& event) {
        const auto [at, what, id] = event;
        switch (what) {
            case What::served:
                serve(id);
                schedule_.ready(id);
                break;
            case What::complete:
                rows_[facts_->row_of[id]].ready.push_back(id);
                choose(rows_[facts_->row_of[id]]);
                break;
            case What::arrives:
            case What::posted: {
                auto& channel = channels_[what == What::arrives ? facts_->channel_of[id] : posted_[id].first];
                if (what == What::arrives) {
                    channel.messages.push_back(id);
                } else {
                    channel.posts.push_back(posted_[id].second);
                }
                match(channel);
                break;
            }
            case What::free:
                rows_[id].waits = true;
                choose(rows_[id]);
                break;
        }
    }

    void enter(std::uint32_t node) {
        if (server_[node] == kNone) {
            schedule_.ready(node);
        } else {
            schedule_.at({time_[node] + late_[node], What::served, node});
        }
    }

    /// What follows from a node's time.
    void has_time(std::uint32_t node) {
        order_.push_back(node);
        followers_.for_each(node, [&](std::uint32_t edge) {
            const auto target = targets_[edge];
            const auto at = time_[node] + weights_.weight(edge, kPlanned);
            if (const auto next = facts_->rewired[edge]; next != kNone) {
                reach_choice(next, edge, at);
            } else if (!facts_->post_arc.contains(edge)) {
                time_[target] = std::max(time_[target], at);
                arrive(target);
            }
        });
        if (facts_->choices.all.empty()) {
            return;
        }
        if (const auto posts = facts_->posting[node]; posts != kNone) {
            for (const auto choice : facts_->posts_of[posts]) {
                const auto in = facts_->poster(choice);
                if (in == kNone || !facts_->matches(in) || facts_->channel_of[in] != facts_->channel_of[choice]) {
                    post(facts_->channel_of[choice], node);
                } else if (allowed_[in] > 0) {
                    --allowed_[in];
                    post(facts_->channel_of[choice], node);
                }
            }
        }
        if (const auto more = extra_.find(node); more != extra_.end()) {
            for (const auto channel : more->second) {
                post(channel, node);
            }
        }
        if (const auto of = facts_->arrival_of[node]; of != kNone && !facts_->is_held(of)) {
            schedule_.at({time_[node] + facts_->late_message[of], What::arrives, of});
        }
    }

    void post(std::uint32_t channel, std::uint32_t node) {
        posted_.emplace_back(channel, node);
        schedule_.at({time_[node], What::posted, static_cast<std::uint32_t>(posted_.size() - 1)});
    }

    void arrive(std::uint32_t node) {
        if (schedule_.arrive(node)) {
            enter(node);
        } else if (!facts_->choices.all.empty()) {
            if (const auto of = facts_->held[node]; of != kNone && schedule_.waits(node) == 1) {
                schedule_.at({time_[node] + facts_->late_message[of], What::arrives, of});
            }
            if (const auto of = facts_->of_leave[node]; of != kNone) {
                complete(of);
            }
        }
    }

    /// Whether a choice's request is complete now: all but its own call has its time, and its message has a receive.
    void complete(std::uint32_t choice) {
        const auto& one = facts_->choices.all[choice];
        std::uint32_t own_edges = 0;
        for_each_edge(one.leave, [&](std::uint32_t i) { own_edges += sources_[i] == one.enter ? 1 : 0; });
        if (facts_->is_last(choice) || schedule_.waits(one.leave) != own_edges ||
            (facts_->matches(choice) && matched_[choice] == kNone)) {
            return;
        }
        const auto at = time_[one.leave] == INT64_MIN ? INT64_MIN : time_[one.leave] - facts_->own(choice, kPlanned);
        schedule_.at({at == INT64_MIN ? at : at + facts_->late_complete[choice], What::complete, choice});
    }

    void match(ChannelState& channel) {
        while (!channel.messages.empty() && !channel.posts.empty()) {
            const auto choice = channel.messages.front();
            matched_[choice] = channel.posts.front();
            channel.messages.pop_front();
            channel.posts.pop_front();
            const auto& one = facts_->choices.all[choice];
            changed_ = changed_ || matched_[choice] != one.posted;
            if (one.post_arc != kNone) {
                const auto target = targets_[one.post_arc];
                time_[target] =
                    std::max(time_[target], time_[matched_[choice]] + weights_.weight(one.post_arc, kPlanned));
                if (schedule_.arrive(target)) {
                    enter(target);
                } else if (const auto of = facts_->of_leave[target]; of != kNone) {
                    complete(of);
                }
            }
            complete(choice);
        }
    }

    /// A row's rank is done with what it did before, and reaches a choice.
    void reach_choice(std::uint32_t choice, std::uint32_t arc, std::int64_t at) {
        auto& row = rows_[facts_->row_of[choice]];
        if (row.into == kNone) {  // its first one: what no node waits for is complete
            const auto [first, end] = facts_->choices.rows[row.row];
            for (auto c = first; c < end; ++c) {
                if (time_[facts_->choices.all[c].leave] == INT64_MIN) {
                    complete(c);
                }
            }
        }
        row.into = arc;
        row.at = at;
        schedule_.at({at, What::free, row.row});
    }

    /// The rank takes the first of the requests that are complete.
    void choose(RowState& row) {
        const auto [first, end] = facts_->choices.rows[row.row];
        if (!row.waits) {
            return;
        }
        if (first + row.done + 1 == end) {
            take(row, end - 1);
            return;
        }
        const auto begun = [&](std::uint32_t c) {
            const auto in = facts_->choices.all[c].first_begun;  // the choice behind which its request is started
            return (facts_->matches(c) || in == 0 || into_[first + in - 1] != kNone) &&
                   (facts_->choices.all[c].receives || facts_->sends_before[c] == row.sent);
        };
        using Takes = ChoiceFacts::Takes;
        const auto preferred = [&](std::uint32_t c) {
            return facts_->choices.all[c].receives == (facts_->takes == Takes::receives) && begun(c);
        };
        auto next =
            facts_->takes == Takes::first_complete ? row.ready.end() : std::ranges::find_if(row.ready, preferred);
        if (next == row.ready.end()) {
            next = std::ranges::find_if(row.ready, begun);
        }
        if (next != row.ready.end()) {
            const auto choice = *next;
            row.ready.erase(next);
            take(row, choice);
        }
    }
    void take(RowState& row, std::uint32_t choice) {
        const auto& one = facts_->choices.all[choice];
        changed_ = changed_ || facts_->choices.rows[row.row].first + row.done != choice;
        row.waits = false;
        ++row.done;
        row.sent += one.receives ? 0 : 1;
        if (facts_->matches(choice)) {
            // How many receives are posted behind the k-th message the program says, not the message.
            auto& channel = channels_[facts_->channel_of[choice]];
            allowed_[choice] = facts_->posts_in[facts_->channels[facts_->channel_of[choice]].receives[channel.taken++]];
            for (; allowed_[choice] > facts_->posts_in[choice]; --allowed_[choice]) {
                extra_[one.leave].push_back(facts_->channel_of[choice]);
            }
        }
        into_[choice] = row.into;
        time_[one.enter] = row.at;
        schedule_.arrive(one.enter);
        schedule_.ready(one.enter);
    }

    void serve(std::uint32_t node) {
        const auto server = server_[node];
        const auto service =
            service_[node] == kNone
                ? 0
                : weights_.weight(Edge{node, service_[node], graph_.costs[service_[node]]}, kPlanned, 0);
        time_[node] = servers_[server].serve(node, time_[node], service);
        changed_ = changed_ || before_[node] != last_[server];
        before_[node] = std::exchange(last_[server], node);
    }

    [[nodiscard]] Graph built() const {
        Graph found;
        found.models = graph_.models;
        found.costs = graph_.costs;
        found.messages = graph_.messages;
        found.first_call = graph_.first_call;
        found.callpath = graph_.callpath;
        found.callpaths = graph_.callpaths;
        found.chooses = graph_.chooses;
        found.nics_share = graph_.nics_share;
        found.communicates = graph_.communicates;
        found.tick_ps = graph_.tick_ps;
        found.rebuilt = graph_.rebuilt;
        found.arcs.reserve(graph_.arcs.size());
        found.own_weights.reserve(graph_.own_weights.size());
        found.own_models.reserve(graph_.own_models.size());
        std::vector<std::uint32_t> place(nodes());
        for (std::uint32_t at = 0; at < nodes(); ++at) {
            place[order_[at]] = at;
        }
        std::vector<std::uint32_t> moved_to(graph_.arcs.size(), kNone);
        for (const auto node : order_) {
            found.first_edge.push_back(static_cast<std::uint32_t>(found.arcs.size()));
            for_each_edge(node, [&](std::uint32_t i) {
                if (queues(i)) {
                    return;
                }
                const auto [source, arc] = rewired(i);
                const auto edge = graph_.edge(arc);
                moved_to[i] = static_cast<std::uint32_t>(found.arcs.size());
                found.arcs.emplace_back(source == kNone ? kNone : place[source], edge.model);
                if (graph_.arcs[arc].row() >= graph_.models.size()) {
                    found.own(static_cast<std::uint32_t>(found.arcs.size() - 1), edge.weight);
                }
            });
            if (const auto before = before_[node]; before != kNone && service_[before] != kNone) {
                found.arcs.emplace_back(place[before], service_[before]);
            }
        }
        found.first_edge.push_back(static_cast<std::uint32_t>(found.arcs.size()));
        const auto moved = [&](const auto& from, auto& to) {
            std::ranges::transform(from, std::back_inserter(to),
                                   [&](std::uint32_t node) { return node == kNone ? kNone : place[node]; });
        };
        moved(graph_.begins, found.begins);
        moved(graph_.ends, found.ends);
        moved(graph_.enters, found.enters);
        moved(graph_.leaves, found.leaves);
        found.programs = graph_.programs;
        for (auto& program : found.programs) {
            program.finish = program.takes_part() ? place[program.finish] : kNone;
        }
        moved(graph_.not_recorded, found.not_recorded);
        found.next_call = next_calls();
        moved(graph_.awaiting, found.awaiting);
        if (graph_.crossings.empty()) {
            assign_slots(found);
            return found;
        }
        found.crossings = graph_.crossings;
        found.crossing_of.assign(found.arcs.size(), kNone);
        for (std::uint32_t i = 0; i < found.crossings.size(); ++i) {
            for (auto* edge : {&found.crossings[i].edge, &found.crossings[i].sent_edge}) {
                if (*edge != kNone) {
                    *edge = moved_to[*edge];
                    found.crossing_of[*edge] = i;
                }
            }
        }
        return found;
    }
    /// By call: the one that follows on its location. A choice follows the call whose arc led to it.
    [[nodiscard]] std::vector<std::uint32_t> next_calls() const {
        if (facts_->choices.all.empty()) {
            return {};
        }
        std::vector<std::uint32_t> next(graph_.enters.size());
        std::iota(next.begin(), next.end(), 1U);
        std::vector<std::uint32_t> call_of(nodes(), kNone);  // by node: its enter
        for (std::uint32_t call = 0; call < graph_.enters.size(); ++call) {
            call_of[graph_.enters[call]] = call;
        }
        for (std::uint32_t choice = 0; choice < into_.size(); ++choice) {
            const auto instead_of = facts_->rewired[into_[choice]];  // the choice to which that arc led as recorded
            next[call_of[facts_->choices.all[instead_of].enter] - 1] = call_of[facts_->choices.all[choice].enter];
        }
        return next;
    }
    /// Where an arc comes from now, and the arc that has its weight.
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> rewired(std::uint32_t arc) const {
        if (const auto into = facts_->rewired[arc]; into != kNone) {
            return {sources_[into_[into]], into_[into]};
        }
        const auto choice = facts_->post_arc[arc];
        return {choice == kNone ? sources_[arc] : matched_[choice], arc};
    }

    const Graph& graph_;
    Weights weights_;
    HugeColumn<std::uint32_t> sources_;  // by edge: node; kNone: none
    const Program& program_;
    HugeColumn<std::uint32_t> targets_;  // by edge: node
    Followers followers_;                // edges that order what a server serves are none of its edges
    Schedule<Event> schedule_;
    std::optional<ChoiceFacts> facts_;
    std::vector<RowState> rows_;
    std::vector<ChannelState> channels_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> posted_;          // channel and node
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> extra_;  // channels that are posted to, by node
    std::vector<std::uint32_t> allowed_;                                   // by choice: how many posts follow yet
    std::vector<std::uint32_t> matched_;                                   // likewise: node of the post it has got
    std::vector<std::uint32_t> into_;                                      // likewise: arc by which it is arrive at
    std::vector<std::int64_t> recorded_;                                   // by node; empty: not believed
    std::vector<std::int64_t> time_;                                       // by node
    std::vector<Server> servers_;
    std::vector<std::uint32_t> last_;     // by server: the node that it has served last, in whatever time
    std::vector<std::uint32_t> server_;   // by node: which one it queues at; kNone: none
    std::vector<std::uint32_t> service_;  // by node: model of its service time
    std::vector<std::uint32_t> before_;   // by node: the node that is served before it
    std::vector<std::int64_t> late_;      // by node
    std::vector<std::uint32_t> order_;    // of the nodes
    bool changed_ = false;
};

}  // namespace

std::optional<Graph> reordered(const Program& program, const Graph& graph, const Parameters& machine,
                               const Setting& setting, bool as_recorded, std::span<const Delay> waits) {
    return Reordering(program, graph, machine, setting, waits).graph(as_recorded);
}

}  // namespace logpost::replay
