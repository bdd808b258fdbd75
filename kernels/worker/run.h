/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_H
#define RUN_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "frame.h"

/* What is being worked on, for the crash handler. */
struct running {
    const struct frame *frame;        /* the request, NULL between requests */
    volatile uint16_t step;           /* index of the step whose function runs, WORKER_NONE outside of one */
    volatile bool faults;             /* a step of this RUN is to end at an inaccessible page */
    sigjmp_buf after_fault;           /* where the worker goes on when it has */
    unsigned buffers;                 /* placed buffers */
    struct buffer buffer[ARENA_SLOTS];
};
extern struct running running;

/* RUN: lay out buffers, call the steps in order, check after each, reply. Nothing runs unless all of it is sound. */
void run(const struct frame *frame);

#endif
