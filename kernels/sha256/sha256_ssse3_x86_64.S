/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha256"
variant   = "ssse3"
arch      = "x86_64"
provides  = ["blocks"]
requires  = ["ssse3"]
priority  = 20
constant_time = true
cites     = ["FIPS 180-4 4.1.2, 6.2.2", "Gueron-Krasnov 2012, Parallelizing message schedules"]
*/
/* SHA-256's compression function: the rounds in the integer registers, four words of the schedule at a time in SSE2 and SSSE3
 * between them.
 *
 * The schedule is sixteen rounds ahead: before rounds t .. t + 3 run, W[t + 16 .. t + 19] is computed, and after them its sum
 * with the constants takes the place of that of W[t .. t + 3] in SUMS. xmm0..xmm3 hold sixteen words.
 * sigma1 needs words of the same four, so it comes in two halves: W[t + 14, t + 15] give t + 16 and t + 17, and those give
 * t + 18 and t + 19. There each word stands twice in a 64-bit lane, and shifts of the lane rotate it.
 * Rounds: rotations are nested (Sigma1(e) = ((e>>>14 ^ e)>>>5 ^ e)>>>6, Sigma0(a) = ((a>>>9 ^ a)>>>11 ^ a)>>>2), and
 * Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b takes b ^ c from the round before, where it was a ^ b. The working variables are
 * renamed from round to round; after eight they are back at their names.
 *
 * Alignment and aliasing: h and data are touched by movdqu and single moves; aligned operands are constants and the frame,
 * which the function aligns itself. h must not overlap data. With len == 0 nothing is touched. Nothing is written
 * below rsp.
 * To review: SUMS + 4 (t mod 16) is read by round t before the four sums sixteen rounds later are stored there. bc is b ^ c of
 * the first round of a block, made before it.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha256_blocks_ssse3(uint8_t h[32], const uint8_t *data, size_t len);
 */
#include "sha256_constants.h"
#include "shared/assembly.h"

        .intel_syntax noprefix

#define va      eax
#define vb      ebx
#define vc      ecx
#define vd      edx
#define ve      r8d
#define vf      r9d
#define vg      r10d
#define vh      r11d
#define sigma   r12d
#define choice  r13d
#define ab      r14d                    /* a ^ b; takes turns with bc */
#define bc      r15d                    /* b ^ c */
#define p_h     rdi
#define p_data  rsi
#define p_k     rbp

#define t0      xmm4
#define t1      xmm5
#define t2      xmm6
#define swap    xmm7                    /* pshufb: bytes of each word turned around */

/* Frame: offsets from rsp, a multiple of 16. */
#define SUMS    0                       /* 16 words: W[t] + K[t] of the next 16 rounds */
#define END     64                      /* data + len */
#define OLD_SP  72
#define FRAME   80

        .section .rodata
        .p2align 4
constants:                              /* FIPS 180-4 4.2.2 */
        .long   SHA256_K
constants_end:
turn_bytes:
        .byte   3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12

        .text

/* Round t, i = t mod 16. The new a is in \h, the new e in \d; \x was b ^ c, \y becomes a ^ b. */
.macro ROUND i, a, b, c, d, e, f, g, h, x, y
        mov     sigma, \e
        mov     choice, \f
        ror     sigma, 14
        xor     choice, \g
        xor     sigma, \e
        and     choice, \e
        ror     sigma, 5
        add     \h, [rsp + SUMS + 4 * (\i)]
        xor     sigma, \e
        xor     choice, \g              /* Ch(e, f, g) */
        ror     sigma, 6                /* Sigma1(e) */
        add     \h, choice
        mov     \y, \a
        add     \h, sigma
        mov     sigma, \a
        xor     \y, \b
        ror     sigma, 9
        add     \d, \h
        xor     sigma, \a
        and     \x, \y
        ror     sigma, 11
        xor     \x, \b                  /* Maj(a, b, c) */
        xor     sigma, \a
        add     \h, \x
        ror     sigma, 2                /* Sigma0(a) */
        add     \h, sigma
.endm

/* The schedule: m0 = W[t .. t + 3] becomes W[t + 16 .. t + 19], m0 .. m3 being sixteen words. */
.macro SIGMA0_AND_SUMS m0, m1, m2, m3
        movdqa  t0, \m1
        movdqa  t1, \m3
        palignr t0, \m0, 4              /* W[t + 1 .. t + 4] */
        palignr t1, \m2, 4              /* W[t + 9 .. t + 12] */
        movdqa  t2, t0
        paddd   \m0, t1
        movdqa  t1, t0
        psrld   t0, 3
        psrld   t2, 7
        pslld   t1, 14
        pxor    t0, t2
        psrld   t2, 11                  /* 18 in all */
        pxor    t0, t1
        pslld   t1, 11                  /* 25 in all */
        pxor    t0, t2
        pxor    t0, t1
        paddd   \m0, t0
.endm
/* t0 = sigma1 of the two words, in lanes 0 and 2, that stand twice in each half of t0 */
.macro SIGMA1
        movdqa  t1, t0
        psrld   t0, 10
        psrlq   t1, 17
        pxor    t0, t1
        psrlq   t1, 2                   /* 19 in all */
        pxor    t0, t1
.endm
.macro FIRST_HALF m0, m3
        pshufd  t0, \m3, 0xfa           /* words 2 2 3 3 */
        SIGMA1
        pshufd  t0, t0, 0x08            /* words 0 2 and two others */
        movq    t0, t0
        paddd   \m0, t0
.endm
.macro SECOND_HALF m0
        pshufd  t0, \m0, 0x50           /* words 0 0 1 1 */
        SIGMA1
        pshufd  t0, t0, 0x08
        pslldq  t0, 8
        paddd   \m0, t0
.endm
.macro STORE_SUMS i, m0
        movdqa  t0, [p_k + 4 * (\i)]
        paddd   t0, \m0
        movdqa  [rsp + SUMS + 4 * (\i)], t0
.endm

.macro FOUR_ROUNDS i, a, b, c, d, e, f, g, h
        ROUND   \i + 0, \a, \b, \c, \d, \e, \f, \g, \h, bc, ab
        ROUND   \i + 1, \h, \a, \b, \c, \d, \e, \f, \g, ab, bc
        ROUND   \i + 2, \g, \h, \a, \b, \c, \d, \e, \f, bc, ab
        ROUND   \i + 3, \f, \g, \h, \a, \b, \c, \d, \e, ab, bc
.endm
.macro FOUR_ROUNDS_AND_WORDS i, a, b, c, d, e, f, g, h, m0, m1, m2, m3
        SIGMA0_AND_SUMS \m0, \m1, \m2, \m3
        ROUND   \i + 0, \a, \b, \c, \d, \e, \f, \g, \h, bc, ab
        FIRST_HALF \m0, \m3
        ROUND   \i + 1, \h, \a, \b, \c, \d, \e, \f, \g, ab, bc
        SECOND_HALF \m0
        ROUND   \i + 2, \g, \h, \a, \b, \c, \d, \e, \f, bc, ab
        ROUND   \i + 3, \f, \g, \h, \a, \b, \c, \d, \e, ab, bc
        STORE_SUMS \i, \m0
.endm

.macro LOAD_WORDS i, m
        movdqu  \m, [p_data + 4 * \i]
        pshufb  \m, swap
        STORE_SUMS \i, \m
.endm

FUNCTION sha256_blocks_ssse3
        test    rdx, rdx
        jz      .Lreturn
        push    rbx
        push    rbp
        push    r12
        push    r13
        push    r14
        push    r15
        mov     rax, rsp
        sub     rsp, FRAME
        and     rsp, -16
        add     rdx, p_data
        mov     [rsp + OLD_SP], rax
        mov     [rsp + END], rdx
        movdqa  swap, [rip + turn_bytes]
        mov     va, [p_h + 0]
        mov     vb, [p_h + 4]
        mov     vc, [p_h + 8]
        mov     vd, [p_h + 12]
        mov     ve, [p_h + 16]
        mov     vf, [p_h + 20]
        mov     vg, [p_h + 24]
        mov     vh, [p_h + 28]

        .p2align 4
.Lblock:
        lea     p_k, [rip + constants]
        LOAD_WORDS 0, xmm0
        LOAD_WORDS 4, xmm1
        LOAD_WORDS 8, xmm2
        LOAD_WORDS 12, xmm3
        add     p_data, 64
        mov     bc, vb
        xor     bc, vc
        .p2align 4
.Lsixteen_rounds:
        add     p_k, 64                 /* to the constants of the words to come */
        FOUR_ROUNDS_AND_WORDS 0, va, vb, vc, vd, ve, vf, vg, vh, xmm0, xmm1, xmm2, xmm3
        FOUR_ROUNDS_AND_WORDS 4, ve, vf, vg, vh, va, vb, vc, vd, xmm1, xmm2, xmm3, xmm0
        FOUR_ROUNDS_AND_WORDS 8, va, vb, vc, vd, ve, vf, vg, vh, xmm2, xmm3, xmm0, xmm1
        FOUR_ROUNDS_AND_WORDS 12, ve, vf, vg, vh, va, vb, vc, vd, xmm3, xmm0, xmm1, xmm2
        lea     r12, [rip + constants_end - 64]
        cmp     p_k, r12
        jne     .Lsixteen_rounds

        FOUR_ROUNDS 0, va, vb, vc, vd, ve, vf, vg, vh
        FOUR_ROUNDS 4, ve, vf, vg, vh, va, vb, vc, vd
        FOUR_ROUNDS 8, va, vb, vc, vd, ve, vf, vg, vh
        FOUR_ROUNDS 12, ve, vf, vg, vh, va, vb, vc, vd

        add     va, [p_h + 0]
        add     vb, [p_h + 4]
        add     vc, [p_h + 8]
        add     vd, [p_h + 12]
        add     ve, [p_h + 16]
        add     vf, [p_h + 20]
        add     vg, [p_h + 24]
        add     vh, [p_h + 28]
        mov     [p_h + 0], va
        mov     [p_h + 4], vb
        mov     [p_h + 8], vc
        mov     [p_h + 12], vd
        mov     [p_h + 16], ve
        mov     [p_h + 20], vf
        mov     [p_h + 24], vg
        mov     [p_h + 28], vh
        cmp     p_data, [rsp + END]
        jne     .Lblock

        mov     rsp, [rsp + OLD_SP]
        pop     r15
        pop     r14
        pop     r13
        pop     r12
        pop     rbp
        pop     rbx
.Lreturn:
        ret
FUNCTION_END sha256_blocks_ssse3
