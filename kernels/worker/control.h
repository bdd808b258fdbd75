/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control registers of the floating-point units: rounding, flushing to zero, precision, which exceptions trap. A called
 * function must give them back, or it changes its caller's arithmetic; the flags that only gather what happened are
 * its own. Compiled C does not touch them, so that they are looked at from C, right after the call.
 */
#ifndef CONTROL_H
#define CONTROL_H

/* Once, after detect(): what the system started this process with is what every function finds, and must leave. */
void control_prepare(void);

/* Number of control registers that this machine has. */
unsigned control_count(void);

/* The name of control register `index` if it was changed, which is put right then, else NULL. */
const char *control_mend(unsigned index);

#endif
