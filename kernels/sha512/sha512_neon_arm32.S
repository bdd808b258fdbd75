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
        .quad   0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc
        .quad   0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118
        .quad   0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2
        .quad   0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694
        .quad   0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65
        .quad   0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5
        .quad   0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4
        .quad   0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70
        .quad   0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df
        .quad   0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b
        .quad   0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30
        .quad   0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8
        .quad   0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8
        .quad   0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3
        .quad   0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec
        .quad   0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b
        .quad   0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178
        .quad   0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b
        .quad   0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c
        .quad   0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817

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
