/* SPDX-License-Identifier: Apache-2.0 */
/* uintptr_t worker_call(void (*function)(void), const uintptr_t words[8]): see registers.h. AAPCS, hard float. ARM state in every
   build: calls of Thumb-2 kernels from here and from the thunks are the interworking that callers rely on. */
#if defined(__arm__)

#include "registers.h"

    .syntax unified
    .arm
    .text
    .balign 4
    .globl  worker_call
    .type   worker_call, %function
worker_call:
    push    {r4-r11, lr}
    sub     sp, sp, #4                      /* 8-byte alignment */
    vpush   {d8-d15}
    mov     r12, r0

    /* noise in d0-d7, and in d16-d31 if the machine has them */
    ldr     r3, =worker_noise
    vldm    r3!, {d0-d7}
    ldr     r2, =worker_noise_vectors
    ldr     r2, [r2]
    cmp     r2, #0
    .fpu    vfpv3
    vldmne  r3, {d16-d31}
    .fpu    vfpv3-d16

    /* the stack and the flags of the call, known values in what the function must keep, words 0 to 3 */
    ldr     r2, =worker_own_sp
    str     sp, [r2]
    ldr     r2, =worker_known
    ldr     sp, [r2, #REGISTERS_SP]
    add     r3, r2, #REGISTERS_VECTOR
    vldm    r3, {d8-d15}
    ldr     r3, [r2, #REGISTERS_FLAGS]
    msr     APSR_nzcvq, r3
    ldm     r2, {r4-r11}
    ldm     r1, {r0-r3}
    blx     r12

    /* only r0 counts from here on */
    ldr     r12, =worker_after
    stm     r12, {r4-r11}
    str     sp, [r12, #REGISTERS_SP]
    add     r12, r12, #REGISTERS_VECTOR
    vstm    r12, {d8-d15}
    ldr     r12, =worker_own_sp
    ldr     sp, [r12]

    vpop    {d8-d15}
    add     sp, sp, #4
    pop     {r4-r11, pc}
    .ltorg
    .size   worker_call, . - worker_call

    .section .note.GNU-stack, "", %progbits

#else
    .section .note.GNU-stack, ""
#endif
