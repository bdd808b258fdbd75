/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LEFT. Payload: u32 bytes. Reply: that many bytes below the stack pointer that the kernel was entered with, the lowest
 * first, then the bytes of every state of the last RUN, in the order of its buffers. The host compares the replies of
 * runs that differ in their secrets only.
 */
#include "left.h"

#include <inttypes.h>

#include "entry.h"
#include "run.h"
#include "wire.h"
#include "worker.h"

void left(const struct frame *frame)
{
    enum { MOST = ENTRY_STACK_BYTES / 2 };   /* the stack pointer lies near the upper end of the stack */
    uint32_t bytes;

    if (frame->size != 4) {
        reply_text(STATUS_BAD_REQUEST, "LEFT: %lu bytes of payload, not 4", (unsigned long)frame->size);
        return;
    }
    bytes = load_u32(frame->payload);
    if (bytes > MOST || !entry_stack_pointer()) {
        reply_text(STATUS_BAD_REQUEST, "LEFT: %" PRIu32 " bytes, at most %d, after a RUN", bytes, MOST);
        return;
    }
    reply_bytes(entry_stack_pointer() - bytes, bytes);
    for (unsigned i = 0; i < running.buffers; i++)
        if (running.buffer[i].role == ROLE_STATE)
            reply_bytes(running.buffer[i].start, running.buffer[i].length);
    reply_end(STATUS_OK);
}
