/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers that a called function must give back. The trampoline loads worker_known before the call and stores
 * into worker_after after it; C compares. The stack pointer and the flags of the call are there too (entry.c). Offsets
 * are for the assembly files, which include this header too.
 */
#ifndef REGISTERS_H
#define REGISTERS_H

#if defined(__arm__)
#define REGISTERS_SP 32        /* after r4-r11 */
#define REGISTERS_FLAGS 36
#define REGISTERS_VECTOR 40    /* d8-d15 */
#elif defined(__aarch64__)
#define REGISTERS_SP 88        /* after x19-x29 */
#define REGISTERS_VECTOR 96    /* d8-d15 */
#define REGISTERS_PLATFORM 160 /* x18 */
#define REGISTERS_FLAGS 168
#elif defined(__i386__)
#define REGISTERS_SP 16        /* after ebx esi edi ebp */
#define REGISTERS_FLAGS 20
#define REGISTERS_X87 24       /* 28 bytes as FNSTENV writes them */
#define REGISTERS_WIDE 64      /* ymm0-ymm7 */
#elif defined(__x86_64__)
#define REGISTERS_SP 48        /* after rbx rbp r12-r15 */
#define REGISTERS_FLAGS 56
#define REGISTERS_X87 64       /* 28 bytes as FNSTENV writes them */
#define REGISTERS_WIDE 96      /* ymm0-ymm15 */
#else
#error "no trampoline for this architecture"
#endif

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct registers {
#if defined(__arm__)
    uint32_t core[8];
    uint32_t sp;
    uint32_t flags;
    uint64_t vector[8];
#elif defined(__aarch64__)
    uint64_t core[11];
    uint64_t sp;
    uint64_t vector[8];
    uint64_t platform;
    uint64_t flags;
#elif defined(__i386__)
    uint32_t core[4];
    uint32_t sp;
    uint32_t flags;
    uint32_t x87[7];
    uint32_t unused[3];
    uint64_t wide[8][4];
#elif defined(__x86_64__)
    uint64_t core[6];
    uint64_t sp;
    uint64_t flags;
    uint32_t x87[7];
    uint32_t unused;
    uint64_t wide[16][4];
#endif
};

enum { NOISE_BYTES = 512, CALL_WORDS = 8, REGISTERS_TEXT = 128 };

extern struct registers worker_known, worker_after;
extern uint8_t worker_noise[NOISE_BYTES];   /* what caller-saved registers hold at a call, then what unused words do */
extern uint32_t worker_noise_vectors;       /* not 0 if these exist: d16-d31 of 32-bit ARM, xmm of i386 */
extern uint32_t worker_wide_vectors;        /* x86: not 0 if the ymm registers exist */

/* Once, after detect(). */
void registers_prepare(void);

/* Fill worker_noise with poison of a kind: 0 random bytes, 1 zeros, 2 ones, 3 small numbers. */
void registers_poison(unsigned kind);

/*
 * Call `function`, on the stack of worker_known, with those of the eight words in registers that the architecture's C
 * convention has there; the others lie on that stack. Returns what is in the register of a word result
 * (trampoline_<arch>.S). Only for entry.c.
 */
uintptr_t worker_call(void (*function)(void), const uintptr_t words[CALL_WORDS]);

/* Repair what a call that did not return may have left behind and would disturb the next one. */
void registers_mend(void);

/*
 * Compare after a call. False when something was not given back: `names` then lists it, separated by blanks. Repairs
 * what would disturb the next call. The platform register x18 counts for assembly only: C compilers may use it.
 */
bool registers_kept(char names[REGISTERS_TEXT], bool assembly);

#endif
#endif
