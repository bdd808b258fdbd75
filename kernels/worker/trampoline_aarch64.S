/* SPDX-License-Identifier: Apache-2.0 */
/* uintptr_t worker_call(void (*function)(void), const uintptr_t words[8]): see registers.h. AAPCS64. */
#if defined(__aarch64__)

#include "registers.h"

    .macro ADDRESS register, symbol
    adrp    \register, \symbol
    add     \register, \register, :lo12:\symbol
    .endm

    .text
    .balign 4
    .globl  worker_call
    .type   worker_call, %function
worker_call:
    stp     x29, x30, [sp, #-160]!
    stp     x19, x20, [sp, #16]
    stp     x21, x22, [sp, #32]
    stp     x23, x24, [sp, #48]
    stp     x25, x26, [sp, #64]
    stp     x27, x28, [sp, #80]
    stp     d8, d9, [sp, #96]
    stp     d10, d11, [sp, #112]
    stp     d12, d13, [sp, #128]
    stp     d14, d15, [sp, #144]
    mov     x16, x0
    mov     x17, x1

    /* known values in what the function must keep */
    ADDRESS x9, worker_known
    ldp     x19, x20, [x9]
    ldp     x21, x22, [x9, #16]
    ldp     x23, x24, [x9, #32]
    ldp     x25, x26, [x9, #48]
    ldp     x27, x28, [x9, #64]
    ldr     x29, [x9, #80]
    ldr     x18, [x9, #REGISTERS_PLATFORM]
    ldp     d8, d9, [x9, #REGISTERS_VECTOR]
    ldp     d10, d11, [x9, #REGISTERS_VECTOR + 16]
    ldp     d12, d13, [x9, #REGISTERS_VECTOR + 32]
    ldp     d14, d15, [x9, #REGISTERS_VECTOR + 48]

    /* noise in what it may change: v0-v7, v16-v31, x8-x15 */
    ADDRESS x10, worker_noise
    ldp     q0, q1, [x10]
    ldp     q2, q3, [x10, #32]
    ldp     q4, q5, [x10, #64]
    ldp     q6, q7, [x10, #96]
    ldp     q16, q17, [x10, #128]
    ldp     q18, q19, [x10, #160]
    ldp     q20, q21, [x10, #192]
    ldp     q22, q23, [x10, #224]
    ldp     q24, q25, [x10, #256]
    ldp     q26, q27, [x10, #288]
    ldp     q28, q29, [x10, #320]
    ldp     q30, q31, [x10, #352]
    ldp     x8, x9, [x10, #384]
    ldp     x12, x13, [x10, #400]
    ldp     x14, x15, [x10, #416]
    ldp     x10, x11, [x10, #432]

    /* the stack and the flags of the call, words 0 to 7 */
    ADDRESS x0, worker_own_sp
    mov     x1, sp
    str     x1, [x0]
    ADDRESS x0, worker_known
    ldr     x1, [x0, #REGISTERS_SP]
    mov     sp, x1
    ldr     x1, [x0, #REGISTERS_FLAGS]
    msr     nzcv, x1
    ldp     x0, x1, [x17]
    ldp     x2, x3, [x17, #16]
    ldp     x4, x5, [x17, #32]
    ldp     x6, x7, [x17, #48]
    blr     x16

    /* only x0 counts from here on */
    ADDRESS x9, worker_after
    stp     x19, x20, [x9]
    stp     x21, x22, [x9, #16]
    stp     x23, x24, [x9, #32]
    stp     x25, x26, [x9, #48]
    stp     x27, x28, [x9, #64]
    str     x29, [x9, #80]
    str     x18, [x9, #REGISTERS_PLATFORM]
    mov     x10, sp
    str     x10, [x9, #REGISTERS_SP]
    stp     d8, d9, [x9, #REGISTERS_VECTOR]
    stp     d10, d11, [x9, #REGISTERS_VECTOR + 16]
    stp     d12, d13, [x9, #REGISTERS_VECTOR + 32]
    stp     d14, d15, [x9, #REGISTERS_VECTOR + 48]
    ADDRESS x9, worker_own_sp
    ldr     x10, [x9]
    mov     sp, x10

    ldp     x19, x20, [sp, #16]
    ldp     x21, x22, [sp, #32]
    ldp     x23, x24, [sp, #48]
    ldp     x25, x26, [sp, #64]
    ldp     x27, x28, [sp, #80]
    ldp     d8, d9, [sp, #96]
    ldp     d10, d11, [sp, #112]
    ldp     d12, d13, [sp, #128]
    ldp     d14, d15, [sp, #144]
    ldp     x29, x30, [sp], #160
    ret
    .size   worker_call, . - worker_call

    .section .note.GNU-stack, "", %progbits

#else
    .section .note.GNU-stack, ""
#endif
