#include "calls.hpp"

namespace logpost::assembler {

bool Calls::advance() {
    parts_.clear();
    windows_.clear();
    call_.reset();
    while (auto record = thread_->log.next(offset_)) {
        if (off_ && record->head.kind != LP_ON) {
            continue;  // of a process that was killed while it was off
        }
        off_ = record->head.kind == LP_OFF;
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
