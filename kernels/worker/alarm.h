/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ALARM_H
#define ALARM_H

/*
 * From now on SIGALRM arrives every so many microseconds, on the stack that is in use. What a kernel keeps below its
 * stack pointer is then overwritten sooner or later (beyond the red zone that its ABI grants), all but single words of
 * the signal frame that the system leaves out and bytes that return from the signal reads. QEMU takes a signal at a
 * branch only: what waits below the stack pointer from one branch to the next is not seen.
 */
void alarm_start(unsigned long microseconds);

#endif
