/* SPDX-License-Identifier: Apache-2.0 */
/* uintptr_t worker_call(void (*function)(void), const uintptr_t words[8]): see registers.h. x86-64 System V. */
#if defined(__x86_64__)

#include "registers.h"

    .text
    .balign 16
    .globl  worker_call
    .type   worker_call, @function
worker_call:
    pushq   %rbx
    pushq   %rbp
    pushq   %r12
    pushq   %r13
    pushq   %r14
    pushq   %r15
    movq    %rdi, %r11
    movq    %rsi, %rax

    /* noise in what the function may change; the upper halves are clean at every call */
    cmpl    $0, worker_wide_vectors(%rip)
    je      1f
    vzeroupper
1:
    movdqa  worker_noise(%rip), %xmm0
    movdqa  worker_noise + 16(%rip), %xmm1
    movdqa  worker_noise + 32(%rip), %xmm2
    movdqa  worker_noise + 48(%rip), %xmm3
    movdqa  worker_noise + 64(%rip), %xmm4
    movdqa  worker_noise + 80(%rip), %xmm5
    movdqa  worker_noise + 96(%rip), %xmm6
    movdqa  worker_noise + 112(%rip), %xmm7
    movdqa  worker_noise + 128(%rip), %xmm8
    movdqa  worker_noise + 144(%rip), %xmm9
    movdqa  worker_noise + 160(%rip), %xmm10
    movdqa  worker_noise + 176(%rip), %xmm11
    movdqa  worker_noise + 192(%rip), %xmm12
    movdqa  worker_noise + 208(%rip), %xmm13
    movdqa  worker_noise + 224(%rip), %xmm14
    movdqa  worker_noise + 240(%rip), %xmm15
    movq    worker_noise + 256(%rip), %r10

    /* the stack of the call, known values in what the function must keep, words 0 to 5, the flags */
    movq    %rsp, worker_own_sp(%rip)
    movq    worker_known + REGISTERS_SP(%rip), %rsp
    movq    worker_known(%rip), %rbx
    movq    worker_known + 8(%rip), %rbp
    movq    worker_known + 16(%rip), %r12
    movq    worker_known + 24(%rip), %r13
    movq    worker_known + 32(%rip), %r14
    movq    worker_known + 40(%rip), %r15

    movq    0(%rax), %rdi
    movq    8(%rax), %rsi
    movq    16(%rax), %rdx
    movq    24(%rax), %rcx
    movq    32(%rax), %r8
    movq    40(%rax), %r9
    movq    worker_noise + 264(%rip), %rax
    pushq   worker_known + REGISTERS_FLAGS(%rip)
    popfq
    call    *%r11

    /* only rax counts from here on */
    movq    %rbx, worker_after(%rip)
    movq    %rbp, worker_after + 8(%rip)
    movq    %r12, worker_after + 16(%rip)
    movq    %r13, worker_after + 24(%rip)
    movq    %r14, worker_after + 32(%rip)
    movq    %r15, worker_after + 40(%rip)
    movq    %rsp, worker_after + REGISTERS_SP(%rip)
    movq    worker_own_sp(%rip), %rsp
    pushfq
    popq    worker_after + REGISTERS_FLAGS(%rip)
    cld
    fnstenv worker_after + REGISTERS_X87(%rip)
    fldcw   worker_after + REGISTERS_X87(%rip)   /* FNSTENV has masked every exception */
    cmpl    $0, worker_wide_vectors(%rip)
    je      2f
    vmovups %ymm0, worker_after + REGISTERS_WIDE + 0(%rip)
    vmovups %ymm1, worker_after + REGISTERS_WIDE + 32(%rip)
    vmovups %ymm2, worker_after + REGISTERS_WIDE + 64(%rip)
    vmovups %ymm3, worker_after + REGISTERS_WIDE + 96(%rip)
    vmovups %ymm4, worker_after + REGISTERS_WIDE + 128(%rip)
    vmovups %ymm5, worker_after + REGISTERS_WIDE + 160(%rip)
    vmovups %ymm6, worker_after + REGISTERS_WIDE + 192(%rip)
    vmovups %ymm7, worker_after + REGISTERS_WIDE + 224(%rip)
    vmovups %ymm8, worker_after + REGISTERS_WIDE + 256(%rip)
    vmovups %ymm9, worker_after + REGISTERS_WIDE + 288(%rip)
    vmovups %ymm10, worker_after + REGISTERS_WIDE + 320(%rip)
    vmovups %ymm11, worker_after + REGISTERS_WIDE + 352(%rip)
    vmovups %ymm12, worker_after + REGISTERS_WIDE + 384(%rip)
    vmovups %ymm13, worker_after + REGISTERS_WIDE + 416(%rip)
    vmovups %ymm14, worker_after + REGISTERS_WIDE + 448(%rip)
    vmovups %ymm15, worker_after + REGISTERS_WIDE + 480(%rip)
    vzeroupper
2:

    popq    %r15
    popq    %r14
    popq    %r13
    popq    %r12
    popq    %rbp
    popq    %rbx
    ret
    .size   worker_call, . - worker_call

    .section .note.GNU-stack, "", @progbits

#else
    .section .note.GNU-stack, ""
#endif
