/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ARM, 32 and 64 bits: the kernel's auxiliary vector. Not /proc/cpuinfo, which under qemu-user is the host's, and not
 * the identification registers, which a program may not read on 32-bit ARM.
 */
#if defined(__arm__) || defined(__aarch64__)

#include "detect.h"

#include <sys/auxv.h>

unsigned detect_raw(uint64_t raw[RAW_WORDS_MAX])
{
    raw[0] = getauxval(AT_HWCAP);
    raw[1] = getauxval(AT_HWCAP2);
    return 2;
}

#endif
