/* SPDX-License-Identifier: Apache-2.0 */
/* uintptr_t worker_call(void (*function)(void), const uintptr_t words[8]): see registers.h. i386 System V, no PIC. */
#if defined(__i386__)

#include "registers.h"

    .text
    .balign 16
    .globl  worker_call
    .type   worker_call, @function
worker_call:
    movl    4(%esp), %eax
    pushl   %ebx
    pushl   %esi
    pushl   %edi
    pushl   %ebp

    /* noise in what the function may change, if the machine has it; the upper halves are clean at every call */
    cmpl    $0, worker_wide_vectors
    je      3f
    vzeroupper
3:
    cmpl    $0, worker_noise_vectors
    je      1f
    movdqa  worker_noise, %xmm0
    movdqa  worker_noise + 16, %xmm1
    movdqa  worker_noise + 32, %xmm2
    movdqa  worker_noise + 48, %xmm3
    movdqa  worker_noise + 64, %xmm4
    movdqa  worker_noise + 80, %xmm5
    movdqa  worker_noise + 96, %xmm6
    movdqa  worker_noise + 112, %xmm7
1:  movl    worker_noise + 128, %ecx
    movl    worker_noise + 132, %edx

    /* the stack of the call, with all eight words on it; known values in what the function must keep; the flags */
    movl    %esp, worker_own_sp
    movl    worker_known + REGISTERS_SP, %esp
    movl    worker_known, %ebx
    movl    worker_known + 4, %esi
    movl    worker_known + 8, %edi
    movl    worker_known + 12, %ebp
    pushl   worker_known + REGISTERS_FLAGS
    popfl
    call    *%eax

    /* only eax counts from here on */
    movl    %ebx, worker_after
    movl    %esi, worker_after + 4
    movl    %edi, worker_after + 8
    movl    %ebp, worker_after + 12
    movl    %esp, worker_after + REGISTERS_SP
    movl    worker_own_sp, %esp
    pushfl
    popl    worker_after + REGISTERS_FLAGS
    cld
    fnstenv worker_after + REGISTERS_X87
    fldcw   worker_after + REGISTERS_X87    /* FNSTENV has masked every exception */
    cmpl    $0, worker_wide_vectors
    je      2f
    vmovups %ymm0, worker_after + REGISTERS_WIDE + 0
    vmovups %ymm1, worker_after + REGISTERS_WIDE + 32
    vmovups %ymm2, worker_after + REGISTERS_WIDE + 64
    vmovups %ymm3, worker_after + REGISTERS_WIDE + 96
    vmovups %ymm4, worker_after + REGISTERS_WIDE + 128
    vmovups %ymm5, worker_after + REGISTERS_WIDE + 160
    vmovups %ymm6, worker_after + REGISTERS_WIDE + 192
    vmovups %ymm7, worker_after + REGISTERS_WIDE + 224
    vzeroupper
2:

    popl    %ebp
    popl    %edi
    popl    %esi
    popl    %ebx
    ret
    .size   worker_call, . - worker_call

    .section .note.GNU-stack, "", @progbits

#else
    .section .note.GNU-stack, ""
#endif
