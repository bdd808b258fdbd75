/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a worker that is fuzzed: functions that take any arguments and cannot crash by themselves. */
#include "run.h"
#include "worker.h"

enum { SSE = 25, SSE2 = 26, RESERVED = 10, EDX_OF_LEAF_1 = 1, BULK_BYTES = 16 };

const char worker_build_id[] = "fuzz";
const char worker_arch[] = "x86_64";

/* The first two are in every x86-64 machine, the third in none: what is detected is the same everywhere. */
const struct worker_capability worker_capabilities[] = {
    { "sse", 0, EDX_OF_LEAF_1, SSE, 0 },
    { "sse2", 1, EDX_OF_LEAF_1, SSE2, 0 },
    { "nowhere", 1, EDX_OF_LEAF_1, RESERVED, 0 },
};
const unsigned worker_capability_count = 3;

void worker_thunk_0(void);
void worker_thunk_1(void);
void worker_thunk_2(void);

const struct worker_function worker_functions[] = {
    { "toy.nothing", worker_thunk_0, FUNCTION_VARIANT, 0 },
    { "toy.poke", worker_thunk_1, FUNCTION_VARIANT, 0 },
    { "toy.dispatch", worker_thunk_2, FUNCTION_DISPATCH, 0 },
};
const unsigned worker_function_count = 3;
uint32_t worker_entered[3];

unsigned worker_choose(unsigned function, uint64_t length, uint64_t mask)
{
    return function == 2 && length >= BULK_BYTES && (mask & 2) ? 0 : WORKER_NONE;
}

uintptr_t toy_nothing(void);
uintptr_t toy_poke(uintptr_t address);
uintptr_t toy_dispatch(void);

uintptr_t toy_nothing(void)
{
    return 0;
}

/* Change the byte at `address` if it lies in a buffer of this RUN that may be written. */
uintptr_t toy_poke(uintptr_t address)
{
    for (unsigned i = 0; i < running.buffers; i++) {
        const struct buffer *buffer = &running.buffer[i];

        if (buffer->role != ROLE_IN && address - (uintptr_t)buffer->start < buffer->length)
            buffer->start[address - (uintptr_t)buffer->start] ^= 0xff;
    }
    return address;
}

uintptr_t toy_dispatch(void)
{
    worker_thunk_0();
    return 0;
}
