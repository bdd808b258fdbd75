/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel finds when it is entered: a stack of its own, which it shares with nothing of the worker. Below the
 * stack pointer lies noise, so that what was never stored is not zero by luck; above the arguments lies noise too, the
 * caller's, which must stay. The alignment of the stack pointer and the flags differ from request to request.
 */
#ifndef ENTRY_H
#define ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENTRY_STACK_BYTES = 256 * 1024 };

/* The worker's stack pointer during a call, for the trampoline. */
extern uintptr_t worker_own_sp;

/* Once, before the first call. Ends the process with EXIT_USAGE when the machine refuses. */
void entry_open(void);

/*
 * Before the first call of a request. A request must always get the same `other`, or its failure would not repeat:
 * false is the stack pointer as aligned as can be and all flags clear; true the least that the ABI allows, and all set.
 */
void entry_begin(bool other);

/* Call `function` with its `given` words, of the eight; see worker_call. */
uintptr_t entry_call(void (*function)(void), const uintptr_t *words, unsigned given);

/* The kernel's stack pointer at the last call; below it lies what the kernel has left, ENTRY_STACK_BYTES at most. */
const uint8_t *entry_stack_pointer(void);

/* How far below the lowest byte of the kernel's stack an address lies, 0 when it does not, or so far that it means more. */
uintptr_t entry_below_stack(uintptr_t address);

/* After a call: is what lies above its arguments on the stack as it was? */
bool entry_frame_kept(void);

#endif
