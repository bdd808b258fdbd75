/* SPDX-License-Identifier: Apache-2.0 */
/* What every assembly file says in the same way: include it before the first instruction.
 *
 *     FUNCTION name[, align]          head of an exported function, aligned to 2^align bytes (16 bytes unless said)
 *     LOCAL_FUNCTION name[, align]    head of a function that this file alone calls
 *     FUNCTION_END name               its end, from which its size follows
 *
 * A local function may begin inside another one (align 0), of which it is the end.
 *
 * Including the file also says
 *   - that the stack need not be executable (.note.GNU-stack);
 *   - on 32-bit ARM, that the syntax is unified, and the state that of the compiler: Thumb-2 or ARM;
 *   - where the compiler was told to protect indirect calls (x86 -fcf-protection, AArch64 -mbranch-protection), that the
 *     object does so (.note.gnu.property). FUNCTION then begins with a landing pad. Otherwise neither is there, so that
 *     no instruction is spent on them.
 *
 * To review: a landing pad is where an indirect call arrives. A kernel that jumps through a register inside itself needs
 * pads at its targets too. Return addresses are not signed, so that PAC is not claimed.
 */
#ifndef SHARED_ASSEMBLY_H
#define SHARED_ASSEMBLY_H

#if defined(__i386__) || defined(__x86_64__)
#include <cet.h>                        /* the compiler's: _CET_ENDBR, and the note where it is needed */
#define LANDING_PAD _CET_ENDBR
#elif defined(__ARM_FEATURE_BTI_DEFAULT)
#define LANDING_PAD hint #34            /* bti c, by a name that assemblers for ARMv8.0 know */
        .pushsection .note.gnu.property, "a"
        .p2align 3
        .long   4, 16, 5                /* bytes of the name, bytes of what follows it, NT_GNU_PROPERTY_TYPE_0 */
        .asciz  "GNU"
        .long   0xc0000000, 4           /* GNU_PROPERTY_AARCH64_FEATURE_1_AND, bytes */
        .long   1, 0                    /* BTI, padding */
        .popsection
#else
#define LANDING_PAD
#endif

        .pushsection .note.GNU-stack, "", %progbits
        .popsection

#ifdef __arm__
        .syntax unified
#ifdef __thumb2__
        .thumb
#define FAR_ADR adr.w                   /* the address of a label; reaches 4095 bytes */
#else
        .arm
#define FAR_ADR adrl                    /* two instructions: `adr` reaches 255 words at most */
#endif
#endif

.macro  FUNCTION name, align=4
        .p2align \align
        .globl  \name
        .type   \name, %function
\name:
        LANDING_PAD
.endm

.macro  LOCAL_FUNCTION name, align=4
        .p2align \align
        .type   \name, %function
\name:
.endm

.macro  FUNCTION_END name
        .size   \name, . - \name
.endm

#endif
