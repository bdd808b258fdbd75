/* SPDX-License-Identifier: Apache-2.0 */
/* From the machine's own words to the set of capabilities; the table of capabilities is generated. */
#include "detect.h"

#include <stdbool.h>

#include "worker.h"

enum { RAW_XCR0 = 5 };   /* only x86 has that many words, and only x86 capabilities ask for bits of it */

uint64_t worker_detected, worker_mask;
uint64_t worker_raw[RAW_WORDS_MAX];
unsigned worker_raw_count;

static bool present(const struct worker_capability *capability)
{
    uint64_t xcr0 = worker_raw_count > RAW_XCR0 ? worker_raw[RAW_XCR0] : 0;

    return capability->word < worker_raw_count && capability->bit < 64
        && (worker_raw[capability->word] >> capability->bit & 1)
        && (xcr0 & capability->xcr0) == capability->xcr0;
}

uint64_t detect_close(uint64_t mask)
{
    uint64_t before;

    do {
        before = mask;
        for (unsigned i = 0; i < worker_capability_count; i++)
            if ((worker_capabilities[i].implies & ~mask) != 0)
                mask &= ~((uint64_t)1 << i);
    } while (mask != before);
    return mask;
}

void detect(void)
{
    uint64_t own = 0;

    worker_raw_count = detect_raw(worker_raw);
    for (unsigned i = 0; i < worker_capability_count; i++)
        if (present(&worker_capabilities[i]))
            own |= (uint64_t)1 << i;
    worker_detected = worker_mask = detect_close(own);
}
