/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha256"
variant   = "neon"
arch      = "arm32"
provides  = ["blocks"]
requires  = ["neon"]
priority  = 20
constant_time = true
cites     = ["FIPS 180-4 4.1.2, 6.2.2", "Gueron-Krasnov 2012, Parallelizing message schedules"]
*/
/* SHA-256's compression function for ARMv7-A with NEON, ARM or Thumb-2, interworking return: the rounds in the integer registers, four
 * words of the schedule at a time in NEON registers between them.
 *
 * NEON is sixteen rounds ahead: while rounds t .. t + 3 run, W[t + 16 .. t + 19] is computed, and its sum with the constants
 * takes the place of that of W[t .. t + 3] in SUMS once they are used. quad0..quad3 hold W[t .. t + 15].
 * sigma1 needs words of the same four, so it comes in two halves: W[t + 14, t + 15] give t + 16 and t + 17, and those give
 * t + 18 and t + 19.
 * Integer rounds: rotations are nested so that the barrel shifter does them (Sigma1(e) = (e ^ e>>>5 ^ e>>>19)>>>6, Sigma0(a) =
 * (a ^ a>>>11 ^ a>>>20)>>>2), and Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b takes b ^ c from the round before, where it was
 * a ^ b. The working variables are renamed from round to round; after eight they are back at their names.
 *
 * Registers: r4-r11 and lr are saved; q0-q3 and q8-q15 are free in the procedure call standard.
 * Alignment and aliasing: data by vld1.8, h by single ldr and str, at any address; h must not overlap data. With len == 0
 * nothing is touched. Nothing is written below sp.
 * To review: SUMS + 4 (t mod 16) is read by round t before the four words sixteen rounds later are stored there; the
 * pointer to them (p_sums) goes around with the rounds. bc is b ^ c of the first round of a block, made before it.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha256_blocks_neon(uint8_t h[32], const uint8_t *data, size_t len);
 */
#include "sha256_constants.h"
#include "shared/assembly.h"

        .text

/* Frame: offsets from sp. */
        .equ    SUMS, 0                 @ 16 words: W[t] + K[t] of the next 16 rounds
        .equ    P_H, 64
        .equ    P_DATA, 68
        .equ    P_END, 72               @ data + len
        .equ    COUNT, 76               @ passes of sixteen rounds with schedule that are left
        .equ    FRAME, 80

sum     .req    r0
sigma   .req    r2
ab      .req    r3                      @ a ^ b; takes turns with bc
bc      .req    r12                     @ b ^ c
p_sums  .req    r1                      @ where the next four sums go
va      .req    r4
vb      .req    r5
vc      .req    r6
vd      .req    r7
ve      .req    r8
vf      .req    r9
vg      .req    r10
vh      .req    r11
p_k     .req    lr

quad0   .req    q0
quad1   .req    q1
quad2   .req    q2
quad3   .req    q3
t0      .req    q8
t1      .req    q9
t2      .req    q10
t3      .req    q11
half0   .req    d24                     @ of sigma1's halves
half1   .req    d25
half2   .req    d26
consts  .req    q14                     @ four constants, then sums

        .p2align 4
constants:                              @ FIPS 180-4 4.2.2
        .long   SHA256_K

/* Round t, i = t mod 16. The new a is in \h, the new e in \d; \x was b ^ c, \y becomes a ^ b. */
.macro ROUND i, a, b, c, d, e, f, g, h, x, y
        ldr     sum, [sp, #SUMS + 4 * (\i)]
        eor     sigma, \e, \e, ror #5
        add     \h, \h, sum
        eor     sum, \f, \g
        eor     sigma, sigma, \e, ror #19
        and     sum, sum, \e
        add     \h, \h, sigma, ror #6   @ Sigma1(e)
        eor     sum, sum, \g
        eor     \y, \a, \b
        add     \h, \h, sum             @ Ch(e, f, g)
        eor     sigma, \a, \a, ror #11
        add     \d, \d, \h
        and     \x, \x, \y
        eor     sigma, sigma, \a, ror #20
        eor     \x, \x, \b
        add     \h, \h, sigma, ror #2   @ Sigma0(a)
        add     \h, \h, \x              @ Maj(a, b, c)
.endm

/* The schedule in four pieces for between four rounds: m0 = W[t .. t + 3] becomes W[t + 16 .. t + 19]; \m0_low, \m0_high and
 * \m3_high are halves of m0 and m3. */
.macro WORDS_1 m0, m1, m2, m3
        vext.8  t0, \m0, \m1, #4        @ W[t + 1 .. t + 4]
        vext.8  t1, \m2, \m3, #4        @ W[t + 9 .. t + 12]
        vshr.u32 t2, t0, #7
        vshr.u32 t3, t0, #18
        vadd.i32 \m0, \m0, t1
        vsli.32 t2, t0, #25
        vsli.32 t3, t0, #14
        vshr.u32 t0, t0, #3
.endm
.macro SIGMA1 from, to
        vshr.u32 half0, \from, #17
        vshr.u32 half1, \from, #19
        vsli.32 half0, \from, #15
        vsli.32 half1, \from, #13
        vshr.u32 half2, \from, #10
        veor    half0, half0, half1
        veor    half0, half0, half2
        vadd.i32 \to, \to, half0
.endm
.macro WORDS_2 m0, m0_low, m3_high
        veor    t2, t2, t3
        vld1.32 {consts}, [p_k]!
        veor    t2, t2, t0              @ sigma0
        vadd.i32 \m0, \m0, t2
        SIGMA1  \m3_high, \m0_low       @ W[t + 16, t + 17]
.endm
.macro WORDS_3 m0_low, m0_high
        SIGMA1  \m0_low, \m0_high       @ W[t + 18, t + 19]
.endm
.macro WORDS_4 m0
        vadd.i32 consts, consts, \m0
        vst1.32 {consts}, [p_sums]!
.endm

.macro FOUR_ROUNDS_AND_WORDS i, a, b, c, d, e, f, g, h, m0, m1, m2, m3, m0_low, m0_high, m3_high
        WORDS_1 \m0, \m1, \m2, \m3
        ROUND   \i + 0, \a, \b, \c, \d, \e, \f, \g, \h, bc, ab
        WORDS_2 \m0, \m0_low, \m3_high
        ROUND   \i + 1, \h, \a, \b, \c, \d, \e, \f, \g, ab, bc
        WORDS_3 \m0_low, \m0_high
        ROUND   \i + 2, \g, \h, \a, \b, \c, \d, \e, \f, bc, ab
        ROUND   \i + 3, \f, \g, \h, \a, \b, \c, \d, \e, ab, bc
        WORDS_4 \m0
.endm
.macro FOUR_ROUNDS i, a, b, c, d, e, f, g, h
        ROUND   \i + 0, \a, \b, \c, \d, \e, \f, \g, \h, bc, ab
        ROUND   \i + 1, \h, \a, \b, \c, \d, \e, \f, \g, ab, bc
        ROUND   \i + 2, \g, \h, \a, \b, \c, \d, \e, \f, bc, ab
        ROUND   \i + 3, \f, \g, \h, \a, \b, \c, \d, \e, ab, bc
.endm

/* \variable += word i of h, in both */
.macro ADD_TO_H variable, i
        ldr     ab, [sum, #4 * (\i)]
        add     \variable, \variable, ab
        str     \variable, [sum, #4 * (\i)]
.endm

FUNCTION sha256_blocks_neon, 0
        cmp     r2, #0
        it      eq
        bxeq    lr
        push    {r4-r11, lr}
        sub     sp, sp, #FRAME + 4      @ sp stays a multiple of 8
        add     r2, r2, r1
        str     r0, [sp, #P_H]
        str     r1, [sp, #P_DATA]
        str     r2, [sp, #P_END]
        ldr     va, [r0, #0]
        ldr     vb, [r0, #4]
        ldr     vc, [r0, #8]
        ldr     vd, [r0, #12]
        ldr     ve, [r0, #16]
        ldr     vf, [r0, #20]
        ldr     vg, [r0, #24]
        ldr     vh, [r0, #28]

.Lblock:
        /* the first sixteen words and sums */
        ldr     sum, [sp, #P_DATA]
        adr     p_k, constants
        vld1.8  {quad0, quad1}, [sum]!
        vld1.8  {quad2, quad3}, [sum]!
        vld1.32 {t0, t1}, [p_k]!
        vld1.32 {t2, t3}, [p_k]!
        str     sum, [sp, #P_DATA]
        mov     p_sums, sp
        vrev32.8 quad0, quad0
        vrev32.8 quad1, quad1
        vrev32.8 quad2, quad2
        vrev32.8 quad3, quad3
        vadd.i32 t0, t0, quad0
        vadd.i32 t1, t1, quad1
        vadd.i32 t2, t2, quad2
        vadd.i32 t3, t3, quad3
        vst1.32 {t0, t1}, [p_sums]!
        vst1.32 {t2, t3}, [p_sums]
        mov     sum, #3
        eor     bc, vb, vc
.Lsixteen_rounds:
        str     sum, [sp, #COUNT]
        mov     p_sums, sp
        FOUR_ROUNDS_AND_WORDS 0, va, vb, vc, vd, ve, vf, vg, vh, quad0, quad1, quad2, quad3, d0, d1, d7
        FOUR_ROUNDS_AND_WORDS 4, ve, vf, vg, vh, va, vb, vc, vd, quad1, quad2, quad3, quad0, d2, d3, d1
        FOUR_ROUNDS_AND_WORDS 8, va, vb, vc, vd, ve, vf, vg, vh, quad2, quad3, quad0, quad1, d4, d5, d3
        FOUR_ROUNDS_AND_WORDS 12, ve, vf, vg, vh, va, vb, vc, vd, quad3, quad0, quad1, quad2, d6, d7, d5
        ldr     sum, [sp, #COUNT]
        subs    sum, sum, #1
        bne     .Lsixteen_rounds

        FOUR_ROUNDS 0, va, vb, vc, vd, ve, vf, vg, vh
        FOUR_ROUNDS 4, ve, vf, vg, vh, va, vb, vc, vd
        FOUR_ROUNDS 8, va, vb, vc, vd, ve, vf, vg, vh
        FOUR_ROUNDS 12, ve, vf, vg, vh, va, vb, vc, vd

        ldr     sum, [sp, #P_H]
        ADD_TO_H va, 0
        ADD_TO_H vb, 1
        ADD_TO_H vc, 2
        ADD_TO_H vd, 3
        ADD_TO_H ve, 4
        ADD_TO_H vf, 5
        ADD_TO_H vg, 6
        ADD_TO_H vh, 7
        ldr     sum, [sp, #P_DATA]
        ldr     sigma, [sp, #P_END]
        cmp     sum, sigma
        bne     .Lblock

        add     sp, sp, #FRAME + 4
        pop     {r4-r11, pc}
FUNCTION_END sha256_blocks_neon
