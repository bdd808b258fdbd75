/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DETECT_H
#define DETECT_H

#include <stdint.h>

enum { RAW_WORDS_MAX = 8 };

/* What the machine says of itself: ARM HWCAP and HWCAP2; x86 1.ecx 1.edx 7.ebx 7.ecx 7.edx xcr0. */
extern uint64_t worker_raw[RAW_WORDS_MAX];
extern unsigned worker_raw_count;

/* Fill worker_raw from index 0 and return how many words that are (detect_arm.c, detect_x86.c). */
unsigned detect_raw(uint64_t raw[RAW_WORDS_MAX]);

/* Fill worker_raw, worker_detected and worker_mask. */
void detect(void);

/* The largest subset of `mask` in which everything that a capability implies is present too. */
uint64_t detect_close(uint64_t mask);

#endif
