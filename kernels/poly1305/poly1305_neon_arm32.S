/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "poly1305"
variant   = "neon"
arch      = "arm32"
provides  = ["init", "update", "final"]
requires  = ["neon"]
priority  = 20
state     = { ctx = { bytes = 304, align = 8, layout = "neon" } }
constant_time = true
cites     = ["RFC 8439 2.5", "Bernstein 2005", "Bernstein-Schwabe 2012", "Goll-Gueron 2015"]
*/
/* Poly1305 for ARMv7-A with NEON, ARM or Thumb-2, interworking returns. Everything modulo p is done in NEON; there is no second radix.
 *
 * Numbers are five limbs in radix 2^26, x = x0 + x1 2^26 + x2 2^52 + x3 2^78 + x4 2^104, one 32-bit lane a limb; what passes
 * 2^130 comes back times 5. Limbs may be a little above 26 bits ("loose": below 2^26 + 56), only final reduces fully.
 * Two interleaved accumulators, H in lane 0 and H' in lane 1, take four blocks m0..m3 (64 bytes, a group) at a time:
 *     H = H r^4 + m0 r^2 + m2          H' = H' r^4 + m1 r^2 + m3
 * with one carry for both products. final makes h = H r^2 + H' r of them and takes the up to three blocks and the incomplete
 * one that are left one by one, h = (h + m) r, in lane 0. r^2 and r^4 are computed when the first group comes.
 * Aliasing and alignment: data, key and tag may lie anywhere (vld4 without alignment hint, single ldr and str); the state is
 * aligned to 8. Nothing outside data .. data + len is read: groups are whole, the rest is copied by its length.
 * The argument to check: the bounds in MULTIPLY and CARRY. With two loose products the 64-bit columns are below 43 * 2^52,
 * the carries out of columns 4 and 2, which are narrowed to 32 bits, stay below 11 * 2^26 and 27 * 2^26, and 5 times the first of
 * them plus a limb below 2^32.
 * Nothing branches on or indexes by key or data; lengths are public.
 * Counted: 1.43 instructions per byte over 16 KiB; the better of OpenSSL and BoringSSL with NEON needs 1.68.
 *
 *   void poly1305_init_neon(void *ctx, const uint8_t key[32]);
 *   void poly1305_update_neon(void *ctx, const uint8_t *data, size_t len);
 *   void poly1305_final_neon(void *ctx, uint8_t tag[16]);
 */

#include "shared/assembly.h"

        .text

/* The state */
        .equ    STATE_GROUP, 0          @ 18 words: limbs 0..4 of x and 5 times limbs 1..4, for x = r^4 and then for x = r^2
        .equ    STATE_PAIR, 72          @ 9 pairs of words, the same nine of r^2 (once started) and of r
        .equ    STATE_H, 144            @ 5 pairs of words, limbs of H and of H'
        .equ    STATE_S, 184            @ the key's second half
        .equ    STATE_USED, 200         @ bytes waiting in the buffer, 0..63
        .equ    STATE_STARTED, 204      @ 1 when the powers are there and H, H' are in use
        .equ    STATE_BUFFER, 208       @ 64 bytes, and 16 more for the padding
        .equ    GROUP_BYTES, 64

/* NEON registers. d0-d8 multipliers, d9 the constant 5, q5-q9 columns, q10-q15 limbs of H and of blocks. */
#define R4_0    d0[0]
#define R4_1    d0[1]
#define R4_2    d1[0]
#define R4_3    d1[1]
#define R4_4    d2[0]
#define R4x5_1  d2[1]
#define R4x5_2  d3[0]
#define R4x5_3  d3[1]
#define R4x5_4  d4[0]
#define R2_0    d4[1]
#define R2_1    d5[0]
#define R2_2    d5[1]
#define R2_3    d6[0]
#define R2_4    d6[1]
#define R2x5_1  d7[0]
#define R2x5_2  d7[1]
#define R2x5_3  d8[0]
#define R2x5_4  d8[1]
five    .req    d9
col0    .req    q5
col1    .req    q6
col2    .req    q7
col3    .req    q8
col4    .req    q9
h0      .req    d20             @ q10: h0, h1
h1      .req    d21
h2      .req    d22
h3      .req    d30             @ q15: h3, h4
h4      .req    d31
carry2  .req    d24
carry4  .req    d25
/* Limbs of four blocks: m0, m1 in the low half, m2, m3 in the high half. They overlap h0, h1, h2 and the carries. */
m0_low  .req    d20
m0_high .req    d21
m1_low  .req    d22
m1_high .req    d23
m2_low  .req    d24
m2_high .req    d25
m3_low  .req    d26
m3_high .req    d27
m4_low  .req    d28
m4_high .req    d29
top     .req    d29             @ in final: 2^24, the 2^128 bit in limb 4, or 0

/* limb times the five multipliers that bring it to columns 0..4 */
.macro  MULTIPLY_LIMB op, limb, x0, x1, x2, x3, x4
        \op     col0, \limb, \x0
        \op     col1, \limb, \x1
        \op     col2, \limb, \x2
        \op     col3, \limb, \x3
        \op     col4, \limb, \x4
.endm

/* columns = h * multiplier, from the pairs in d0-d8: with [0] r^2 for both lanes, with [1] r for both, with nothing r^2 for
 * lane 0 and r for lane 1.
 * Limbs of h up to 2^27 + 112, multipliers up to 2^26 + 56: columns < 42.1 * 2^52 (column k has k + 1 plain and 4 - k
 * products times 5, each < 2.001 * 2^52). */
.macro  MULTIPLY lane
        MULTIPLY_LIMB vmull.u32, h0, d0\lane, d1\lane, d2\lane, d3\lane, d4\lane
        MULTIPLY_LIMB vmlal.u32, h1, d8\lane, d0\lane, d1\lane, d2\lane, d3\lane
        MULTIPLY_LIMB vmlal.u32, h2, d7\lane, d8\lane, d0\lane, d1\lane, d2\lane
        MULTIPLY_LIMB vmlal.u32, h3, d6\lane, d7\lane, d8\lane, d0\lane, d1\lane
        MULTIPLY_LIMB vmlal.u32, h4, d5\lane, d6\lane, d7\lane, d8\lane, d0\lane
.endm

/* h = columns, loose again. Columns 0..4 are < 43, 35, 27, 19, 11 times 2^52 (columns of MULTIPLY, or of a group, or the sum of
 * two lanes of loose products; 2^26 more for an added block vanishes in the rounding up). */
.macro  CARRY
        vsra.u64 col4, col3, #26        @ col4 < 10.1 * 2^52 + 19 * 2^26 < 11 * 2^52
        vsra.u64 col1, col0, #26        @ col1 < 35 * 2^52
        vmovn.i64 h3, col3
        vmovn.i64 h0, col0
        vshrn.u64 carry4, col4, #26     @ < 11 * 2^26 < 2^32
        vmovn.i64 h4, col4
        vsra.u64 col2, col1, #26        @ col2 < 27 * 2^52
        vmovn.i64 h1, col1
        vbic.i32 q15, q15, #0xfc000000  @ h3, h4 < 2^26
        vbic.i32 q10, q10, #0xfc000000  @ h0, h1 < 2^26
        vshrn.u64 carry2, col2, #26     @ < 27 * 2^26 < 2^32
        vmovn.i64 h2, col2
        vmla.i32 h0, carry4, five       @ < 2^26 + 55 * 2^26 = 56 * 2^26 < 2^32
        vadd.i32 h3, h3, carry2         @ < 2^26 + 27 * 2^26 = 28 * 2^26
        vbic.i32 h2, h2, #0xfc000000    @ h2 < 2^26
        vsra.u32 h1, h0, #26            @ h1 < 2^26 + 56
        vsra.u32 h4, h3, #26            @ h4 < 2^26 + 28
        vbic.i32 h0, h0, #0xfc000000    @ h0 < 2^26
        vbic.i32 h3, h3, #0xfc000000    @ h3 < 2^26
.endm

/* Words w0..w3 of blocks become limbs 0..3 in place, and limb 4 without the 2^128 bit; q or d registers. */
.macro  SPLIT_LIMBS w0, w1, w2, w3, limb4
        vshr.u32 \limb4, \w3, #8
        vshl.u32 \w3, \w3, #18
        vsri.32 \w3, \w2, #14
        vshl.u32 \w2, \w2, #12
        vsri.32 \w2, \w1, #20
        vshl.u32 \w1, \w1, #6
        vsri.32 \w1, \w0, #26
        vbic.i32 \w3, \w3, #0xfc000000
        vbic.i32 \w2, \w2, #0xfc000000
        vbic.i32 \w1, \w1, #0xfc000000
        vbic.i32 \w0, \w0, #0xfc000000
.endm

/* poly1305_groups_neon(ctx, data, end): takes the groups from data to end, at least one.
 * A local function in the procedure call standard. */
ctx     .req    r0
data    .req    r1
end     .req    r2
at      .req    r3
started .req    r12

LOCAL_FUNCTION poly1305_groups_neon, 2
        vpush   {d8-d15}
        vmov.i32 five, #5
        ldr     started, [ctx, #STATE_STARTED]
        cmp     started, #0
        bne     .Lstarted

        /* powers: r is in both lanes of the pairs */
        add     at, ctx, #STATE_PAIR
        vldm    at, {d0-d8}
        vmov    h0, d0
        vmov    h1, d1
        vmov    h2, d2
        vmov    h3, d3
        vmov    h4, d4
        MULTIPLY [1]
        CARRY                           @ r^2 in both lanes
        vtrn.32 h0, d0                  @ pairs of r^2, r in d0-d4; h keeps r^2 in lane 0
        vtrn.32 h1, d1
        vtrn.32 h2, d2
        vtrn.32 h3, d3
        vtrn.32 h4, d4
        vmul.i32 d5, d1, five           @ < 5 * 2^26 + 280
        vmul.i32 d6, d2, five
        vmul.i32 d7, d3, five
        vmul.i32 d8, d4, five
        vstm    at, {d0-d8}
        MULTIPLY [0]
        CARRY                           @ r^4 in lane 0
        add     at, ctx, #STATE_GROUP
        vmul.i32 d10, h1, five
        vmul.i32 d11, h2, five
        vmul.i32 d12, h3, five
        vmul.i32 d13, h4, five
        .irp    limb, h0, h1, h2, h3, h4, d10, d11, d12, d13, d0, d1, d2, d3, d4, d5, d6, d7, d8
        vst1.32 {\limb[0]}, [at]!
        .endr
        mov     started, #1
        str     started, [ctx, #STATE_STARTED]
        vmov.i32 q10, #0                @ H = H' = 0
        vmov.i32 h2, #0
        vmov.i32 q15, #0
        b       .Lload_multipliers
.Lstarted:
        add     at, ctx, #STATE_H
        vldm    at!, {d20-d22}
        vldm    at, {d30-d31}
.Lload_multipliers:
        vldm    ctx, {d0-d8}            @ STATE_GROUP

.Lgroup:
        /* multiply H and H' by r^4 */
        MULTIPLY_LIMB vmull.u32, h0, R4_0, R4_1, R4_2, R4_3, R4_4
        MULTIPLY_LIMB vmlal.u32, h1, R4x5_4, R4_0, R4_1, R4_2, R4_3
        MULTIPLY_LIMB vmlal.u32, h2, R4x5_3, R4x5_4, R4_0, R4_1, R4_2
        vld4.32 {d20, d22, d24, d26}, [data]!   @ words 0..3 of the first two blocks
        MULTIPLY_LIMB vmlal.u32, h3, R4x5_2, R4x5_3, R4x5_4, R4_0, R4_1
        vld4.32 {d21, d23, d25, d27}, [data]!   @ of the other two
        MULTIPLY_LIMB vmlal.u32, h4, R4x5_1, R4x5_2, R4x5_3, R4x5_4, R4_0
        /* the blocks with their 2^128 bits; limbs < 2^26 */
        SPLIT_LIMBS q10, q11, q12, q13, q14
        vorr.i32 q14, q14, #(1 << 24)
        /* add the first two blocks times r^2 */
        MULTIPLY_LIMB vmlal.u32, m0_low, R2_0, R2_1, R2_2, R2_3, R2_4
        MULTIPLY_LIMB vmlal.u32, m1_low, R2x5_4, R2_0, R2_1, R2_2, R2_3
        MULTIPLY_LIMB vmlal.u32, m2_low, R2x5_3, R2x5_4, R2_0, R2_1, R2_2
        MULTIPLY_LIMB vmlal.u32, m3_low, R2x5_2, R2x5_3, R2x5_4, R2_0, R2_1
        MULTIPLY_LIMB vmlal.u32, m4_low, R2x5_1, R2x5_2, R2x5_3, R2x5_4, R2_0
        /* add the other two blocks; columns < 43, 35, 27, 19, 11 times 2^52 */
        vaddw.u32 col0, col0, m0_high
        vaddw.u32 col1, col1, m1_high
        vaddw.u32 col2, col2, m2_high
        vaddw.u32 col3, col3, m3_high
        vaddw.u32 col4, col4, m4_high
        CARRY
        cmp     data, end
        bne     .Lgroup

        add     at, ctx, #STATE_H
        vstm    at!, {d20-d22}
        vstm    at, {d30-d31}
        vpop    {d8-d15}
        bx      lr
FUNCTION_END poly1305_groups_neon

        .unreq  data
        .unreq  end
        .unreq  at
        .unreq  started

/* init(ctx, key), in integer registers */
key     .req    r1

/* store limb number i (0..4) in both lanes of its pair, and 5 times it */
.macro  STORE_LIMB limb, i
        str     \limb, [ctx, #STATE_PAIR + 8 * \i]
        str     \limb, [ctx, #STATE_PAIR + 8 * \i + 4]
  .if \i > 0
        add     \limb, \limb, \limb, lsl #2
        str     \limb, [ctx, #STATE_PAIR + 8 * (4 + \i)]
        str     \limb, [ctx, #STATE_PAIR + 8 * (4 + \i) + 4]
  .endif
.endm

FUNCTION poly1305_init_neon, 2
        push    {r4-r6, lr}
        /* clamp: words & 0x0fffffff, 0x0ffffffc, 0x0ffffffc, 0x0ffffffc */
        ldr     r2, [key, #0]
        ldr     r3, [key, #4]
        ldr     r4, [key, #8]
        ldr     r5, [key, #12]
        bic     r2, r2, #0xf0000000
        bic     r3, r3, #0xf0000000
        bic     r4, r4, #0xf0000000
        bic     r5, r5, #0xf0000000
        bic     r3, r3, #3
        bic     r4, r4, #3
        bic     r5, r5, #3
        /* limbs of r */
        bic     r6, r2, #0xfc000000
        STORE_LIMB r6, 0
        mov     r6, r3, lsl #6
        orr     r6, r6, r2, lsr #26
        bic     r6, r6, #0xfc000000
        STORE_LIMB r6, 1
        mov     r6, r4, lsl #12
        orr     r6, r6, r3, lsr #20
        bic     r6, r6, #0xfc000000
        STORE_LIMB r6, 2
        mov     r6, r5, lsl #18
        orr     r6, r6, r4, lsr #14
        bic     r6, r6, #0xfc000000
        STORE_LIMB r6, 3
        mov     r6, r5, lsr #8
        STORE_LIMB r6, 4
        /* s is kept for final */
        ldr     r2, [key, #16]
        ldr     r3, [key, #20]
        ldr     r4, [key, #24]
        ldr     r5, [key, #28]
        add     r12, ctx, #STATE_S
        stm     r12, {r2-r5}
        /* nothing waits, nothing has started */
        mov     r2, #0
        str     r2, [ctx, #STATE_USED]
        str     r2, [ctx, #STATE_STARTED]
        pop     {r4-r6, pc}
FUNCTION_END poly1305_init_neon

        .unreq  ctx
        .unreq  key

/* update(ctx, data, len): whole groups are taken from where they lie, what remains waits in the buffer. */
ctx     .req    r4
data    .req    r5
len     .req    r6
used    .req    r7
into    .req    r8
count   .req    r9

FUNCTION poly1305_update_neon, 2
        push    {r3-r9, lr}             @ r3 only keeps sp a multiple of 8
        mov     ctx, r0
        mov     data, r1
        mov     len, r2
        ldr     used, [ctx, #STATE_USED]
.Lnext_piece:
        cmp     len, #0
        beq     .Lupdate_end
        cmp     used, #0
        bne     .Lbuffer
        bics    r2, len, #(GROUP_BYTES - 1)
        beq     .Lbuffer
        mov     r0, ctx
        mov     r1, data
        add     data, data, r2
        mov     r2, data
        and     len, len, #(GROUP_BYTES - 1)
        bl      poly1305_groups_neon
        b       .Lnext_piece
.Lbuffer:
        /* count = min(len, room); copy by 16 bytes, then by single bytes */
        rsb     count, used, #GROUP_BYTES
        cmp     count, len
        it      hi
        movhi   count, len
        add     into, ctx, #STATE_BUFFER
        add     into, into, used
        add     used, used, count
        sub     len, len, count
        subs    count, count, #16
        blo     .Lcopied_16
.Lcopy_16:
        vld1.8  {d0-d1}, [data]!
        vst1.8  {d0-d1}, [into]!
        subs    count, count, #16
        bhs     .Lcopy_16
.Lcopied_16:
        adds    count, count, #16
        beq     .Lcopied
.Lcopy_byte:
        ldrb    r0, [data], #1
        strb    r0, [into], #1
        subs    count, count, #1
        bne     .Lcopy_byte
.Lcopied:
        cmp     used, #GROUP_BYTES
        bne     .Lupdate_end            @ not full: data is used up
        mov     r0, ctx
        add     r1, ctx, #STATE_BUFFER
        add     r2, r1, #GROUP_BYTES
        mov     used, #0
        bl      poly1305_groups_neon
        b       .Lnext_piece
.Lupdate_end:
        str     used, [ctx, #STATE_USED]
        pop     {r3-r9, pc}
FUNCTION_END poly1305_update_neon

        .unreq  ctx
        .unreq  data
        .unreq  len
        .unreq  used
        .unreq  into
        .unreq  count

/* final(ctx, tag) */
ctx     .req    r0
tag     .req    r1
used    .req    r2
at      .req    r3

FUNCTION poly1305_final_neon, 2
        push    {r4-r11}
        vpush   {d8-d15}
        vmov.i32 five, #5
        add     at, ctx, #STATE_PAIR
        vldm    at, {d0-d8}
        ldr     r12, [ctx, #STATE_STARTED]
        cmp     r12, #0
        bne     .Lcombine
        vmov.i32 q10, #0
        vmov.i32 h2, #0
        vmov.i32 q15, #0
        b       .Lcombined
.Lcombine:
        /* h = H r^2 + H' r */
        add     at, ctx, #STATE_H
        vldm    at!, {d20-d22}
        vldm    at, {d30-d31}
        MULTIPLY                        @ loose times loose: each lane < 21.1, 17.1, 13.1, 9.1, 5.1 times 2^52
        vadd.i64 d10, d10, d11          @ the sum twice that
        vadd.i64 d12, d12, d13
        vadd.i64 d14, d14, d15
        vadd.i64 d16, d16, d17
        vadd.i64 d18, d18, d19
        CARRY
.Lcombined:
        /* a byte 1 and zeros after what waits: the padding of an incomplete block */
        ldr     used, [ctx, #STATE_USED]
        add     at, ctx, #STATE_BUFFER
        add     r12, at, used
        vmov.i64 d26, #0xff
        vshr.u64 d26, d26, #7           @ 1
        vmov.i64 d27, #0
        vst1.8  {d26-d27}, [r12]
        vmov.i32 top, #(1 << 24)
.Lblock:
        cmp     used, #0
        beq     .Lreduce
        subs    used, used, #16
        bpl     .Labsorb
        vmov.i32 top, #0                @ the incomplete block has no 2^128 bit
        mov     used, #0
.Labsorb:
        /* h = (h + block) r in lane 0 */
        vld4.32 {d24[0], d25[0], d26[0], d27[0]}, [at]!
        SPLIT_LIMBS d24, d25, d26, d27, d28
        vorr    d28, d28, top
        vadd.i32 h0, h0, d24            @ < 2^27 + 56, as all five
        vadd.i32 h1, h1, d25
        vadd.i32 h2, h2, d26
        vadd.i32 h3, h3, d27
        vadd.i32 h4, h4, d28
        MULTIPLY [1]
        CARRY
        b       .Lblock

.Lreduce:
        /* words of 32 bits: w0..w3 in r4..r7, bits from 2^128 on in r8 */
        vmov.32 r4, h0[0]
        vmov.32 r5, h1[0]
        vmov.32 r6, h2[0]
        vmov.32 r7, h3[0]
        vmov.32 r8, h4[0]
        orr     r4, r4, r5, lsl #26     @ h0 < 2^26
        mov     r5, r5, lsr #6          @ <= 2^20
        adds    r5, r5, r6, lsl #20
        mov     r6, r6, lsr #12
        adcs    r6, r6, r7, lsl #14
        mov     r7, r7, lsr #18
        adcs    r7, r7, r8, lsl #8
        mov     r8, r8, lsr #24
        adc     r8, r8, #0              @ h < 2^130 + 2^110 < 2p

        /* final reduction: r12 becomes 1 exactly when h + 5 >= 2^130, that is when h >= p */
        adds    r12, r4, #5
        adcs    r12, r5, #0
        adcs    r12, r6, #0
        adcs    r12, r7, #0
        adc     r12, r8, #0
        mov     r12, r12, lsr #2
        add     r12, r12, r12, lsl #2
        adds    r4, r4, r12             @ h - p = h + 5 - 2^130, and 2^130 does not reach the tag
        adcs    r5, r5, #0
        adcs    r6, r6, #0
        adc     r7, r7, #0

        /* add s modulo 2^128 */
        add     at, ctx, #STATE_S
        ldm     at, {r8-r11}
        adds    r4, r4, r8
        adcs    r5, r5, r9
        adcs    r6, r6, r10
        adc     r7, r7, r11
        str     r4, [tag, #0]
        str     r5, [tag, #4]
        str     r6, [tag, #8]
        str     r7, [tag, #12]
        vpop    {d8-d15}
        pop     {r4-r11}
        bx      lr
FUNCTION_END poly1305_final_neon
