#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/archive/native/trace/trace.hpp"

namespace logpost::analyzer {

/// The queues of messages to one process, by (communicator, sender, tag); reused from process to process.
class Channels {
  public:
    /// Forgets all; at most `sends` messages follow.
    void reset(std::size_t sends) {
        std::size_t wanted = 64;
        while (wanted < sends && wanted < 4096) {
            wanted *= 2;
        }
        if (table_.size() < wanted) {
            table_.assign(wanted, Channel{});
            generation_ = 0;
        }
        ++generation_;
        used_ = 0;
        next_.assign(sends, kNone);
    }

    /// Message `i` is appended to those of its channel.
    void push(std::uint32_t i, std::int32_t comm, replay::Location sender, std::int32_t tag) {
        auto& channel = find_or_add(comm, sender, tag);
        if (channel.head == kNone) {
            channel.head = i;
        } else {
            next_[channel.tail] = i;
        }
        channel.tail = i;
    }

    /// The first message of a channel, which stays; kNone: there is none.
    std::uint32_t first(std::int32_t comm, replay::Location sender, std::int32_t tag) {
        const auto* channel = find(comm, sender, tag);
        return channel == nullptr ? kNone : channel->head;
    }

    /// Takes the first message of a channel; kNone: there is none.
    std::uint32_t pop(std::int32_t comm, replay::Location sender, std::int32_t tag) {
        auto* channel = find(comm, sender, tag);
        if (channel == nullptr || channel->head == kNone) {
            return kNone;
        }
        const auto first = channel->head;
        channel->head = next_[first];
        return first;
    }

  private:
    struct Channel {
        std::int32_t comm;
        replay::Location sender;
        std::int32_t tag;
        std::uint32_t generation;  // of another process: free
        std::uint32_t head;
        std::uint32_t tail;
    };

    static std::size_t hash(std::int32_t comm, replay::Location sender, std::int32_t tag) noexcept {
        const auto key = (static_cast<std::uint64_t>(index(sender)) << 32) ^
                         (static_cast<std::uint64_t>(static_cast<std::uint32_t>(comm)) << 16) ^
                         static_cast<std::uint32_t>(tag);
        return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 24);
    }

    Channel* find(std::int32_t comm, replay::Location sender, std::int32_t tag) {
        const auto mask = table_.size() - 1;
        for (auto slot = hash(comm, sender, tag) & mask; table_[slot].generation == generation_;
             slot = (slot + 1) & mask) {
            auto& channel = table_[slot];
            if (channel.comm == comm && channel.sender == sender && channel.tag == tag) {
                return &channel;
            }
        }
        return nullptr;
    }

    Channel& find_or_add(std::int32_t comm, replay::Location sender, std::int32_t tag) {
        if (used_ * 2 >= table_.size()) {
            grow();
        }
        const auto mask = table_.size() - 1;
        auto slot = hash(comm, sender, tag) & mask;
        for (; table_[slot].generation == generation_; slot = (slot + 1) & mask) {
            auto& channel = table_[slot];
            if (channel.comm == comm && channel.sender == sender && channel.tag == tag) {
                return channel;
            }
        }
        ++used_;
        table_[slot] = {comm, sender, tag, generation_, kNone, kNone};
        return table_[slot];
    }

    void grow() {
        std::vector<Channel> old(table_.size() * 2);
        old.swap(table_);
        const auto mask = table_.size() - 1;
        for (const auto& channel : old) {
            if (channel.generation == generation_) {
                auto slot = hash(channel.comm, channel.sender, channel.tag) & mask;
                while (table_[slot].generation == generation_) {
                    slot = (slot + 1) & mask;
                }
                table_[slot] = channel;
            }
        }
    }

    std::vector<Channel> table_;
    std::uint32_t generation_ = 0;
    std::size_t used_ = 0;
    std::vector<std::uint32_t> next_;  // the message behind this one in its channel
};

}  // namespace logpost::analyzer
