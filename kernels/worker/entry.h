/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel finds when it is entered: a stack of its own, which it shares with nothing of the worker. Below the
 * stack pointer lies noise, so that what was never stored is not zero by luck; above the arguments lies noise too, the
 * caller's, which must stay. The alignment of the stack pointer, the flags and what lies in registers that the kernel may
 * change follow from a number that the request brings: the same number is the same state, and 32 numbers in a row are
 * all of them. Step k of a request is entered with its number plus k (matrix/cases/entry.py knows the same order).
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

/* Before the first call of a request. */
void entry_begin(void);

/* Call `function` with its `given` words, of the eight, in the state of `number`; see worker_call. */
uintptr_t entry_call(void (*function)(void), const uintptr_t *words, unsigned given, unsigned number);

/* The kernel's stack pointer at the last call; below it lies what the kernel has left, ENTRY_STACK_BYTES at most. */
const uint8_t *entry_stack_pointer(void);

/* How far below the lowest byte of the kernel's stack an address lies, 0 when it does not, or so far that it means more. */
uintptr_t entry_below_stack(uintptr_t address);

/* After a call: is what lies above its arguments on the stack as it was? */
bool entry_frame_kept(void);

/* After a call that ended at a fault instead of returning. */
void entry_abandon(void);

#endif
