#include "calls.hpp"

namespace logpost::assembler {

bool Calls::advance() {
    parts_.clear();
    windows_.clear();
    call_.reset();
    while (auto record = thread_->log.next(offset_)) {
        if (record->head.kind == LP_WINDOW) {
            windows_.push_back(*record);
        } else if (record->is_part()) {
            parts_.push_back(*record);
        } else if (!record->is_note()) {
            call_ = record;
            return true;
        }
    }
    return false;
}

}  // namespace logpost::assembler
