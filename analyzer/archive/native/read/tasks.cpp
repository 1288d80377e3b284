#include "analyzer/archive/native/read/tasks.hpp"

#include <stdexcept>
#include <string>

#include "analyzer/archive/native/read/account_blocks.hpp"
#include "analyzer/archive/native/read/operation_blocks.hpp"
#include "analyzer/archive/native/read/split_blocks.hpp"

namespace logpost::analyzer {

bool run_task(const std::filesystem::path& archive, const Shards& shards, std::string_view stage, std::uint32_t block,
              const ReadOptions& options) {
    if (stage == "decode") {
        return decode_block(archive, shards, block, options);
    }
    if (stage == "number") {
        return number_blocks(archive, shards);
    }
    if (stage == "match") {
        return match_block(shards, block);
    }
    if (stage == "join") {
        return join_block(archive, shards, block);
    }
    if (stage == "meet") {
        return meet_block(archive, shards, block);
    }
    if (stage == "operate") {
        return operate_block(archive, shards, block);
    }
    if (stage == "wait") {
        return wait_blocks(archive, shards);
    }
    if (stage == "account") {
        return account_block(shards, block);
    }
    for (int round = 1; round <= replay::MessageModel::kRounds; ++round) {
        if (stage == "leave" + std::to_string(round)) {
            return leave_block(shards, round, block);
        }
        if (stage == "reply" + std::to_string(round)) {
            return reply_block(shards, round, block);
        }
    }
    throw std::invalid_argument("there is no such stage");
}

}  // namespace logpost::analyzer
