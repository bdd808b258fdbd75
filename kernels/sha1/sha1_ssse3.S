/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha1"
variant   = "ssse3"
arch      = ["x86", "x86_64"]
provides  = ["blocks"]
requires  = ["ssse3"]
priority  = 20
constant_time = true
cites     = ["FIPS 180-4 4.1.1, 6.1.2", "Locktyukhin 2010, Improving the performance of the Secure Hash Algorithm"]
*/
/* SHA-1's compression function: the rounds in seven integer registers, four words of the schedule at a time in SSE2 and SSSE3
 * between them. One source for 32-bit and 64-bit x86; they differ in where the pointers are kept.
 *
 * The schedule is sixteen rounds ahead: before rounds t .. t + 3 run, four words are computed from t + 16 on, and after them
 * their sums with the constant take the place of those of t .. t + 3 in SUMS.
 * W[t] = (W[t - 3] ^ W[t - 8] ^ W[t - 14] ^ W[t - 16]) <<< 1 makes the last of four words depend on the first. For t < 32 it
 * is computed without that term, which is added afterwards: it is the first word's sum, rotated by 2. From 32 on,
 * W[t] = (W[t - 6] ^ W[t - 16] ^ W[t - 28] ^ W[t - 32]) <<< 2, the same recurrence applied twice, has no such term. The
 * last 16 words are in xmm0..xmm3, the last 32 in WORDS.
 * The working variables are renamed from round to round; after five they are back at their names.
 *
 * Constants are copied to the frame, because 32-bit x86 has no register left to point at them.
 * Alignment and aliasing: h and data are touched by movdqu and single moves; aligned operands are in the frame, which the
 * function aligns itself. h must not overlap data. With len == 0 nothing is touched. Of h, exactly 20 bytes. Nothing
 * is written below the stack pointer.
 * To review: SUMS + 4 (t mod 16) is read by round t before the four sums sixteen rounds later are stored there, and WORDS of
 * t - 32 before W[t] is. In MAJ the two terms have no common bits, so they may be added one by one.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha1_blocks_ssse3(uint8_t h[20], const uint8_t *data, size_t len);
 */
#include "shared/assembly.h"

        .intel_syntax noprefix

/* Working variables and temporaries. */
#define va      eax
#define vb      ebx
#define vc      ecx
#define vd      edx
#define ve      ebp
#define bits    esi
#define other   edi

#define t0      xmm4
#define t1      xmm5
#define t2      xmm6

/* Frame: offsets from the stack pointer, a multiple of 16. */
#define SUMS    0                       /* 16 words: W[t] + K of the next 16 rounds */
#define WORDS   64                      /* 32 words: W[t], t modulo 32 */
#define CONSTS  192                     /* 4 x 16: the constants of 0..19, 20..39, 40..59, 60..79 in all lanes */
#define SWAP    256                     /* pshufb: bytes of each word turned around */

#ifdef __x86_64__
#define sp      rsp
#define OLD_SP  272
#define FRAME   288
#define p_h     r8
#define p_data  r9
#define p_end   r10
#define pointer rax                     /* before the first block */
#else
#define sp      esp
#define OLD_SP  272
#define H       276
#define DATA    280
#define END     284                     /* data + len */
#define FRAME   288
#define p_h     bits
#define p_data  bits
#define pointer eax
/* At these distances from esp after four registers have been pushed: */
#define ARG_H   20
#define ARG_DATA 24
#define ARG_LEN 28
#endif

        .section .rodata
        .p2align 4
constants:
        .long   0x5a827999, 0x5a827999, 0x5a827999, 0x5a827999  /* FIPS 180-4 4.2.1 */
        .long   0x6ed9eba1, 0x6ed9eba1, 0x6ed9eba1, 0x6ed9eba1
        .long   0x8f1bbcdc, 0x8f1bbcdc, 0x8f1bbcdc, 0x8f1bbcdc
        .long   0xca62c1d6, 0xca62c1d6, 0xca62c1d6, 0xca62c1d6
        .byte   3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12

        .text

/* Round i. The new a is in \e, the new c in \b. */
.macro CH i, a, b, c, d, e
        mov     bits, \c
        mov     other, \a
        xor     bits, \d
        add     \e, [sp + SUMS + 4 * ((\i) % 16)]
        and     bits, \b
        rol     other, 5
        xor     bits, \d
        ror     \b, 2
        add     \e, other
        add     \e, bits
.endm
.macro PARITY i, a, b, c, d, e
        mov     bits, \b
        mov     other, \a
        xor     bits, \c
        add     \e, [sp + SUMS + 4 * ((\i) % 16)]
        xor     bits, \d
        rol     other, 5
        ror     \b, 2
        add     \e, bits
        add     \e, other
.endm
.macro MAJ i, a, b, c, d, e
        mov     bits, \c
        mov     other, \c
        xor     bits, \d
        add     \e, [sp + SUMS + 4 * ((\i) % 16)]
        and     other, \d
        and     bits, \b
        add     \e, other
        mov     other, \a
        add     \e, bits
        rol     other, 5
        ror     \b, 2
        add     \e, other
.endm

/* The n-th four words, in m, to WORDS and with their constant to SUMS. */
.macro STORE n, m
        movdqa  [sp + WORDS + 16 * ((\n) % 8)], \m
        movdqa  t0, \m
        paddd   t0, [sp + CONSTS + 16 * ((\n) / 5)]
        movdqa  [sp + SUMS + 16 * ((\n) % 4)], t0
.endm

/* m0 = W[t .. t + 3] for 16 <= t < 32, from the sixteen words m0 .. m3 before them. */
.macro FIRST_WORDS m0, m1, m2, m3
        movdqa  t0, \m1
        movdqa  t1, \m3
        palignr t0, \m0, 8              /* t - 14 */
        psrldq  t1, 4                   /* t - 3, the last word missing */
        pxor    \m0, t0                 /* t - 16 */
        pxor    t1, \m2                 /* t - 8 */
        pxor    \m0, t1
        movdqa  t0, \m0
        movdqa  t1, \m0
        pslldq  t1, 12                  /* the first word in the place of the last */
        psrld   t0, 31
        movdqa  t2, t1
        paddd   \m0, \m0
        psrld   t1, 30
        pslld   t2, 2
        por     \m0, t0
        pxor    t1, t2
        pxor    \m0, t1
.endm

/* m0 = W[t .. t + 3], the n-th four words, 8 <= n; m0 .. m3 are the sixteen words before them. */
.macro MORE_WORDS n, m0, m1, m2, m3
        movdqa  t0, \m3
        palignr t0, \m2, 8              /* t - 6 */
        pxor    \m0, [sp + WORDS + 16 * ((\n) % 8)]             /* t - 16, t - 32 */
        pxor    t0, [sp + WORDS + 16 * ((\n + 1) % 8)]          /* t - 28 */
        pxor    \m0, t0
        movdqa  t0, \m0
        psrld   t0, 30
        pslld   \m0, 2
        por     \m0, t0
.endm

/* Rounds 4 n .. 4 n + 3 of f. */
.macro FOUR_ROUNDS f, n, a, b, c, d, e
        \f      4*\n+0, \a, \b, \c, \d, \e
        \f      4*\n+1, \e, \a, \b, \c, \d
        \f      4*\n+2, \d, \e, \a, \b, \c
        \f      4*\n+3, \c, \d, \e, \a, \b
.endm
.macro FOUR_ROUNDS_AND_FIRST f, n, a, b, c, d, e, m0, m1, m2, m3
        FIRST_WORDS \m0, \m1, \m2, \m3
        FOUR_ROUNDS \f, \n, \a, \b, \c, \d, \e
        STORE   \n+4, \m0
.endm
.macro FOUR_ROUNDS_AND_MORE f, n, a, b, c, d, e, m0, m1, m2, m3
        MORE_WORDS \n+4, \m0, \m1, \m2, \m3
        FOUR_ROUNDS \f, \n, \a, \b, \c, \d, \e
        STORE   \n+4, \m0
.endm

.macro COPY_CONSTANT i, from
        movdqa  t0, [\from + 16 * \i]
        movdqa  [sp + CONSTS + 16 * \i], t0
.endm

.macro FIRST_SUMS i, m
        movdqu  \m, [p_data + 16 * \i]
        pshufb  \m, [sp + SWAP]
        STORE   \i, \m
.endm

FUNCTION sha1_blocks_ssse3
#ifdef __x86_64__
        test    rdx, rdx
        jz      .Lreturn
        push    rbp
        push    rbx
        mov     rax, rsp
        sub     rsp, FRAME
        and     rsp, -16
        mov     [rsp + OLD_SP], rax
        mov     p_h, rdi
        mov     p_data, rsi
        lea     p_end, [rsi + rdx]
        lea     pointer, [rip + constants]
#else
        push    ebp
        push    ebx
        push    esi
        push    edi
        mov     ecx, [esp + ARG_LEN]
        test    ecx, ecx
        jz      .Lrestore
        mov     ebp, esp
        sub     esp, FRAME
        and     esp, -16
        mov     [esp + OLD_SP], ebp
        mov     edx, [ebp + ARG_H]
        mov     esi, [ebp + ARG_DATA]
        add     ecx, esi
        mov     [esp + H], edx
        mov     [esp + DATA], esi
        mov     [esp + END], ecx
        call    .Lprogram_counter
        add     eax, offset _GLOBAL_OFFSET_TABLE_
        lea     pointer, [eax + constants@GOTOFF]
#endif
        COPY_CONSTANT 0, pointer
        COPY_CONSTANT 1, pointer
        COPY_CONSTANT 2, pointer
        COPY_CONSTANT 3, pointer
        COPY_CONSTANT 4, pointer        /* SWAP follows CONSTS */
#ifndef __x86_64__
        mov     p_h, [sp + H]
#endif
        mov     va, [p_h + 0]
        mov     vb, [p_h + 4]
        mov     vc, [p_h + 8]
        mov     vd, [p_h + 12]
        mov     ve, [p_h + 16]

        .p2align 4
.Lblock:
#ifndef __x86_64__
        mov     p_data, [sp + DATA]
#endif
        FIRST_SUMS 0, xmm0
        FIRST_SUMS 1, xmm1
        FIRST_SUMS 2, xmm2
        FIRST_SUMS 3, xmm3
        add     p_data, 64
#ifndef __x86_64__
        mov     [sp + DATA], p_data
#endif

        FOUR_ROUNDS_AND_FIRST CH, 0, va, vb, vc, vd, ve, xmm0, xmm1, xmm2, xmm3
        FOUR_ROUNDS_AND_FIRST CH, 1, vb, vc, vd, ve, va, xmm1, xmm2, xmm3, xmm0
        FOUR_ROUNDS_AND_FIRST CH, 2, vc, vd, ve, va, vb, xmm2, xmm3, xmm0, xmm1
        FOUR_ROUNDS_AND_FIRST CH, 3, vd, ve, va, vb, vc, xmm3, xmm0, xmm1, xmm2
        FOUR_ROUNDS_AND_MORE CH, 4, ve, va, vb, vc, vd, xmm0, xmm1, xmm2, xmm3

        FOUR_ROUNDS_AND_MORE PARITY, 5, va, vb, vc, vd, ve, xmm1, xmm2, xmm3, xmm0
        FOUR_ROUNDS_AND_MORE PARITY, 6, vb, vc, vd, ve, va, xmm2, xmm3, xmm0, xmm1
        FOUR_ROUNDS_AND_MORE PARITY, 7, vc, vd, ve, va, vb, xmm3, xmm0, xmm1, xmm2
        FOUR_ROUNDS_AND_MORE PARITY, 8, vd, ve, va, vb, vc, xmm0, xmm1, xmm2, xmm3
        FOUR_ROUNDS_AND_MORE PARITY, 9, ve, va, vb, vc, vd, xmm1, xmm2, xmm3, xmm0

        FOUR_ROUNDS_AND_MORE MAJ, 10, va, vb, vc, vd, ve, xmm2, xmm3, xmm0, xmm1
        FOUR_ROUNDS_AND_MORE MAJ, 11, vb, vc, vd, ve, va, xmm3, xmm0, xmm1, xmm2
        FOUR_ROUNDS_AND_MORE MAJ, 12, vc, vd, ve, va, vb, xmm0, xmm1, xmm2, xmm3
        FOUR_ROUNDS_AND_MORE MAJ, 13, vd, ve, va, vb, vc, xmm1, xmm2, xmm3, xmm0
        FOUR_ROUNDS_AND_MORE MAJ, 14, ve, va, vb, vc, vd, xmm2, xmm3, xmm0, xmm1

        FOUR_ROUNDS_AND_MORE PARITY, 15, va, vb, vc, vd, ve, xmm3, xmm0, xmm1, xmm2
        FOUR_ROUNDS PARITY, 16, vb, vc, vd, ve, va
        FOUR_ROUNDS PARITY, 17, vc, vd, ve, va, vb
        FOUR_ROUNDS PARITY, 18, vd, ve, va, vb, vc
        FOUR_ROUNDS PARITY, 19, ve, va, vb, vc, vd

#ifndef __x86_64__
        mov     p_h, [sp + H]
#endif
        add     va, [p_h + 0]
        add     vb, [p_h + 4]
        add     vc, [p_h + 8]
        add     vd, [p_h + 12]
        add     ve, [p_h + 16]
        mov     [p_h + 0], va
        mov     [p_h + 4], vb
        mov     [p_h + 8], vc
        mov     [p_h + 12], vd
        mov     [p_h + 16], ve
#ifdef __x86_64__
        cmp     p_data, p_end
        jne     .Lblock

        mov     rsp, [rsp + OLD_SP]
        pop     rbx
        pop     rbp
.Lreturn:
        ret
#else
        mov     p_data, [sp + DATA]
        cmp     p_data, [sp + END]
        jne     .Lblock

        mov     esp, [esp + OLD_SP]
.Lrestore:
        pop     edi
        pop     esi
        pop     ebx
        pop     ebp
        ret
.Lprogram_counter:
        mov     eax, [esp]
        ret
#endif
FUNCTION_END sha1_blocks_ssse3
