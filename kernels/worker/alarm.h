/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ALARM_H
#define ALARM_H

/*
 * From now on SIGALRM arrives every so many microseconds, on the stack that is in use. What a kernel keeps below its
 * stack pointer is then overwritten sooner or later (beyond the red zone that its ABI grants).
 */
void alarm_start(unsigned long microseconds);

#endif
