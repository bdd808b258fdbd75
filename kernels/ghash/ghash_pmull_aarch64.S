/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "ghash"
variant   = "pmull"
arch      = "aarch64"
provides  = ["init", "update"]
requires  = ["pmull"]
priority  = 40
state     = { htable = { bytes = 192, align = 16, layout = "pmull" } }
constant_time = true
wipes     = true
cites     = ["NIST SP 800-38D 6.4", "Gueron-Kounavis 2010", "Karatsuba 1962"]
*/
/* GHASH for AArch64 with PMULL: eight blocks share one reduction, the rest go one by one.
 *
 * rev64 turns a block into two 64-bit numbers, whose bit 63 is the lowest power of x: the first half of the block, with x^0 to
 * x^63, is the upper half of the number and lies in lane 0. Powers of H have the same form.
 * Reflected numbers multiply into a reflected product that lies one bit too low; powers of H are stored moved up by that bit:
 * P(n) = H^n x^-1.
 *     y = (y ^ m0) H^8 ^ m1 H^7 ^ ... ^ m7 H
 * Each product is three carry-less ones (Karatsuba): upper halves, lower halves, sums of halves; each kind is summed up on its own.
 * Sums of halves are made for two blocks at a time.
 * The 256-bit sum is reduced from below, 64 bits at a time: x^128 = 1 + x + x^2 + x^7, so that a word w counts as w 128 bits
 * higher and as w (x^63 + x^62 + x^57, as a number) 64 bits higher.
 * Aliasing and alignment: h, y and data may lie anywhere; the state is aligned to 16. Nothing outside data .. data + len is read.
 * v8-v15 and x18 are not touched and the stack is not used.
 * The argument to check: REDUCE, and that the blocks meet descending powers.
 * Nothing branches on or indexes by H, y or data; the length is public.
 *
 *   void ghash_init_pmull(const uint8_t h[16], void *htable);
 *   void ghash_update_pmull(uint8_t y[16], const void *htable, const uint8_t *data, size_t len);
 */
#include "shared/assembly.h"

        .text

/* The state */
        .equ    STATE_POWERS, 0         // P(8) to P(1), 16 bytes each
        .equ    STATE_SUMS, 128         // the sums of their halves: P(8), P(7); P(6), P(5); P(4), P(3); P(2), P(1)
        .equ    GROUP, 128
        .equ    BLOCK, 16

/* Arguments and temporaries */
y_at    .req    x0
table   .req    x1
data    .req    x2
left    .req    x3
at      .req    x4
/* v0-v3 blocks, v16-v23 P(8) to P(1), v24-v27 sums of their halves */
y       .req    v4              // in the form of a block
sum     .req    v5
temp    .req    v6
zero    .req    v7
low     .req    v28             // sums of products: numbers, lane 0 is the lower half
high    .req    v29
middle  .req    v30
fold    .req    v31             // 0xc2 << 56 in both lanes

/* y = the reduced sum. The product is high 2^128 + (middle - high - low) 2^64 + low. */
.macro  REDUCE
        eor     temp.16b, low.16b, high.16b
        movi    zero.2d, #0
        eor     middle.16b, middle.16b, temp.16b
        ext     temp.16b, zero.16b, middle.16b, #8      // 64 bits up
        ext     middle.16b, middle.16b, zero.16b, #8
        eor     low.16b, low.16b, temp.16b
        eor     high.16b, high.16b, middle.16b
        pmull   temp.1q, low.1d, fold.1d                // the lowest word: into the two words above it,
        ext     low.16b, low.16b, low.16b, #8           // and once more two words above itself
        eor     low.16b, low.16b, temp.16b
        pmull   temp.1q, low.1d, fold.1d                // the next word, which has moved to lane 0
        eor     y.16b, high.16b, temp.16b
        ext     y.16b, y.16b, y.16b, #8                 // the form of a block, in which low already is
        eor     y.16b, y.16b, low.16b
.endm

/* Lanes of \sums = the sums of the halves of \a and of \b */
.macro  HALVES sums, a, b
        trn1    \sums\().2d, \a\().2d, \b\().2d
        trn2    temp.2d, \a\().2d, \b\().2d
        eor     \sums\().16b, \sums\().16b, temp.16b
.endm

/* low, high, middle ^= the products of the blocks a and b with two powers, whose sums of halves are \sums; a, b, sum are lost. */
.macro  MULTIPLY_ADD_SECOND b, power, sums
        pmull   temp.1q, \b\().1d, \power\().1d
        pmull2  \b\().1q, \b\().2d, \power\().2d
        eor     high.16b, high.16b, temp.16b
        eor     low.16b, low.16b, \b\().16b
        pmull2  sum.1q, sum.2d, \sums\().2d
        eor     middle.16b, middle.16b, sum.16b
.endm

.macro  MULTIPLY_ADD a, b, power_a, power_b, sums
        HALVES  sum, \a, \b
        pmull   temp.1q, \a\().1d, \power_a\().1d
        pmull2  \a\().1q, \a\().2d, \power_a\().2d
        eor     high.16b, high.16b, temp.16b
        eor     low.16b, low.16b, \a\().16b
        pmull   temp.1q, sum.1d, \sums\().1d
        eor     middle.16b, middle.16b, temp.16b
        MULTIPLY_ADD_SECOND \b, \power_b, \sums
.endm

/* The same without anything to add to */
.macro  MULTIPLY_FIRST a, b, power_a, power_b, sums
        HALVES  sum, \a, \b
        pmull   high.1q, \a\().1d, \power_a\().1d
        pmull2  low.1q, \a\().2d, \power_a\().2d
        pmull   middle.1q, sum.1d, \sums\().1d
        MULTIPLY_ADD_SECOND \b, \power_b, \sums
.endm

/* The next four blocks in v0-v3 */
.macro  LOAD_FOUR
        ld1     {v0.16b-v3.16b}, [data], #64
        rev64   v0.16b, v0.16b
        rev64   v1.16b, v1.16b
        rev64   v2.16b, v2.16b
        rev64   v3.16b, v3.16b
.endm

.macro  MAKE_FOLD
        movi    fold.16b, #0xc2
        shl     fold.2d, fold.2d, #56
.endm

/* Integer registers of init */
upper   .req    x5              // halves of H as numbers
lower   .req    x6
carry   .req    x7
bits    .req    x8

FUNCTION ghash_init_pmull, 0
        /* P(1) = H x^-1: one bit to the left, x^-1 = 1 + x + x^6 + x^127 for the bit that falls out */
        ldp     upper, lower, [x0]
        rev     upper, upper
        rev     lower, lower
        asr     carry, upper, #63
        extr    upper, upper, lower, #63
        and     bits, carry, #1
        eor     lower, bits, lower, lsl #1
        mov     bits, #0xc200000000000000
        and     carry, carry, bits
        eor     upper, upper, carry
        fmov    d23, upper
        mov     v23.d[1], lower

        /* P(n + 1) = P(n) P(1) x, where x^-1 is already in P(1); eight of them, the last first in memory */
        MAKE_FOLD
        mov     y.16b, v23.16b
        HALVES  v27, v23, v23
        add     at, table, #STATE_POWERS + GROUP
        b       .Lstore
.Lpower:
        HALVES  sum, y, y
        pmull   high.1q, y.1d, v23.1d
        pmull2  low.1q, y.2d, v23.2d
        pmull   middle.1q, sum.1d, v27.1d
        REDUCE
.Lstore:
        str     q4, [at, #-16]!
        cmp     at, table
        b.ne    .Lpower

        .irp    pair, 0, 1, 2, 3
        ldp     q0, q1, [table, #STATE_POWERS + 32 * \pair]
        HALVES  sum, v0, v1
        str     q5, [table, #STATE_SUMS + 16 * \pair]
        .endr
        ret
FUNCTION_END ghash_init_pmull

FUNCTION ghash_update_pmull, 0
        ldr     q4, [y_at]
        rev64   y.16b, y.16b
        MAKE_FOLD
        subs    left, left, #GROUP
        b.lo    .Lless
        add     at, table, #STATE_SUMS
        ld1     {v16.2d-v19.2d}, [table]
        ldp     q20, q21, [table, #STATE_POWERS + 64]
        ldp     q22, q23, [table, #STATE_POWERS + 96]
        ld1     {v24.2d-v27.2d}, [at]
.Lgroup:
        LOAD_FOUR
        eor     v0.16b, v0.16b, y.16b
        MULTIPLY_FIRST v0, v1, v16, v17, v24
        MULTIPLY_ADD v2, v3, v18, v19, v25
        LOAD_FOUR
        MULTIPLY_ADD v0, v1, v20, v21, v26
        MULTIPLY_ADD v2, v3, v22, v23, v27
        REDUCE
        subs    left, left, #GROUP
        b.hs    .Lgroup
.Lless:
        adds    left, left, #GROUP
        b.eq    .Ldone
        add     at, table, #STATE_POWERS + GROUP        // n blocks are left, 16 n bytes: the first meets P(n)
        sub     at, at, left
        movi    low.2d, #0
        movi    high.2d, #0
        movi    middle.2d, #0
.Lblock:
        ldr     q0, [data], #BLOCK
        ldr     q16, [at], #16
        rev64   v0.16b, v0.16b
        eor     v0.16b, v0.16b, y.16b
        HALVES  sum, v0, v0
        HALVES  v17, v16, v16
        pmull   temp.1q, v0.1d, v16.1d
        eor     high.16b, high.16b, temp.16b
        pmull2  temp.1q, v0.2d, v16.2d
        eor     low.16b, low.16b, temp.16b
        pmull   temp.1q, sum.1d, v17.1d
        eor     middle.16b, middle.16b, temp.16b
        movi    y.2d, #0
        subs    left, left, #BLOCK
        b.ne    .Lblock
        REDUCE
.Ldone:
        rev64   y.16b, y.16b
        str     q4, [y_at]
        ret
FUNCTION_END ghash_update_pmull
