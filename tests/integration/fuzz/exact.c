/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked with --wrap=frame_next. Every payload gets a block of its own that ends where the payload does and is freed
 * when the next frame is asked for: AddressSanitizer then sees a read one byte too far, or too late, which inside the
 * worker's large input buffer would look like any other. The odd address shows a load that counts on alignment.
 */
#include <stdlib.h>
#include <string.h>

#include "frame.h"

bool __real_frame_next(struct frame *frame);
bool __wrap_frame_next(struct frame *frame);

bool __wrap_frame_next(struct frame *frame)
{
    static uint8_t *block;

    free(block);
    block = NULL;
    if (!__real_frame_next(frame))
        return false;
    block = malloc(frame->size + 1);
    if (!block)
        abort();
    memcpy(block + 1, frame->payload, frame->size);
    frame->payload = block + 1;
    return true;
}
