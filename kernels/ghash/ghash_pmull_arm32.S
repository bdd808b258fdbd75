/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "ghash"
variant   = "pmull"
arch      = "arm32"
provides  = ["init", "update"]
requires  = ["pmull"]
priority  = 40
state     = { htable = { bytes = 96, align = 8, layout = "pmull" } }
constant_time = true
wipes     = true
cites     = ["NIST SP 800-38D 6.4", "Gueron-Kounavis 2010", "Karatsuba 1962"]
*/
/* GHASH for ARMv8 in 32-bit mode with vmull.p64, ARM or Thumb-2, interworking returns: four blocks share one reduction, the rest go
 * one by one.
 *
 * vrev64 turns a block into two 64-bit numbers, whose bit 63 is the lowest power of x: the first half of the block, with x^0 to
 * x^63, is the upper half of the number and lies in the lower d register. Powers of H have the same form.
 * Reflected numbers multiply into a reflected product that lies one bit too low; powers of H are stored moved up by that bit:
 * P(n) = H^n x^-1.
 *     y = (y ^ m0) H^4 ^ m1 H^3 ^ m2 H^2 ^ m3 H
 * Each product is three carry-less ones (Karatsuba): upper halves, lower halves, sums of halves; each kind is summed up on its own.
 * The 256-bit sum is reduced from below, 64 bits at a time: x^128 = 1 + x + x^2 + x^7, so that a word w counts as w 128 bits
 * higher and as w (x^63 + x^62 + x^57, as a number) 64 bits higher.
 * Aliasing and alignment: h, y and data may lie anywhere (vld1.8, vst1.8); the state is aligned to 8. Nothing outside data ..
 * data + len is read. d8-d15 are not touched and the stack is not used.
 * The argument to check: REDUCE, and that the blocks meet descending powers.
 * Nothing branches on or indexes by H, y or data; the length is public.
 *
 *   void ghash_init_pmull(const uint8_t h[16], void *htable);
 *   void ghash_update_pmull(uint8_t y[16], const void *htable, const uint8_t *data, size_t len);
 */

#include "shared/assembly.h"

        .text

/* The state */
        .equ    STATE_POWERS, 0         @ P(4) to P(1), 16 bytes each
        .equ    STATE_SUMS, 64          @ the sums of their halves, 8 bytes each
        .equ    GROUP, 64
        .equ    BLOCK, 16

/* Arguments and temporaries */
y_at    .req    r0
table   .req    r1
data    .req    r2
left    .req    r3
at      .req    r12

/* q0, q1 blocks; q8-q11 P(4) to P(1); d24-d27 the sums of their halves */
temp    .req    q2
temp_l  .req    d4
temp_h  .req    d5
middle  .req    q3              @ sums of products: numbers, the lower d register is the lower half
middle0 .req    d6
middle1 .req    d7
low     .req    q14
low0    .req    d28
low1    .req    d29
high    .req    q15
high0   .req    d30             @ after REDUCE the lower half of y
high1   .req    d31             @ and its upper half
fold    .req    d0              @ 0xc2 << 56, only in REDUCE

/* high1, high0 = the reduced sum. The product is high 2^128 + (middle - high - low) 2^64 + low. q0 and temp are lost. */
.macro  REDUCE
        veor    middle, middle, low
        veor    middle, middle, high
        vmov.i8 fold, #0xc2
        vshl.i64 fold, fold, #56
        veor    low1, low1, middle0
        veor    high0, high0, middle1
        vmull.p64 temp, low0, fold      @ the lowest word: into the two words above it, and two words above itself
        veor    high0, high0, low0
        veor    low1, low1, temp_l
        veor    high0, high0, temp_h
        vmull.p64 temp, low1, fold      @ the next word
        veor    high1, high1, low1
        veor    high, high, temp
.endm

/* The products of a block and a power, as halves \upper, \lower and the power's \sum; \upper is lost. */
.macro  MULTIPLY upper, lower, power_upper, power_lower, power_sum
        vmull.p64 high, \upper, \power_upper
        vmull.p64 low, \lower, \power_lower
        veor    \upper, \upper, \lower
        vmull.p64 middle, \upper, \power_sum
.endm

.macro  MULTIPLY_ADD upper, lower, power_upper, power_lower, power_sum
        vmull.p64 temp, \upper, \power_upper
        veor    high, high, temp
        vmull.p64 temp, \lower, \power_lower
        veor    low, low, temp
        veor    \upper, \upper, \lower
        vmull.p64 temp, \upper, \power_sum
        veor    middle, middle, temp
.endm

FUNCTION ghash_init_pmull, 0
        /* P(1) = H x^-1: one bit to the left, x^-1 = 1 + x + x^6 + x^127 for the bit that falls out */
        vld1.8  {d0-d1}, [r0]
        vrev64.8 q0, q0
        vshl.i64 q11, q0, #1
        vshr.u64 d2, d1, #63
        veor    d22, d22, d2
        vshr.s64 d2, d0, #63
        vmov.i8 d3, #0xc2
        vshl.i64 d3, d3, #56
        vand    d3, d3, d2
        vshr.u64 d2, d2, #63
        veor    d22, d22, d3
        veor    d23, d23, d2
        veor    d27, d22, d23

        /* P(n + 1) = P(n) P(1) x, where x^-1 is already in P(1) */
        vmov    q1, q11
        MULTIPLY d2, d3, d22, d23, d27
        REDUCE
        vmov    d20, high1
        vmov    d21, high0
        veor    d26, d20, d21
        vmov    q1, q10
        MULTIPLY d2, d3, d22, d23, d27
        REDUCE
        vmov    d18, high1
        vmov    d19, high0
        veor    d25, d18, d19
        vmov    q1, q9
        MULTIPLY d2, d3, d22, d23, d27
        REDUCE
        vmov    d16, high1
        vmov    d17, high0
        veor    d24, d16, d17
        vstmia  table, {d16-d27}
        bx      lr
FUNCTION_END ghash_init_pmull

FUNCTION ghash_update_pmull, 0
        vld1.8  {d0-d1}, [y_at]
        vrev64.8 q0, q0
        vmov    high1, d0
        vmov    high0, d1
        subs    left, left, #GROUP
        blo     .Lless
        vldmia  table, {d16-d27}
.Lgroup:
        vld1.8  {d0-d3}, [data]!
        vrev64.8 q0, q0
        vrev64.8 q1, q1
        veor    d0, d0, high1
        veor    d1, d1, high0
        MULTIPLY d0, d1, d16, d17, d24
        MULTIPLY_ADD d2, d3, d18, d19, d25
        vld1.8  {d0-d3}, [data]!
        vrev64.8 q0, q0
        vrev64.8 q1, q1
        MULTIPLY_ADD d0, d1, d20, d21, d26
        MULTIPLY_ADD d2, d3, d22, d23, d27
        REDUCE
        subs    left, left, #GROUP
        bhs     .Lgroup
.Lless:
        adds    left, left, #GROUP
        beq     .Ldone
        add     at, table, #STATE_POWERS + GROUP        @ n blocks are left, 16 n bytes: the first meets P(n)
        sub     at, at, left
        vmov    d16, high1              @ y, added to the first block only
        vmov    d17, high0
        vmov.i8 low, #0
        vmov.i8 high, #0
        vmov.i8 middle, #0
.Lblock:
        vld1.8  {d0-d1}, [data]!
        vldmia  at!, {d18-d19}
        vrev64.8 q0, q0
        veor    q0, q0, q8
        veor    d20, d18, d19
        MULTIPLY_ADD d0, d1, d18, d19, d20
        vmov.i8 q8, #0
        subs    left, left, #BLOCK
        bne     .Lblock
        REDUCE
.Ldone:
        vmov    d0, high1
        vmov    d1, high0
        vrev64.8 q0, q0
        vst1.8  {d0-d1}, [y_at]
        bx      lr
FUNCTION_END ghash_update_pmull
