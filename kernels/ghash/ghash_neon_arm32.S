/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "ghash"
variant   = "neon"
arch      = "arm32"
provides  = ["init", "update"]
requires  = ["neon"]
priority  = 20
state     = { htable = { bytes = 120, align = 8, layout = "neon" } }
constant_time = true
wipes     = true
cites     = ["NIST SP 800-38D 6.4", "Camara-Gouvea-Lopez-Dahab 2013", "Karatsuba 1962"]
*/
/* GHASH for ARMv7-A with NEON, ARM or Thumb-2, interworking returns: carry-less products out of vmull.p8, one block at a time.
 *
 * vrev64 turns a block into two 64-bit numbers, whose bit 63 is the lowest power of x: the first half of the block, with x^0 to
 * x^63, is the upper half of the number and lies in the lower d register. H has the same form.
 * Reflected numbers multiply into a reflected product that lies one bit too low; H is moved up by that bit, that is multiplied by
 * x^-1, beforehand. The product is three products of 64-bit numbers (Karatsuba).
 * A 64-bit product a b is the sum of the 64 products of bytes a[i] b[j], at byte i + j. vmull.p8 makes eight of them at a time,
 * side by side with 16 bits each: with a turned down by k bytes, a[i + k] b[i] in lane i, indices modulo 8; with b turned, the
 * mirror image. Both belong to byte 2 i + k, or, where i + k has wrapped, to 2 i + k - 8; so they can be added, the lanes
 * from 8 - k on moved down by eight bytes (their upper half into the lower one), and all moved up by k bytes. k = 0 and 4 are
 * their own mirror images. The turned forms of H are made beforehand.
 * The reduction: x^128 = 1 + x + x^2 + x^7, where x is one bit to the right.
 * Aliasing and alignment: h, y and data may lie anywhere (vld1.8, vst1.8); the state is aligned to 8. Nothing outside data ..
 * data + len is read. d8-d15 are not touched and the stack is not used.
 * The argument to check: in ALIGN the bytes that vext brings round are zero, and in REDUCE that the bits which the lowest word
 * sends up, being its neighbour's seven highest, do not matter to what that neighbour sends up itself.
 * Nothing branches on or indexes by H, y or data; the length is public.
 *
 *   void ghash_init_neon(const uint8_t h[16], void *htable);
 *   void ghash_update_neon(uint8_t y[16], const void *htable, const uint8_t *data, size_t len);
 */

#include "shared/assembly.h"

        .text

/* The state: three factors, H's upper half, its lower half and their sum, each turned down by 0, 1, 2, 3 and 4 bytes */
        .equ    FACTOR, 40
        .equ    BLOCK, 16

/* Arguments and temporaries */
y_at    .req    r0
table   .req    r1
data    .req    r2
left    .req    r3
at      .req    r12

/* q2, q3 temporaries of TURNED */
block   .req    q0
upper   .req    d0              @ halves of the block, and of y between blocks
lower   .req    d1
sum     .req    d2
turned  .req    d3
factor0 .req    d16             @ one factor and its turned forms
factor1 .req    d17
factor2 .req    d18
factor3 .req    d19
factor4 .req    d20
keep1   .req    d21             @ upper half of the lanes that stay, for k = 1, 2, 3
keep2   .req    d22
keep3   .req    d23
low     .req    q12
low0    .req    d24
low1    .req    d25
high    .req    q13
high0   .req    d26
high1   .req    d27
middle  .req    q14
middle0 .req    d28
middle1 .req    d29
temp    .req    q15
temp0   .req    d30
temp1   .req    d31

/* Products of \a and factor0 whose bytes are \k apart, in q2 (d4, d5); lanes from 8 - k on are moved to the lower half. */
.macro  TURNED a, k, factor, keep
        vext.8  turned, \a, \a, #\k
        vmull.p8 q2, turned, factor0
        vmull.p8 q3, \a, \factor
        veor    q2, q2, q3
        veor    d4, d4, d5
        vand    d5, d5, \keep
        veor    d4, d4, d5
        vext.8  q2, q2, q2, #16-\k      @ up by k bytes; the highest k bytes are zero
.endm

/* \product = \a times the next factor */
.macro  MULTIPLY product, a
        vldmia  at!, {d16-d20}
        vmull.p8 \product, \a, factor0
        TURNED  \a, 1, factor1, keep1
        veor    \product, \product, q2
        TURNED  \a, 2, factor2, keep2
        veor    \product, \product, q2
        TURNED  \a, 3, factor3, keep3
        veor    \product, \product, q2
        vmull.p8 q2, \a, factor4        @ k = 4: all upper lanes move down
        vmov.i8 q3, #0
        veor    d6, d4, d5
        vext.8  q3, q3, q3, #12
        veor    \product, \product, q3
.endm

/* upper, lower = the reduced product high 2^128 + (middle - high - low) 2^64 + low */
.macro  REDUCE
        veor    middle, middle, low
        veor    middle, middle, high
        veor    low1, low1, middle0
        veor    high0, high0, middle1
        vshl.i64 temp, low, #63         @ what each word's shifts to the right drop, into the word above
        vshl.i64 q2, low, #62
        vshl.i64 q3, low, #57
        veor    temp, temp, q2
        veor    temp, temp, q3
        veor    low1, low1, temp0
        veor    high0, high0, temp1
        vshr.u64 temp, low, #1          @ 1 + x + x^2 + x^7 times the words, two words up
        vshr.u64 q2, low, #2
        vshr.u64 q3, low, #7
        veor    high, high, low
        veor    temp, temp, q2
        veor    high, high, q3
        veor    high, high, temp
.endm

FUNCTION ghash_init_neon, 0
        /* H x^-1: one bit to the left, x^-1 = 1 + x + x^6 + x^127 for the bit that falls out */
        vld1.8  {d0-d1}, [r0]
        vrev64.8 q0, q0
        vshl.i64 q1, q0, #1
        vshr.u64 d4, d1, #63
        veor    d2, d2, d4
        vshr.s64 d4, d0, #63
        vmov.i8 d5, #0xc2
        vshl.i64 d5, d5, #56
        vand    d5, d5, d4
        vshr.u64 d4, d4, #63
        veor    d16, d2, d5
        veor    d24, d3, d4
        mov     at, #3
.Lfactor:                               @ upper half d16, then lower half d24, then their sum
        vext.8  d17, d16, d16, #1
        vext.8  d18, d16, d16, #2
        vext.8  d19, d16, d16, #3
        vext.8  d20, d16, d16, #4
        vstmia  table!, {d16-d20}
        veor    d25, d16, d24
        vmov    d16, d24
        vmov    d24, d25
        subs    at, at, #1
        bne     .Lfactor
        bx      lr
FUNCTION_END ghash_init_neon

FUNCTION ghash_update_neon, 0
        vld1.8  {d0-d1}, [y_at]
        vrev64.8 block, block
        cmp     left, #0
        beq     .Ldone
        vmov.i64 keep1, #0x0000ffffffffffff
        vmov.i64 keep2, #0x00000000ffffffff
        vmov.i64 keep3, #0x000000000000ffff
        vmov    high1, upper
        vmov    high0, lower
.Lblock:
        vld1.8  {d0-d1}, [data]!
        mov     at, table
        vrev64.8 block, block
        veor    upper, upper, high1
        veor    lower, lower, high0
        veor    sum, upper, lower
        MULTIPLY high, upper
        MULTIPLY low, lower
        MULTIPLY middle, sum
        REDUCE
        subs    left, left, #BLOCK
        bne     .Lblock
        vmov    upper, high1
        vmov    lower, high0
.Ldone:
        vrev64.8 block, block
        vst1.8  {d0-d1}, [y_at]
        bx      lr
FUNCTION_END ghash_update_neon
