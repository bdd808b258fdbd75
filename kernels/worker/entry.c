/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE   /* MAP_ANONYMOUS */
#include "entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bytes.h"
#include "registers.h"
#include "sanitize.h"
#include "worker.h"

/* Arguments in registers, the distance between the two stack pointers, and flags: all clear, all set, carry alone,
   negative alone. With these every condition of a branch is true in one state and false in another. */
#if defined(__arm__)
enum { REGISTER_WORDS = 4, SHIFT = 8 };
static const uint32_t flags_of[] = { 0, 0xf8000000, 0x20000000, 0x80000000 };   /* N Z C V Q */
#elif defined(__aarch64__)
enum { REGISTER_WORDS = 8, SHIFT = 16 };
static const uint64_t flags_of[] = { 0, 0xf0000000, 0x20000000, 0x80000000 };   /* N Z C V */
#else
#if defined(__i386__)
enum { REGISTER_WORDS = 0, SHIFT = 16 };
#else
enum { REGISTER_WORDS = 6, SHIFT = 16 };
#endif
static const uintptr_t flags_of[] = { 0x202, 0xad7, 0x203, 0x282 };   /* CF PF AF ZF SF OF; DF is clear at every call */
#endif

enum {
    STACK_BYTES = ENTRY_STACK_BYTES,
    GUARD_BYTES = 64 * 1024,      /* a multiple of every page size in use */
    BELOW_STACK_BYTES = 1024 * 1024,   /* inaccessible too, so that frames of many KiB do not step over it */
    STACK_WORDS = CALL_WORDS - REGISTER_WORDS,
    ABOVE_BYTES = 160,            /* arguments, and at least 96 bytes of the caller's; a multiple of 32 */
    BELOW_BYTES = 8 * 1024,       /* noise before the first call of a request */
    AGAIN_BYTES = 1024,           /* and before each: most frames are no larger, and all of it would be felt in every run */
};

uintptr_t worker_own_sp;

static uint8_t *noise_start;      /* on the stack, which ends where the noise does */
static uint8_t noise[BELOW_BYTES + ABOVE_BYTES];
static size_t given_bytes;        /* arguments of the last call on the stack */

void entry_open(void)
{
    uint8_t *stack = mmap(NULL, BELOW_STACK_BYTES + STACK_BYTES + GUARD_BYTES, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t state = 3;

    if (stack == MAP_FAILED || mprotect(stack + BELOW_STACK_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) < 0) {
        perror("worker: stack for kernels");
        exit(EXIT_USAGE);
    }
    noise_start = stack + BELOW_STACK_BYTES + STACK_BYTES - sizeof noise;
    for (size_t i = 0; i < sizeof noise; i++) {
        state *= 0xd1342543de82ef95;
        noise[i] = (uint8_t)(state >> 56);
    }
}

void entry_begin(void)
{
    bytes_copy(noise_start, noise, sizeof noise);
}

/*
 * Five bits of the number are the state. Flags change from each number to the next, and poison and alignment with them
 * but not in step, so that the few calls of a short cell meet each of the four flags and each of the four poisons.
 */
static void set_state(unsigned number)
{
    unsigned flags = number & 3, poison = (number >> 2 & 3) ^ flags;
    unsigned lowest = (number ^ number >> 1 ^ number >> 2 ^ number >> 3 ^ number >> 4) & 1;

    worker_known.sp = (uintptr_t)noise_start + BELOW_BYTES - (lowest ? SHIFT : 0);
    worker_known.flags = flags_of[flags];
    registers_poison(poison);
}

static uint8_t *arguments(void)
{
    return (uint8_t *)(uintptr_t)worker_known.sp;
}

static const uint8_t *noise_at(const uint8_t *at)
{
    return noise + (at - noise_start);
}

static const uint8_t *lowest_byte(void)
{
    return noise_start + sizeof noise - STACK_BYTES;
}

uintptr_t entry_below_stack(uintptr_t address)
{
    uintptr_t distance = (uintptr_t)lowest_byte() - address;

    return distance <= BELOW_STACK_BYTES ? distance : 0;
}

uintptr_t entry_call(void (*function)(void), const uintptr_t *words, unsigned given, unsigned number)
{
    uintptr_t all[CALL_WORDS], value;
    uint8_t *at;

    set_state(number);
    /* A function that takes more words than it was given must not find the last call's by luck. */
    bytes_copy(all, worker_noise + NOISE_BYTES - sizeof all, sizeof all);
    bytes_copy(all, words, given * sizeof all[0]);
    /* What an earlier call has left, on its frame or as more arguments than this one has, must not be there; its stack
       pointer may have been SHIFT higher. */
    at = arguments();
    bytes_copy(at - AGAIN_BYTES, noise_at(at - AGAIN_BYTES), AGAIN_BYTES + SHIFT + STACK_WORDS * sizeof(uintptr_t));
    given_bytes = given > REGISTER_WORDS ? (given - REGISTER_WORDS) * sizeof(uintptr_t) : 0;
    if (given_bytes)
        bytes_copy(at, all + REGISTER_WORDS, given_bytes);
    sanitize_enter(lowest_byte(), STACK_BYTES);
    value = worker_call(function, all);
    sanitize_leave();
    return value;
}

void entry_abandon(void)
{
    sanitize_abandon(lowest_byte(), STACK_BYTES);
}

const uint8_t *entry_stack_pointer(void)
{
    return arguments();
}

bool entry_frame_kept(void)
{
    const uint8_t *from = arguments() + given_bytes;   /* arguments are the callee's */

    return bytes_equal(from, noise_at(from), (size_t)(noise_start + sizeof noise - from));
}
