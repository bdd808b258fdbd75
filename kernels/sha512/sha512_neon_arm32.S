/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha512"
variant   = "neon"
arch      = "arm32"
provides  = ["blocks"]
requires  = ["neon"]
priority  = 20
constant_time = true
wipes     = true
cites     = ["FIPS 180-4 4.1.3, 6.4.2"]
*/
/* SHA-512's compression function for ARMv7-A with NEON, ARM or Thumb-2, interworking return. Everything is in NEON registers, whose
 * 64-bit lanes are the words: a d register for each working variable, a q register for two words of the schedule.
 *
 * After each two rounds the words they have used become those of sixteen rounds later, all sixteen being in q0-q7.
 * A rotation is a shift right and an inserting shift left. Ch selects f or g by the bits of e; Maj selects c where a and b
 * differ, and b where they agree: one vbsl each. The working variables are renamed from round to round; after eight
 * they are back at their names.
 *
 * Registers: d8-d15 are saved; r0-r3, r12 and the other NEON registers are free in the procedure call standard.
 * Alignment and aliasing: data by vld1.8, h by vld1.64 and vst1.64 without alignment hints, at any address; h must not
 * overlap data. With len == 0 nothing is touched.
 * To review: in TWO_WORDS, words t + 1 and t + 9 begin in the high half of a pair, t + 14 in the low half. All lanes are 64 bits
 * wide (.i64, .u64, .64), so that nothing carries from one word into another.
 * Branches depend on len only, which is a multiple of 128.
 *
 * void sha512_blocks_neon(uint8_t h[64], const uint8_t *data, size_t len);
 */
#include "sha512_constants.h"
#include "shared/assembly.h"

        .text

p_h     .req    r0
p_data  .req    r1
p_end   .req    r2                      @ data + len
p_k     .req    r3
count   .req    r12                     @ passes of sixteen rounds with schedule that are left

/* q0 .. q7, d0 .. d15: sixteen words of the schedule */
va      .req    d16
vb      .req    d17
vc      .req    d18
vd      .req    d19
ve      .req    d20
vf      .req    d21
vg      .req    d22
vh      .req    d23
sums    .req    q12                     @ two words and constants
sum0    .req    d24
sum1    .req    d25
t0      .req    d26
t1      .req    d27
t2      .req    d28
choice  .req    d29
u0      .req    q13                     @ of the schedule, while t0, t1, t2, choice are not in use
u1      .req    q14
u2      .req    q15

        .p2align 4
constants:                              @ FIPS 180-4 4.2.3
        .quad   SHA512_K

/* x>>>i ^ x>>>j ^ x>>>k in t0 */
.macro THREE_ROTATIONS x, i, j, k
        vshr.u64 t0, \x, #\i
        vshr.u64 t1, \x, #\j
        vshr.u64 t2, \x, #\k
        vsli.64 t0, \x, #64 - \i
        vsli.64 t1, \x, #64 - \j
        vsli.64 t2, \x, #64 - \k
        veor    t0, t0, t1
        veor    t0, t0, t2
.endm

/* One round with \sum = W[t] + K[t]. The new a is in \h, the new e in \d. */
.macro ROUND sum, a, b, c, d, e, f, g, h
        vadd.i64 \h, \h, \sum
        vmov    choice, \e
        THREE_ROTATIONS \e, 14, 18, 41  @ Sigma1
        vbsl    choice, \f, \g          @ Ch
        vadd.i64 \h, \h, t0
        vadd.i64 \h, \h, choice
        veor    choice, \a, \b
        THREE_ROTATIONS \a, 28, 34, 39  @ Sigma0
        vbsl    choice, \c, \b          @ Maj
        vadd.i64 \d, \d, \h
        vadd.i64 \h, \h, t0
        vadd.i64 \h, \h, choice
.endm

.macro TWO_ROUNDS m, a, b, c, d, e, f, g, h
        vld1.64 {sums}, [p_k]!
        vadd.i64 sums, sums, \m
        ROUND   sum0, \a, \b, \c, \d, \e, \f, \g, \h
        ROUND   sum1, \h, \a, \b, \c, \d, \e, \f, \g
.endm

/* x>>>i ^ x>>>j ^ x>>k in both lanes of u1; x is u0 or a pair of the schedule */
.macro ROTATIONS_AND_SHIFT x, i, j, k
        vshr.u64 u1, \x, #\i
        vshr.u64 u2, \x, #\j
        vsli.64 u1, \x, #64 - \i
        vsli.64 u2, \x, #64 - \j
        veor    u1, u1, u2
        vshr.u64 u2, \x, #\k
        veor    u1, u1, u2
.endm

/* \m0 = W[t, t + 1] becomes W[t + 16, t + 17]; m1, m4, m5, m7 are the pairs so many places behind it. */
.macro TWO_WORDS m0, m1, m4, m5, m7
        vext.8  u0, \m0, \m1, #8        @ W[t + 1, t + 2]
        ROTATIONS_AND_SHIFT u0, 1, 8, 7
        vext.8  u0, \m4, \m5, #8        @ W[t + 9, t + 10]
        vadd.i64 \m0, \m0, u1
        vadd.i64 \m0, \m0, u0
        ROTATIONS_AND_SHIFT \m7, 19, 61, 6
        vadd.i64 \m0, \m0, u1
.endm

FUNCTION sha512_blocks_neon, 0
        cmp     r2, #0
        it      eq
        bxeq    lr
        vpush   {d8-d15}
        add     p_end, p_data, r2
        vld1.64 {d16-d19}, [p_h]!
        vld1.64 {d20-d23}, [p_h]
        sub     p_h, p_h, #32

.Lblock:
        vld1.8  {d0-d3}, [p_data]!
        vld1.8  {d4-d7}, [p_data]!
        vld1.8  {d8-d11}, [p_data]!
        vld1.8  {d12-d15}, [p_data]!
        adr     p_k, constants
        mov     count, #4
        vrev64.8 q0, q0
        vrev64.8 q1, q1
        vrev64.8 q2, q2
        vrev64.8 q3, q3
        vrev64.8 q4, q4
        vrev64.8 q5, q5
        vrev64.8 q6, q6
        vrev64.8 q7, q7
.Lsixteen_rounds:
        TWO_ROUNDS q0, va, vb, vc, vd, ve, vf, vg, vh
        TWO_WORDS q0, q1, q4, q5, q7
        TWO_ROUNDS q1, vg, vh, va, vb, vc, vd, ve, vf
        TWO_WORDS q1, q2, q5, q6, q0
        TWO_ROUNDS q2, ve, vf, vg, vh, va, vb, vc, vd
        TWO_WORDS q2, q3, q6, q7, q1
        TWO_ROUNDS q3, vc, vd, ve, vf, vg, vh, va, vb
        TWO_WORDS q3, q4, q7, q0, q2
        TWO_ROUNDS q4, va, vb, vc, vd, ve, vf, vg, vh
        TWO_WORDS q4, q5, q0, q1, q3
        TWO_ROUNDS q5, vg, vh, va, vb, vc, vd, ve, vf
        TWO_WORDS q5, q6, q1, q2, q4
        TWO_ROUNDS q6, ve, vf, vg, vh, va, vb, vc, vd
        TWO_WORDS q6, q7, q2, q3, q5
        TWO_ROUNDS q7, vc, vd, ve, vf, vg, vh, va, vb
        TWO_WORDS q7, q0, q3, q4, q6
        subs    count, count, #1
        bne     .Lsixteen_rounds

        TWO_ROUNDS q0, va, vb, vc, vd, ve, vf, vg, vh
        TWO_ROUNDS q1, vg, vh, va, vb, vc, vd, ve, vf
        TWO_ROUNDS q2, ve, vf, vg, vh, va, vb, vc, vd
        TWO_ROUNDS q3, vc, vd, ve, vf, vg, vh, va, vb
        TWO_ROUNDS q4, va, vb, vc, vd, ve, vf, vg, vh
        TWO_ROUNDS q5, vg, vh, va, vb, vc, vd, ve, vf
        TWO_ROUNDS q6, ve, vf, vg, vh, va, vb, vc, vd
        TWO_ROUNDS q7, vc, vd, ve, vf, vg, vh, va, vb

        /* add the chaining value from before the block, which h still holds */
        vld1.64 {d24-d27}, [p_h]!
        vld1.64 {d28-d31}, [p_h]
        sub     p_h, p_h, #32
        vadd.i64 q8, q8, q12
        vadd.i64 q9, q9, q13
        vadd.i64 q10, q10, q14
        vadd.i64 q11, q11, q15
        vst1.64 {d16-d19}, [p_h]!
        vst1.64 {d20-d23}, [p_h]
        sub     p_h, p_h, #32
        cmp     p_data, p_end
        bne     .Lblock

        vpop    {d8-d15}
        bx      lr
FUNCTION_END sha512_blocks_neon
