/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "ghash"
variant   = "neon"
arch      = "aarch64"
provides  = ["init", "update"]
requires  = ["neon"]
priority  = 20
state     = { htable = { bytes = 160, align = 16, layout = "neon" } }
constant_time = true
wipes     = true
cites     = ["NIST SP 800-38D 6.4", "Camara-Gouvea-Lopez-Dahab 2013", "Karatsuba 1962"]
*/
/* GHASH for AArch64 with NEON and no more: carry-less products out of pmull on bytes, one block at a time.
 *
 * rev64 turns a block into two 64-bit numbers, whose bit 63 is the lowest power of x: the first half of the block, with x^0 to
 * x^63, is the upper half of the number and lies in lane 0. H has the same form.
 * Reflected numbers multiply into a reflected product that lies one bit too low; H is moved up by that bit, that is multiplied by
 * x^-1, beforehand. The product is three products of 64-bit numbers (Karatsuba).
 * A 64-bit product a b is the sum of the 64 products of bytes a[i] b[j], at byte i + j. pmull makes eight of them at a time, side by
 * side with 16 bits each: with a turned down by k bytes, a[i + k] b[i] in lane i, indices modulo 8; with b turned, the mirror
 * image. Both belong to byte 2 i + k, or, where i + k has wrapped, to 2 i + k - 8; so they can be added, and one tbl moves the lanes
 * below 8 - k up by k bytes, another one the rest down by 8 - k. k = 0 and 4 are their own mirror images.
 * One tbl turns both halves of a block; the turned forms of H are made beforehand.
 * The reduction: x^128 = 1 + x + x^2 + x^7, where x is one bit to the right.
 * Aliasing and alignment: h, y and data may lie anywhere; the state is aligned to 16. Nothing outside data .. data + len is read.
 * d8-d15 are saved; x18 is not touched.
 * The argument to check: the indices of tbl (an index beyond 15 gives zero), and in REDUCE that the bits which the lowest word
 * sends up, being its neighbour's seven highest, do not matter to what that neighbour sends up itself.
 * Nothing branches on or indexes by H, y or data; the length is public.
 *
 *   void ghash_init_neon(const uint8_t h[16], void *htable);
 *   void ghash_update_neon(uint8_t y[16], const void *htable, const uint8_t *data, size_t len);
 */
#include "shared/assembly.h"

        .section .rodata
        .p2align 4
constants:
        /* Each half turned down by 1, 2 and 3 bytes */
        .byte   1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8
        .byte   2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9
        .byte   3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10
        /* For k = 1, 2, 3, 4: the lanes below 8 - k moved up by k bytes, the others moved down by 8 - k */
        .byte   255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 255
        .byte   255, 255, 255, 255, 255, 255, 255, 14, 15, 255, 255, 255, 255, 255, 255, 255
        .byte   255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255, 255
        .byte   255, 255, 255, 255, 255, 255, 12, 13, 14, 15, 255, 255, 255, 255, 255, 255
        .byte   255, 255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 255, 255
        .byte   255, 255, 255, 255, 255, 10, 11, 12, 13, 14, 15, 255, 255, 255, 255, 255
        .byte   255, 255, 255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 255, 255, 255, 255
        .byte   255, 255, 255, 255, 8, 9, 10, 11, 12, 13, 14, 15, 255, 255, 255, 255

        .text

/* The state: H x^-1 turned down by 0 to 4 bytes, as two halves; then the sums of the halves of each, in lane 0 */
        .equ    STATE_SUMS, 80
        .equ    BLOCK, 16

/* Arguments and temporaries */
y_at    .req    x0
table   .req    x1
data    .req    x2
left    .req    x3
consts  .req    x4
y       .req    v0              // the block; lane 0 is its upper half
sum     .req    v1              // of its halves
y_k     .req    v2              // both turned by k bytes
sum_k   .req    v3
low     .req    v4              // the products: numbers, lane 0 is the lower half
high    .req    v5
middle  .req    v6
temp    .req    v7
other   .req    v8
/* v9-v11 turn by 1, 2, 3; v12-v19 move up and down for k = 1 to 4; v20-v24 factors; v25-v29 their sums */

/* \product ^= \pairs, which are k bytes apart, by \up and \down. other and \pairs are lost. */
.macro  ADD_MOVED product, pairs, up, down
        tbl     other.16b, {\pairs\().16b}, \up\().16b
        tbl     \pairs\().16b, {\pairs\().16b}, \down\().16b
        eor     \product\().16b, \product\().16b, other.16b
        eor     \product\().16b, \product\().16b, \pairs\().16b
.endm

/* The three products' pairs that are k bytes apart: factor and sums are the ones turned by k */
.macro  ADD_TURNED turn, factor, sums, up, down
        tbl     y_k.16b, {y.16b}, \turn\().16b
        tbl     sum_k.16b, {sum.16b}, \turn\().16b
        pmull   temp.8h, y_k.8b, v20.8b
        pmull   other.8h, y.8b, \factor\().8b
        eor     temp.16b, temp.16b, other.16b
        ADD_MOVED high, temp, \up, \down
        pmull2  temp.8h, y_k.16b, v20.16b
        pmull2  other.8h, y.16b, \factor\().16b
        eor     temp.16b, temp.16b, other.16b
        ADD_MOVED low, temp, \up, \down
        pmull   temp.8h, sum_k.8b, v25.8b
        pmull   other.8h, sum.8b, \sums\().8b
        eor     temp.16b, temp.16b, other.16b
        ADD_MOVED middle, temp, \up, \down
.endm

/* low, high, middle = the products of the halves of y and of H, and of their sums */
.macro  MULTIPLY
        ext     sum.16b, y.16b, y.16b, #8
        eor     sum.16b, sum.16b, y.16b
        pmull   high.8h, y.8b, v20.8b
        pmull2  low.8h, y.16b, v20.16b
        pmull   middle.8h, sum.8b, v25.8b
        ADD_TURNED v9, v21, v26, v12, v13
        ADD_TURNED v10, v22, v27, v14, v15
        ADD_TURNED v11, v23, v28, v16, v17
        pmull   temp.8h, y.8b, v24.8b
        ADD_MOVED high, temp, v18, v19
        pmull2  temp.8h, y.16b, v24.16b
        ADD_MOVED low, temp, v18, v19
        pmull   temp.8h, sum.8b, v29.8b
        ADD_MOVED middle, temp, v18, v19
.endm

/* y = the reduced product high 2^128 + (middle - high - low) 2^64 + low */
.macro  REDUCE
        eor     middle.16b, middle.16b, low.16b
        movi    v30.2d, #0
        eor     middle.16b, middle.16b, high.16b
        ext     temp.16b, v30.16b, middle.16b, #8       // 64 bits up
        ext     middle.16b, middle.16b, v30.16b, #8
        eor     low.16b, low.16b, temp.16b
        eor     high.16b, high.16b, middle.16b
        shl     temp.2d, low.2d, #63                    // what each word's shifts to the right drop, into the word above
        shl     other.2d, low.2d, #62
        shl     v31.2d, low.2d, #57
        eor     temp.16b, temp.16b, other.16b
        eor     temp.16b, temp.16b, v31.16b
        ext     other.16b, v30.16b, temp.16b, #8
        ext     temp.16b, temp.16b, v30.16b, #8
        eor     low.16b, low.16b, other.16b
        eor     high.16b, high.16b, temp.16b
        ushr    temp.2d, low.2d, #1                     // 1 + x + x^2 + x^7 times the words, two words up
        ushr    other.2d, low.2d, #2
        ushr    v31.2d, low.2d, #7
        eor     high.16b, high.16b, low.16b
        eor     temp.16b, temp.16b, other.16b
        eor     high.16b, high.16b, v31.16b
        eor     high.16b, high.16b, temp.16b
        ext     y.16b, high.16b, high.16b, #8           // the form of a block
.endm

/* Integer registers of init */
upper   .req    x5              // halves of H as numbers
lower   .req    x6
carry   .req    x7
bits    .req    x8
halves  .req    x9

FUNCTION ghash_init_neon, 0
        /* H x^-1: one bit to the left, x^-1 = 1 + x + x^6 + x^127 for the bit that falls out */
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
        .irp    k, 0, 1, 2, 3, 4
        eor     halves, upper, lower
        stp     upper, lower, [table, #16 * \k]
        stp     halves, xzr, [table, #STATE_SUMS + 16 * \k]
        ror     upper, upper, #8
        ror     lower, lower, #8
        .endr
        ret
FUNCTION_END ghash_init_neon

FUNCTION ghash_update_neon, 0
        cbz     left, .Lreturn
        stp     d8, d9, [sp, #-64]!
        stp     d10, d11, [sp, #16]
        stp     d12, d13, [sp, #32]
        stp     d14, d15, [sp, #48]
        adrp    consts, constants
        add     consts, consts, :lo12:constants
        ldr     q0, [y_at]
        ldp     q9, q10, [consts]
        ldp     q11, q12, [consts, #32]
        ldp     q13, q14, [consts, #64]
        ldp     q15, q16, [consts, #96]
        ldp     q17, q18, [consts, #128]
        ldr     q19, [consts, #160]
        ldp     q20, q21, [table]
        ldp     q22, q23, [table, #32]
        ldp     q24, q25, [table, #64]
        ldp     q26, q27, [table, #96]
        ldp     q28, q29, [table, #128]
        rev64   y.16b, y.16b
.Lblock:
        ldr     q1, [data], #BLOCK
        rev64   v1.16b, v1.16b
        eor     y.16b, y.16b, v1.16b
        MULTIPLY
        REDUCE
        subs    left, left, #BLOCK
        b.ne    .Lblock
        rev64   y.16b, y.16b
        str     q0, [y_at]
        ldp     d10, d11, [sp, #16]
        ldp     d12, d13, [sp, #32]
        ldp     d14, d15, [sp, #48]
        ldp     d8, d9, [sp], #64
.Lreturn:
        ret
FUNCTION_END ghash_update_neon
