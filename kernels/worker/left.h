/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEFT_H
#define LEFT_H

#include "frame.h"

/* LEFT: reply with what the calls of the last RUN have left: on the stack below their stack pointer, and in states. */
void left(const struct frame *frame);

#endif
