/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THUNK <index>, <symbol> makes worker_thunk_<index>: add one to worker_entered[<index>], go on to <symbol>.
 *
 * Everything that calls a kernel goes through its thunk, so the counters are the proof of what ran. A thunk changes only
 * what the procedure call standard lets a linker's veneer change, and leaves the stack as it was, and the flags, which
 * differ from request to request. Used in thunks.S, which the build generates.
 */

    .macro THUNK_BEGIN index, type
    .globl  worker_thunk_\index
    .type   worker_thunk_\index, \type
worker_thunk_\index\():
    .endm

#if defined(__arm__)

    .syntax unified
    .arm
    .text

    /* Only r12 is free, and a counter needs two registers: r0 is put by for a moment. BX reaches ARM and Thumb code:
       the literal has bit 0 set for a Thumb function (one that has .type %function). */
    .macro THUNK index, symbol
    .balign 4
    THUNK_BEGIN \index, %function
    push    {r0, r1}
    ldr     r12, =worker_entered + 4 * \index
    ldr     r0, [r12]
    add     r0, r0, #1
    str     r0, [r12]
    pop     {r0, r1}
    ldr     r12, =\symbol
    bx      r12
    .ltorg
    .size   worker_thunk_\index, . - worker_thunk_\index
    .endm

    .section .note.GNU-stack, "", %progbits
    .text

#elif defined(__aarch64__)

    .text

    .macro THUNK index, symbol
    .balign 4
    THUNK_BEGIN \index, %function
    adrp    x16, worker_entered + 4 * \index
    ldr     w17, [x16, :lo12:worker_entered + 4 * \index]
    add     w17, w17, #1
    str     w17, [x16, :lo12:worker_entered + 4 * \index]
    b       \symbol
    .size   worker_thunk_\index, . - worker_thunk_\index
    .endm

    .section .note.GNU-stack, "", %progbits
    .text

#elif defined(__i386__)

    .text

    .macro THUNK index, symbol
    .balign 16
    THUNK_BEGIN \index, @function
    pushl   %ecx
    movl    worker_entered + 4 * \index, %ecx
    leal    1(%ecx), %ecx
    movl    %ecx, worker_entered + 4 * \index
    popl    %ecx
    jmp     \symbol
    .size   worker_thunk_\index, . - worker_thunk_\index
    .endm

    .section .note.GNU-stack, "", @progbits
    .text

#elif defined(__x86_64__)

    .text

    .macro THUNK index, symbol
    .balign 16
    THUNK_BEGIN \index, @function
    movl    worker_entered + 4 * \index(%rip), %r11d
    leal    1(%r11), %r11d
    movl    %r11d, worker_entered + 4 * \index(%rip)
    jmp     \symbol
    .size   worker_thunk_\index, . - worker_thunk_\index
    .endm

    .section .note.GNU-stack, "", @progbits
    .text

#else
#error "no thunk for this architecture"
#endif
