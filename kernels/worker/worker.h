/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam between the worker and what is generated for one build of it.
 *
 * The worker itself knows no algorithm. A build adds table.c, which defines the tables declared here, and thunks.S,
 * which has one THUNK line (see thunk.h) per row of worker_functions. Every other file of this folder is compiled for
 * every architecture; a file that is for one architecture only is empty on the others.
 */
#ifndef WORKER_H
#define WORKER_H

#include <stdint.h>

enum {
    WORKER_PROTOCOL = 2,     /* version of the frames, told in HELLO */
    WORKER_STACK = 0xfffe,   /* in place of a buffer: the kernel's stack */
    WORKER_NONE = 0xffff,    /* "no function", "no buffer", "no step" wherever an index of 16 bits is meant */
};

/* How the process ends when it is not by a signal. */
enum {
    EXIT_CLEAN = 0,     /* end of input between two frames; replay: every frame answered ok */
    EXIT_USAGE = 1,     /* command line, or the machine lacks something that the worker cannot do without */
    EXIT_FRAMING = 2,   /* the input is no sequence of frames: nothing after this point can be understood */
    EXIT_SIGNAL = 3,    /* a signal was reported in the last frame */
    EXIT_REPLAY = 4,    /* replay: some frame was answered with another status than ok */
};

/* ---- defined by table.c ---- */

extern const char worker_build_id[];
extern const char worker_arch[];

struct worker_capability {
    const char *name;
    uint64_t implies;   /* capabilities, as a mask, without which this one does not count as present */
    uint8_t word;       /* index into worker_raw */
    uint8_t bit;        /* bit in that word */
    uint8_t xcr0;       /* x86: bits that must all be set in XCR0 */
};
extern const struct worker_capability worker_capabilities[];
extern const unsigned worker_capability_count;   /* at most 64; the index of a capability is its bit in every mask */

enum { FUNCTION_VARIANT = 0, FUNCTION_DISPATCH = 1 };

struct worker_function {
    const char *name;        /* "chacha20.xor.ssse3" (variant) or "chacha20.xor" (dispatch) */
    void (*thunk)(void);     /* worker_thunk_<index> */
    uint8_t kind;
    uint8_t assembly;        /* not 0: written in assembly, so that x18 is not its own either */
};
extern const struct worker_function worker_functions[];
extern const unsigned worker_function_count;   /* less than WORKER_NONE */

/* How often each function was entered since the RUN began; the thunks add one. */
extern uint32_t worker_entered[];

/* Index of the variant function that a dispatch function takes for `length` bytes under `mask`, or WORKER_NONE. */
unsigned worker_choose(unsigned function, uint64_t length, uint64_t mask);

/* ---- defined by detect.c, read by the generated dispatch functions ---- */

extern uint64_t worker_detected;   /* what this machine has */
extern uint64_t worker_mask;       /* what the dispatch functions may use; starts as worker_detected */

#endif
