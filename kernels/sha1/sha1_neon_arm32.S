/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha1"
variant   = "neon"
arch      = "arm32"
provides  = ["blocks"]
requires  = ["neon"]
priority  = 20
constant_time = true
cites     = ["FIPS 180-4 4.1.1, 6.1.2", "Locktyukhin 2010, Improving the performance of the Secure Hash Algorithm"]
*/
/* SHA-1's compression function for ARMv7-A with NEON, ARM or Thumb-2, interworking return: the rounds in the integer registers, four
 * words of the schedule at a time in NEON registers between them.
 *
 * NEON is sixteen rounds ahead: while rounds t .. t + 3 run, four words are computed from t + 16 on, and their sums with
 * the constant take the place of those of t .. t + 3 in SUMS once they are used.
 * W[t] = (W[t - 3] ^ W[t - 8] ^ W[t - 14] ^ W[t - 16]) <<< 1 makes the last of four words depend on the first. For t < 32 it
 * is computed without that term, which is added afterwards: it is the first word's sum, rotated by 2. From 32 on,
 * W[t] = (W[t - 6] ^ W[t - 16] ^ W[t - 28] ^ W[t - 32]) <<< 2, the same recurrence applied twice, has no such term. So the
 * last 32 words are kept, in q0-q3 and q8-q11.
 * The working variables are renamed from round to round; after five they are back at their names.
 *
 * Registers: r4-r10 and lr are saved; q0-q3 and q8-q15 are free in the procedure call standard.
 * Alignment and aliasing: data by vld1.8, h by single ldr and str, at any address; h must not overlap data. With len == 0
 * nothing is touched. Of h, exactly 20 bytes. Nothing is written below sp.
 * To review: SUMS + 4 (t mod 16) is read by round t before the four sums sixteen rounds later are stored there; in maj the
 * two terms have no common bits, so they may be added one by one.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha1_blocks_neon(uint8_t h[20], const uint8_t *data, size_t len);
 */
#include "shared/assembly.h"

        .text

        .equ    FRAME, 64               @ from sp: W[t] + K of the next 16 rounds

p_h     .req    r0
p_data  .req    r1
p_end   .req    r2                      @ data + len
p_k     .req    r3
va      .req    r4
vb      .req    r5
vc      .req    r6
vd      .req    r7
ve      .req    r8
sum     .req    r12
bits    .req    lr
p_sums  .req    r9                      @ where the next four sums go

/* q0 .. q3, q8 .. q11: the last 32 words of the schedule, four in each */
k_low   .req    d24
k_high  .req    d25
k       .req    q12
t0      .req    q13
t1      .req    q14
zero    .req    q15

        .p2align 4
constants:                              @ FIPS 180-4 4.2.1
        .long   0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6

.macro NEXT_CONSTANT
        vld1.32 {k_low[], k_high[]}, [p_k]!
.endm

/* Rounds, i = t mod 16. The new a is in \e, the new c in \b. */
.macro CH i, a, b, c, d, e
        ldr     sum, [sp, #4 * (\i)]
        eor     bits, \c, \d
        add     \e, \e, \a, ror #27
        and     bits, bits, \b
        add     \e, \e, sum
        eor     bits, bits, \d
        mov     \b, \b, ror #2
        add     \e, \e, bits
.endm
.macro PARITY i, a, b, c, d, e
        ldr     sum, [sp, #4 * (\i)]
        eor     bits, \b, \c
        add     \e, \e, \a, ror #27
        eor     bits, bits, \d
        add     \e, \e, sum
        mov     \b, \b, ror #2
        add     \e, \e, bits
.endm
.macro MAJ i, a, b, c, d, e
        ldr     sum, [sp, #4 * (\i)]
        eor     bits, \c, \d
        add     \e, \e, \a, ror #27
        and     bits, bits, \b
        add     \e, \e, sum
        and     sum, \c, \d
        add     \e, \e, bits
        mov     \b, \b, ror #2
        add     \e, \e, sum
.endm

.macro STORE_SUMS m
        vadd.i32 t0, \m, k
        vst1.32 {t0}, [p_sums]!
.endm

/* m4 = W[t .. t + 3] for 16 <= t < 32, from the sixteen words m0 .. m3 before them. */
.macro FIRST_WORDS m0, m1, m2, m3, m4
        vext.8  t0, \m0, \m1, #8        @ t - 14
        vext.8  t1, \m3, zero, #4       @ t - 3, the last word missing
        veor    t0, t0, \m0             @ t - 16
        veor    t1, t1, \m2             @ t - 8
        veor    t0, t0, t1
        vext.8  t1, zero, t0, #4        @ the first word in the place of the last
        vshr.u32 \m4, t0, #31
        vsli.32 \m4, t0, #1
        vshr.u32 t0, t1, #30
        vsli.32 t0, t1, #2
        veor    \m4, \m4, t0
.endm

/* m0 = W[t - 32 .. t - 29] becomes W[t .. t + 3]; m1, m4, m6, m7 are the quads so many places behind it. */
.macro MORE_WORDS m0, m1, m4, m6, m7
        vext.8  t0, \m6, \m7, #8        @ t - 6
        veor    \m0, \m0, \m1           @ t - 32, t - 28
        veor    t0, t0, \m4             @ t - 16
        veor    t0, t0, \m0
        vshr.u32 \m0, t0, #30
        vsli.32 \m0, t0, #2
.endm

/* Four rounds of f from i = t mod 16 on. */
.macro FOUR_ROUNDS f, i, a, b, c, d, e
        \f      \i + 0, \a, \b, \c, \d, \e
        \f      \i + 1, \e, \a, \b, \c, \d
        \f      \i + 2, \d, \e, \a, \b, \c
        \f      \i + 3, \c, \d, \e, \a, \b
.endm
.macro FOUR_ROUNDS_AND_FIRST f, i, a, b, c, d, e, m0, m1, m2, m3, m4
        FIRST_WORDS \m0, \m1, \m2, \m3, \m4
        FOUR_ROUNDS \f, \i, \a, \b, \c, \d, \e
        STORE_SUMS \m4
.endm
.macro FOUR_ROUNDS_AND_MORE f, i, a, b, c, d, e, m0, m1, m4, m6, m7
        MORE_WORDS \m0, \m1, \m4, \m6, \m7
        FOUR_ROUNDS \f, \i, \a, \b, \c, \d, \e
        STORE_SUMS \m0
.endm

/* \variable += word i of h, in both */
.macro ADD_TO_H variable, i
        ldr     sum, [p_h, #4 * (\i)]
        add     \variable, \variable, sum
        str     \variable, [p_h, #4 * (\i)]
.endm

FUNCTION sha1_blocks_neon, 0
        cmp     r2, #0
        it      eq
        bxeq    lr
        push    {r4-r9, r10, lr}        @ r10 only keeps sp a multiple of 8
        sub     sp, sp, #FRAME
        add     p_end, p_data, r2
        vmov.i32 zero, #0
        ldr     va, [p_h, #0]
        ldr     vb, [p_h, #4]
        ldr     vc, [p_h, #8]
        ldr     vd, [p_h, #12]
        ldr     ve, [p_h, #16]

.Lblock:
        /* the first sixteen words and sums */
        vld1.8  {q0, q1}, [p_data]!
        vld1.8  {q2, q3}, [p_data]!
        adr     p_k, constants
        mov     p_sums, sp
        NEXT_CONSTANT
        vrev32.8 q0, q0
        vrev32.8 q1, q1
        vrev32.8 q2, q2
        vrev32.8 q3, q3
        STORE_SUMS q0
        STORE_SUMS q1
        STORE_SUMS q2
        STORE_SUMS q3

        /* rounds 0..19, words 16..35 */
        mov     p_sums, sp
        FOUR_ROUNDS_AND_FIRST CH, 0, va, vb, vc, vd, ve, q0, q1, q2, q3, q8
        NEXT_CONSTANT
        FOUR_ROUNDS_AND_FIRST CH, 4, vb, vc, vd, ve, va, q1, q2, q3, q8, q9
        FOUR_ROUNDS_AND_FIRST CH, 8, vc, vd, ve, va, vb, q2, q3, q8, q9, q10
        FOUR_ROUNDS_AND_FIRST CH, 12, vd, ve, va, vb, vc, q3, q8, q9, q10, q11
        mov     p_sums, sp
        FOUR_ROUNDS_AND_MORE CH, 0, ve, va, vb, vc, vd, q0, q1, q8, q10, q11
        /* rounds 20..39, words 36..55 */
        FOUR_ROUNDS_AND_MORE PARITY, 4, va, vb, vc, vd, ve, q1, q2, q9, q11, q0
        NEXT_CONSTANT
        FOUR_ROUNDS_AND_MORE PARITY, 8, vb, vc, vd, ve, va, q2, q3, q10, q0, q1
        FOUR_ROUNDS_AND_MORE PARITY, 12, vc, vd, ve, va, vb, q3, q8, q11, q1, q2
        mov     p_sums, sp
        FOUR_ROUNDS_AND_MORE PARITY, 0, vd, ve, va, vb, vc, q8, q9, q0, q2, q3
        FOUR_ROUNDS_AND_MORE PARITY, 4, ve, va, vb, vc, vd, q9, q10, q1, q3, q8
        /* rounds 40..59, words 56..75 */
        FOUR_ROUNDS_AND_MORE MAJ, 8, va, vb, vc, vd, ve, q10, q11, q2, q8, q9
        NEXT_CONSTANT
        FOUR_ROUNDS_AND_MORE MAJ, 12, vb, vc, vd, ve, va, q11, q0, q3, q9, q10
        mov     p_sums, sp
        FOUR_ROUNDS_AND_MORE MAJ, 0, vc, vd, ve, va, vb, q0, q1, q8, q10, q11
        FOUR_ROUNDS_AND_MORE MAJ, 4, vd, ve, va, vb, vc, q1, q2, q9, q11, q0
        FOUR_ROUNDS_AND_MORE MAJ, 8, ve, va, vb, vc, vd, q2, q3, q10, q0, q1
        /* rounds 60..79, words 76..79 */
        FOUR_ROUNDS_AND_MORE PARITY, 12, va, vb, vc, vd, ve, q3, q8, q11, q1, q2
        FOUR_ROUNDS PARITY, 0, vb, vc, vd, ve, va
        FOUR_ROUNDS PARITY, 4, vc, vd, ve, va, vb
        FOUR_ROUNDS PARITY, 8, vd, ve, va, vb, vc
        FOUR_ROUNDS PARITY, 12, ve, va, vb, vc, vd

        ADD_TO_H va, 0
        ADD_TO_H vb, 1
        ADD_TO_H vc, 2
        ADD_TO_H vd, 3
        ADD_TO_H ve, 4
        cmp     p_data, p_end
        bne     .Lblock

        add     sp, sp, #FRAME
        pop     {r4-r9, r10, pc}
FUNCTION_END sha1_blocks_neon
