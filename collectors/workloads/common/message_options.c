#include "message_options.h"

#include "../logpost_compute.h"

#define POLLING_SAVES 0.35  /* of o_s + o_r (SENS 4.3) */
#define GATHER_SCATTER 60.0 /* cycles per line of 16 bytes, "as high as" (SENS section 4) */

void message_overheads(struct message_options* o, double alewife_send, double alewife_receive) {
    if (o->receive == RECEIVE_POLL)
        alewife_receive -= POLLING_SAVES * (alewife_send + alewife_receive);
    if (o->send_cycles < 0)
        o->send_cycles = LOGPOST_COMPUTE_IS_SIMULATED ? 0 : alewife_send;
    if (o->receive_cycles < 0)
        o->receive_cycles = LOGPOST_COMPUTE_IS_SIMULATED ? 0 : alewife_receive;
    if (o->line_cycles < 0)
        o->line_cycles = LOGPOST_COMPUTE_IS_SIMULATED ? GATHER_SCATTER / 2 : 0;
}
