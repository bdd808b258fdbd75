/* SPDX-License-Identifier: Apache-2.0 */
/* x86, 32 and 64 bits: CPUID leaves 1 and 7, and XCR0, which says whether the system saves the wide registers. */
#if defined(__i386__) || defined(__x86_64__)

#include "detect.h"

#include <cpuid.h>

enum { OSXSAVE_BIT = 27 };   /* of 1.ecx: without it XGETBV is an illegal instruction */

static uint64_t read_xcr0(void)
{
    uint32_t low, high;

    /* XGETBV in bytes, so that no compiler or assembler option is needed for it */
    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
    return low | (uint64_t)high << 32;
}

unsigned detect_raw(uint64_t raw[RAW_WORDS_MAX])
{
    unsigned eax, ebx, ecx, edx;

    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
        raw[0] = ecx;
        raw[1] = edx;
    }
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
        raw[2] = ebx;
        raw[3] = ecx;
        raw[4] = edx;
    }
    if (raw[0] >> OSXSAVE_BIT & 1)
        raw[5] = read_xcr0();
    return 6;
}

#endif
