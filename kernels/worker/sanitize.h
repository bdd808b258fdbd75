/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker with instrumented kernels tells the sanitizers' runtime; nothing in every other worker. */
#ifndef SANITIZE_H
#define SANITIZE_H

#include <stddef.h>

/* Once: finished replies go out before the runtime ends the process. */
void sanitize_prepare(void);

/* Around a call: the kernel's stack is the `size` bytes from `bottom` on, and then the worker's own is again. */
void sanitize_enter(const void *bottom, size_t size);
void sanitize_leave(void);

/* Instead of sanitize_leave, after a call that did not return: what it marked on its stack would stay. */
void sanitize_abandon(const void *bottom, size_t size);

#endif
