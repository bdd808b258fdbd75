/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "poly1305"
variant   = "neon"
arch      = "aarch64"
provides  = ["init", "update", "final"]
requires  = ["neon"]
priority  = 20
state     = { ctx = { bytes = 320, align = 16, layout = "neon" } }
constant_time = true
wipes     = true
cites     = ["RFC 8439 2.5", "Bernstein 2005", "Bernstein-Schwabe 2012", "Goll-Gueron 2015"]
*/
/* Poly1305 for AArch64 with NEON.
 *
 * Long input, NEON: numbers are five limbs in radix 2^26, x = x0 + x1 2^26 + x2 2^52 + x3 2^78 + x4 2^104, one 32-bit lane a
 * limb; what passes 2^130 comes back times 5. Two interleaved accumulators, H in lane 0 and H' in lane 1, take four blocks
 * m0..m3 (64 bytes, a group) at a time:
 *     H = H r^4 + m0 r^2 + m2          H' = H' r^4 + m1 r^2 + m3
 * with one carry for both products. Limbs may be a little above 26 bits ("loose": below 2^26 + 56).
 * Powers of r, and the up to three blocks and the incomplete one that final finds waiting, integer registers: h = acc0 +
 * acc1 2^64 + acc2 2^128 with acc2 <= 4; r0, r1 < 2^60 and r1 a multiple of 4, so that 2^128 r1 = 5 r1 / 4 = f1 modulo p.
 * Radix is changed twice: powers of r from 2^64 to 2^26 when the first group comes (TO_LIMBS), and H r^2 + H' r from 2^26 to 2^64
 * in final (FROM_COLUMNS). Nothing ever goes back.
 * Aliasing and alignment: data, key and tag may lie anywhere; the state is aligned to 16. Nothing outside data .. data + len is
 * read: groups are whole, the rest is copied by its length. v8-v15 and x18 are not touched, sp holds saved registers only.
 * The argument to check: the bounds in the group's products and CARRY (columns below 43 * 2^52; the carries out of columns
 * 4 and 2, which are narrowed to 32 bits, below 11 * 2^26 and 27 * 2^26; 5 times the first of them plus a limb below 2^32),
 * FROM_COLUMNS (every carry reaches acc2), and those beside MULTIPLY_BY_R.
 * Nothing branches on or indexes by key or data; lengths are public.
 * Counted: 1.44 instructions per byte over 16 KiB; the better of OpenSSL and BoringSSL with NEON needs 2.11.
 *
 *   void poly1305_init_neon(void *ctx, const uint8_t key[32]);
 *   void poly1305_update_neon(void *ctx, const uint8_t *data, size_t len);
 *   void poly1305_final_neon(void *ctx, uint8_t tag[16]);
 */
#include "shared/assembly.h"

        .text

/* The state */
        .equ    STATE_GROUP, 0          // 18 words: limbs 0..4 of x and 5 times limbs 1..4, for x = r^4 and then for x = r^2
        .equ    STATE_PAIR, 80          // 9 pairs of words, the same nine of r^2 and of r
        .equ    STATE_H, 152            // 5 pairs of words, limbs of H and of H'
        .equ    STATE_R, 192            // r0, r1
        .equ    STATE_S, 208            // the key's second half
        .equ    STATE_USED, 224         // bytes waiting in the buffer, 0..63
        .equ    STATE_STARTED, 232      // 1 when the powers are there and H, H' are in use
        .equ    STATE_BUFFER, 240       // 64 bytes, and 16 more for the padding
        .equ    GROUP_BYTES, 64         // a power of two

/* Arguments and temporaries of groups and final */
ctx     .req    x0
data    .req    x1
end     .req    x2
tag     .req    x1
used    .req    x2
at      .req    x3
top     .req    x4              // 1 for whole blocks, 0 for the padded one
/* Integer arithmetic in radix 2^64 */
acc0    .req    x5
acc1    .req    x6
acc2    .req    x7
mul0    .req    x8              // r0
mul1    .req    x9              // r1
fold1   .req    x10             // f1 = r1 + r1 / 4 < 1.25 * 2^60
d0_low  .req    x11
d0_high .req    x12
d1_low  .req    x13
d1_high .req    x14
t0      .req    x15
t1      .req    x16

/* acc = acc * r. With acc2 <= 6. */
.macro  MULTIPLY_BY_R
        mul     d0_low, acc0, mul0        // d0 = acc0 r0 + acc1 f1 < 2.25 * 2^124
        umulh   d0_high, acc0, mul0
        mul     t0, acc1, fold1
        umulh   t1, acc1, fold1
        adds    d0_low, d0_low, t0
        adc     d0_high, d0_high, t1
        mul     d1_low, acc0, mul1        // d1 = acc0 r1 + acc1 r0 + acc2 f1 + carry < 2.01 * 2^124
        umulh   d1_high, acc0, mul1
        mul     t0, acc1, mul0
        umulh   t1, acc1, mul0
        adds    d1_low, d1_low, t0
        adc     d1_high, d1_high, t1
        mul     t0, acc2, fold1           // <= 6 * 1.25 * 2^60 < 2^63
        mul     acc2, acc2, mul0            // <= 6 * 2^60
        adds    d1_low, d1_low, t0
        adc     d1_high, d1_high, xzr
        adds    d1_low, d1_low, d0_high
        adc     acc2, acc2, d1_high         // < 8.01 * 2^60
        and     t0, acc2, #~3             // fold what passes 2^130: 5 floor(acc2 / 4) < 1.25 * 8.01 * 2^60 < 2^64
        add     t0, t0, acc2, lsr #2
        and     acc2, acc2, #3
        adds    acc0, d0_low, t0
        adcs    acc1, d1_low, xzr
        adc     acc2, acc2, xzr             // <= 4, and acc < 2^130 + 2^64
.endm

/* Limbs of acc < 2^130 + 2^64: limbs 0..3 < 2^26, limb 4 <= 2^26. */
limb0   .req    w11
limb1   .req    w12
limb2   .req    w13
limb3   .req    w14
limb4   .req    w15
.macro  TO_LIMBS
        and     x11, acc0, #0x3ffffff
        ubfx    x12, acc0, #26, #26
        extr    x13, acc1, acc0, #52
        and     x13, x13, #0x3ffffff
        ubfx    x14, acc1, #14, #26
        lsr     x15, acc1, #40
        add     x15, x15, acc2, lsl #24
.endm

/* limb to offset + stride i, 5 times the limb to offset + stride (4 + i) */
.macro  STORE_LIMB limb, i, offset, stride
        str     \limb, [ctx, #\offset + \stride * \i]
  .if \i > 0
        add     w16, \limb, \limb, lsl #2
        str     w16, [ctx, #\offset + \stride * (4 + \i)]
  .endif
.endm

.macro  STORE_LIMBS offset, stride
        STORE_LIMB limb0, 0, \offset, \stride
        STORE_LIMB limb1, 1, \offset, \stride
        STORE_LIMB limb2, 2, \offset, \stride
        STORE_LIMB limb3, 3, \offset, \stride
        STORE_LIMB limb4, 4, \offset, \stride
.endm

/* NEON registers. v0-v4 the 18 words of STATE_GROUP, v5 the constant 5. */
#define R4_0    v0.s[0]
#define R4_1    v0.s[1]
#define R4_2    v0.s[2]
#define R4_3    v0.s[3]
#define R4_4    v1.s[0]
#define R4x5_1  v1.s[1]
#define R4x5_2  v1.s[2]
#define R4x5_3  v1.s[3]
#define R4x5_4  v2.s[0]
#define R2_0    v2.s[1]
#define R2_1    v2.s[2]
#define R2_2    v2.s[3]
#define R2_3    v3.s[0]
#define R2_4    v3.s[1]
#define R2x5_1  v3.s[2]
#define R2x5_2  v3.s[3]
#define R2x5_3  v4.s[0]
#define R2x5_4  v4.s[1]
five    .req    v5
carry2  .req    v6
carry4  .req    v7
col0    .req    v16             // columns, two lanes of 64 bits
col1    .req    v17
col2    .req    v18
col3    .req    v19
col4    .req    v20
sum0    .req    v21             // limbs of H and H', two lanes of 32 bits
sum1    .req    v22
sum2    .req    v23
sum3    .req    v24
sum4    .req    v25
m0      .req    v26             // limbs of four blocks; words of the blocks before SPLIT_LIMBS
m1      .req    v27
m2      .req    v28
m3      .req    v29
m4      .req    v30

/* limb times the five multipliers that bring it to columns 0..4 */
.macro  MULTIPLY_LIMB op, limb, x0, x1, x2, x3, x4
        \op     col0.2d, \limb\().2s, \x0
        \op     col1.2d, \limb\().2s, \x1
        \op     col2.2d, \limb\().2s, \x2
        \op     col3.2d, \limb\().2s, \x3
        \op     col4.2d, \limb\().2s, \x4
.endm

/* Words 0..3 of four blocks become their limbs, without the 2^128 bit. */
.macro  SPLIT_LIMBS
        ushr    m4.4s, m3.4s, #8
        shl     m3.4s, m3.4s, #18
        sri     m3.4s, m2.4s, #14
        shl     m2.4s, m2.4s, #12
        sri     m2.4s, m1.4s, #20
        shl     m1.4s, m1.4s, #6
        sri     m1.4s, m0.4s, #26
        bic     m3.4s, #0xfc, lsl #24
        bic     m2.4s, #0xfc, lsl #24
        bic     m1.4s, #0xfc, lsl #24
        bic     m0.4s, #0xfc, lsl #24
.endm

/* sum = columns, loose again. Columns 0..4 are < 43, 35, 27, 19, 11 times 2^52. */
.macro  CARRY
        usra    col4.2d, col3.2d, #26   // col4 < 10.1 * 2^52 + 19 * 2^26 < 11 * 2^52
        usra    col1.2d, col0.2d, #26   // col1 < 35 * 2^52
        xtn     sum3.2s, col3.2d
        xtn     sum0.2s, col0.2d
        shrn    carry4.2s, col4.2d, #26 // < 11 * 2^26 < 2^32
        xtn     sum4.2s, col4.2d
        usra    col2.2d, col1.2d, #26   // col2 < 27 * 2^52
        xtn     sum1.2s, col1.2d
        bic     sum3.2s, #0xfc, lsl #24   // < 2^26
        bic     sum0.2s, #0xfc, lsl #24   // < 2^26
        shrn    carry2.2s, col2.2d, #26 // < 27 * 2^26 < 2^32
        xtn     sum2.2s, col2.2d
        mla     sum0.2s, carry4.2s, five.2s // < 2^26 + 55 * 2^26 = 56 * 2^26 < 2^32
        add     sum3.2s, sum3.2s, carry2.2s // < 2^26 + 27 * 2^26 = 28 * 2^26
        bic     sum1.2s, #0xfc, lsl #24   // < 2^26
        bic     sum4.2s, #0xfc, lsl #24   // < 2^26
        bic     sum2.2s, #0xfc, lsl #24   // sum2 < 2^26
        usra    sum1.2s, sum0.2s, #26       // sum1 < 2^26 + 56
        usra    sum4.2s, sum3.2s, #26       // sum4 < 2^26 + 28
        bic     sum0.2s, #0xfc, lsl #24   // sum0 < 2^26
        bic     sum3.2s, #0xfc, lsl #24   // sum3 < 2^26
.endm

/* poly1305_groups_neon(ctx, data, end): takes the groups from data to end, at least one.
 * A local function in the procedure call standard. */
LOCAL_FUNCTION poly1305_groups_neon
        movi    five.2s, #5
        ldr     x3, [ctx, #STATE_STARTED]
        cbnz    x3, .Lstarted

        /* powers: multipliers from r, r^2, r^4 */
        ldp     mul0, mul1, [ctx, #STATE_R]
        add     fold1, mul1, mul1, lsr #2
        mov     acc0, mul0
        mov     acc1, mul1
        mov     acc2, xzr
        TO_LIMBS
        STORE_LIMBS STATE_PAIR + 4, 8
        MULTIPLY_BY_R
        TO_LIMBS
        STORE_LIMBS STATE_PAIR, 8
        STORE_LIMBS STATE_GROUP + 36, 4
        MULTIPLY_BY_R
        MULTIPLY_BY_R
        TO_LIMBS
        STORE_LIMBS STATE_GROUP, 4
        mov     x3, #1
        str     x3, [ctx, #STATE_STARTED]
        movi    sum0.2s, #0               // H = H' = 0
        movi    sum1.2s, #0
        movi    sum2.2s, #0
        movi    sum3.2s, #0
        movi    sum4.2s, #0
        b       .Lload_multipliers
.Lstarted:
        ldp     d21, d22, [ctx, #STATE_H + 0]
        ldp     d23, d24, [ctx, #STATE_H + 16]
        ldr     d25, [ctx, #STATE_H + 32]
.Lload_multipliers:
        ldp     q0, q1, [ctx, #STATE_GROUP + 0]
        ldp     q2, q3, [ctx, #STATE_GROUP + 32]
        ldr     d4, [ctx, #STATE_GROUP + 64]

.Lgroup:
        ld4     {v26.4s, v27.4s, v28.4s, v29.4s}, [data], #GROUP_BYTES
        /* multiply H and H' by r^4 */
        MULTIPLY_LIMB umull, sum0, R4_0, R4_1, R4_2, R4_3, R4_4
        MULTIPLY_LIMB umlal, sum1, R4x5_4, R4_0, R4_1, R4_2, R4_3
        MULTIPLY_LIMB umlal, sum2, R4x5_3, R4x5_4, R4_0, R4_1, R4_2
        MULTIPLY_LIMB umlal, sum3, R4x5_2, R4x5_3, R4x5_4, R4_0, R4_1
        MULTIPLY_LIMB umlal, sum4, R4x5_1, R4x5_2, R4x5_3, R4x5_4, R4_0
        /* the blocks with their 2^128 bits; limbs < 2^26 */
        SPLIT_LIMBS
        orr     m4.4s, #0x01, lsl #24
        /* add the first two blocks times r^2 */
        MULTIPLY_LIMB umlal, m0, R2_0, R2_1, R2_2, R2_3, R2_4
        MULTIPLY_LIMB umlal, m1, R2x5_4, R2_0, R2_1, R2_2, R2_3
        MULTIPLY_LIMB umlal, m2, R2x5_3, R2x5_4, R2_0, R2_1, R2_2
        MULTIPLY_LIMB umlal, m3, R2x5_2, R2x5_3, R2x5_4, R2_0, R2_1
        MULTIPLY_LIMB umlal, m4, R2x5_1, R2x5_2, R2x5_3, R2x5_4, R2_0
        /* add the other two blocks; columns < 43, 35, 27, 19, 11 times 2^52 (column k is twice k + 1 plain and 4 - k products
         * times 5, each < 2^52 + 2^33, and a limb) */
        uaddw2  col0.2d, col0.2d, m0.4s
        uaddw2  col1.2d, col1.2d, m1.4s
        uaddw2  col2.2d, col2.2d, m2.4s
        uaddw2  col3.2d, col3.2d, m3.4s
        uaddw2  col4.2d, col4.2d, m4.4s
        CARRY
        cmp     data, end
        b.ne    .Lgroup

        stp     d21, d22, [ctx, #STATE_H + 0]
        stp     d23, d24, [ctx, #STATE_H + 16]
        str     d25, [ctx, #STATE_H + 32]
        ret
FUNCTION_END poly1305_groups_neon

/* init(ctx, key) */
FUNCTION poly1305_init_neon
        ldp     x2, x3, [x1]
        ldp     x4, x5, [x1, #16]
        /* clamp: 0x0ffffffc0fffffff for r0, 0x0ffffffc0ffffffc for r1 */
        mov     x6, #0x0ffffffc0ffffffc
        orr     x7, x6, #3
        and     x2, x2, x7
        and     x3, x3, x6
        stp     x2, x3, [ctx, #STATE_R]
        stp     x4, x5, [ctx, #STATE_S]         // s is kept for final
        stp     xzr, xzr, [ctx, #STATE_USED]    // nothing waits, nothing has started
        ret
FUNCTION_END poly1305_init_neon

/* update(ctx, data, len): whole groups are taken from where they lie, what remains waits in the buffer. */
kept    .req    x19             // ctx
from    .req    x20
len     .req    x21
waiting .req    x22
into    .req    x3
count   .req    x4

FUNCTION poly1305_update_neon
        stp     x29, x30, [sp, #-48]!
        mov     x29, sp
        stp     x19, x20, [sp, #16]
        stp     x21, x22, [sp, #32]
        mov     kept, x0
        mov     from, x1
        mov     len, x2
        ldr     waiting, [kept, #STATE_USED]
.Lnext_piece:
        cbz     len, .Lupdate_end
        cbnz    waiting, .Lbuffer
        ands    x2, len, #-GROUP_BYTES
        b.eq    .Lbuffer
        mov     x0, kept
        mov     x1, from
        add     from, from, x2
        mov     x2, from
        and     len, len, #(GROUP_BYTES - 1)
        bl      poly1305_groups_neon
        b       .Lnext_piece
.Lbuffer:
        /* count = min(len, room); copy by 16 bytes, then by single bytes */
        mov     count, #GROUP_BYTES
        sub     count, count, waiting
        cmp     count, len
        csel    count, count, len, ls
        add     into, kept, #STATE_BUFFER
        add     into, into, waiting
        add     waiting, waiting, count
        sub     len, len, count
        subs    count, count, #16
        b.lo    .Lcopied_16
.Lcopy_16:
        ldr     q0, [from], #16
        str     q0, [into], #16
        subs    count, count, #16
        b.hs    .Lcopy_16
.Lcopied_16:
        adds    count, count, #16
        b.eq    .Lcopied
.Lcopy_byte:
        ldrb    w5, [from], #1
        strb    w5, [into], #1
        subs    count, count, #1
        b.ne    .Lcopy_byte
.Lcopied:
        cmp     waiting, #GROUP_BYTES
        b.ne    .Lupdate_end            // not full: data is used up
        mov     x0, kept
        add     x1, kept, #STATE_BUFFER
        add     x2, x1, #GROUP_BYTES
        mov     waiting, xzr
        bl      poly1305_groups_neon
        b       .Lnext_piece
.Lupdate_end:
        str     waiting, [kept, #STATE_USED]
        ldp     x19, x20, [sp, #16]
        ldp     x21, x22, [sp, #32]
        ldp     x29, x30, [sp], #48
        ret
FUNCTION_END poly1305_update_neon

/* acc = columns in x11..x15, below 43, 35, 27, 19, 11 times 2^52 */
.macro  FROM_COLUMNS
        add     x12, x12, x11, lsr #26
        and     x11, x11, #0x3ffffff
        add     x13, x13, x12, lsr #26
        and     x12, x12, #0x3ffffff
        add     x14, x14, x13, lsr #26
        and     x13, x13, #0x3ffffff
        add     x15, x15, x14, lsr #26  // < 11 * 2^52
        and     x14, x14, #0x3ffffff
        lsr     t1, x15, #26            // < 11 * 2^26
        and     x15, x15, #0x3ffffff
        add     t1, t1, t1, lsl #2
        add     x11, x11, t1            // < 56 * 2^26; x12..x15 < 2^26
        add     acc0, x11, x12, lsl #26   // < 2^53
        adds    acc0, acc0, x13, lsl #52    // may carry
        lsr     acc1, x13, #12            // bits 0..13, 14..39 and 40..63 of acc1: no carry between them
        orr     acc1, acc1, x14, lsl #14
        orr     acc1, acc1, x15, lsl #40
        lsr     acc2, x15, #24            // <= 3
        adcs    acc1, acc1, xzr
        adc     acc2, acc2, xzr             // <= 4
.endm

/* final(ctx, tag) */
FUNCTION poly1305_final_neon
        mov     acc0, xzr
        mov     acc1, xzr
        mov     acc2, xzr
        ldr     x3, [ctx, #STATE_STARTED]
        cbz     x3, .Lcombined
        /* h = H r^2 + H' r */
        ldp     d21, d22, [ctx, #STATE_H + 0]
        ldp     d23, d24, [ctx, #STATE_H + 16]
        ldr     d25, [ctx, #STATE_H + 32]
        ldp     d0, d1, [ctx, #STATE_PAIR + 0]
        ldp     d2, d3, [ctx, #STATE_PAIR + 16]
        ldp     d4, d5, [ctx, #STATE_PAIR + 32]
        ldp     d6, d7, [ctx, #STATE_PAIR + 48]
        ldr     d26, [ctx, #STATE_PAIR + 64]
        MULTIPLY_LIMB umull, sum0, v0.2s, v1.2s, v2.2s, v3.2s, v4.2s
        MULTIPLY_LIMB umlal, sum1, v26.2s, v0.2s, v1.2s, v2.2s, v3.2s
        MULTIPLY_LIMB umlal, sum2, v7.2s, v26.2s, v0.2s, v1.2s, v2.2s
        MULTIPLY_LIMB umlal, sum3, v6.2s, v7.2s, v26.2s, v0.2s, v1.2s
        MULTIPLY_LIMB umlal, sum4, v5.2s, v6.2s, v7.2s, v26.2s, v0.2s
        addp    d16, col0.2d
        addp    d17, col1.2d
        addp    d18, col2.2d
        addp    d19, col3.2d
        addp    d20, col4.2d
        fmov    x11, d16
        fmov    x12, d17
        fmov    x13, d18
        fmov    x14, d19
        fmov    x15, d20
        FROM_COLUMNS
.Lcombined:
        /* a byte 1 and zeros after what waits: the padding of an incomplete block */
        ldr     used, [ctx, #STATE_USED]
        add     at, ctx, #STATE_BUFFER
        add     x11, at, used
        mov     top, #1
        stp     top, xzr, [x11]
        ldp     mul0, mul1, [ctx, #STATE_R]
        add     fold1, mul1, mul1, lsr #2
.Lblock:
        cbz     used, .Lreduce
        subs    used, used, #16
        b.pl    .Labsorb
        mov     top, xzr                // the incomplete block has no 2^128 bit
        mov     used, xzr
.Labsorb:
        /* add the block with its 2^128 bit */
        ldp     x11, x12, [at], #16
        adds    acc0, acc0, x11
        adcs    acc1, acc1, x12
        adc     acc2, acc2, top             // <= 4 + 1 + 1 = 6
        MULTIPLY_BY_R
        b       .Lblock

.Lreduce:
        /* final reduction: acc < 2p; t0 becomes 1 exactly when acc + 5 >= 2^130, that is when acc >= p */
        adds    t0, acc0, #5
        adcs    t0, acc1, xzr
        adc     t0, acc2, xzr
        lsr     t0, t0, #2
        add     t0, t0, t0, lsl #2
        adds    acc0, acc0, t0              // acc - p = acc + 5 - 2^130, and 2^130 does not reach the tag
        adc     acc1, acc1, xzr

        /* add s modulo 2^128 */
        ldp     x11, x12, [ctx, #STATE_S]
        adds    acc0, acc0, x11
        adc     acc1, acc1, x12
        stp     acc0, acc1, [tag]

        /* the state is at its end: nothing of key and message stays behind */
        movi    v0.16b, #0
        .irp    part, 0, 32, 64, 96, 128, 160, 192, 224, 256, 288
        stp     q0, q0, [ctx, #\part]
        .endr
        ret
FUNCTION_END poly1305_final_neon
