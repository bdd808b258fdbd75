/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "poly1305"
variant   = "armv7"
arch      = "arm32"
provides  = ["init", "update", "final"]
requires  = []
priority  = 10
state     = { ctx = { bytes = 88, align = 4, layout = "armv7" } }
constant_time = true
cites     = ["RFC 8439 2.5", "Bernstein 2005"]
*/
/* Poly1305 for ARMv7-A, integer registers only (no VFP, no NEON), ARM or Thumb-2, interworking returns.
 *
 * The accumulator is h = h0 + h1 2^32 + h2 2^64 + h3 2^96 + h4 2^128 with h4 <= 4 between blocks. Clamping leaves r0..r3 < 2^28
 * and r1..r3 multiples of 4, so that with f_i = r_i + r_i / 4 < 1.25 * 2^28
 *     2^128 * r_i = 2^130 * r_i / 4 = 5 * r_i / 4 = f_i   modulo p,
 * and the product is four columns of 64 bits and a short one:
 *     d0 = h0 r0 + h1 f3 + h2 f2 + h3 f1
 *     d1 = h0 r1 + h1 r0 + h2 f3 + h3 f2 + h4 f1
 *     d2 = h0 r2 + h1 r1 + h2 r0 + h3 f3 + h4 f2
 *     d3 = h0 r3 + h1 r2 + h2 r1 + h3 r0 + h4 f3
 *     d4 = h4 r0
 * The high word of a column starts the next one: umaal adds it, and the small h4 term, to the column's first product for free.
 * As columns go from left to right each f_i has its last use just before r_i has its first: they share a register.
 * Aliasing and alignment: data, key and tag may lie anywhere (single ldr and str only); the state is aligned to 4.
 * The argument to check: the bounds beside each column (no 64-bit sum overflows, d4 and the fold fit 32 bits), and that
 * every add of words is followed by adcs through to h4.
 * Nothing branches on or indexes by key or data; lengths are public.
 * Counted: 2.76 instructions per byte over 16 KiB; the better of OpenSSL and BoringSSL without NEON needs 3.94.
 *
 *   void poly1305_init_armv7(void *ctx, const uint8_t key[32]);
 *   void poly1305_update_armv7(void *ctx, const uint8_t *data, size_t len);
 *   void poly1305_final_armv7(void *ctx, uint8_t tag[16]);
 */

#include "shared/assembly.h"

        .text

/* The state: words of r, of h and of s (the key's second half), bytes waiting, and a block with room for 16 bytes of padding. */
        .equ    STATE_R, 0
        .equ    STATE_H, 16
        .equ    STATE_S, 36
        .equ    STATE_USED, 52
        .equ    STATE_BUFFER, 56

/* poly1305_blocks_armv7(ctx, data, end, top): h = (h + block + top 2^128) * r for each block from data to end, at least one.
 * A local function in the procedure call standard. top is 1 for whole blocks, 0 for a padded one. Its frame, from sp: */
        .equ    FRAME_DATA, 0           @ next block
        .equ    FRAME_END, 4
        .equ    FRAME_F, 8              @ f1 f2 f3
        .equ    FRAME_TOP, 20
        .equ    FRAME_R1, 24
        .equ    FRAME_R2, 28
        .equ    FRAME_R3, 32
        .equ    FRAME_CTX, 36
        .equ    FRAME_BYTES, 44         @ with the nine saved registers a multiple of 8

/* Registers of the loop. One ldm from sp fills data, end, f1, f2, f3 and top, so their numbers ascend. */
data    .req    r0
end     .req    r1
h0      .req    r4
h1      .req    r5
h2      .req    r6
h3      .req    r7
h4      .req    r8
mul0    .req    r9              @ r0
f1_r1   .req    r10             @ f1, later r1
f2_r2   .req    r11             @ f2, later r2
f3_r3   .req    r12             @ f3, later r3
top     .req    lr
n0      .req    r0              @ words of the product; n1, n2, n3 and n4 are also the high word of the column before
n1      .req    r1
n2      .req    r2
n3      .req    r3
n4      .req    lr
fold    .req    r12

.macro  ADD_BLOCK                       @ h += block + top 2^128; h4 <= 4 + 1 + 1 = 6
        ldr     r1, [data], #4
        ldr     r2, [data], #4
        ldr     r3, [data], #4
        adds    h0, h0, r1
        ldr     r1, [data], #4
        adcs    h1, h1, r2
        str     data, [sp, #FRAME_DATA]
        adcs    h2, h2, r3
        adcs    h3, h3, r1
        adc     h4, h4, top
.endm

.macro  MULTIPLY_BY_R                   @ n = h * r, h <= 6 2^128 + 2^128 - 1
        umull   n0, n1, h0, mul0        @ d0 < (1 + 3 * 1.25) 2^60 = 4.75 * 2^60
        umlal   n0, n1, h1, f3_r3
        umlal   n0, n1, h2, f2_r2
        umlal   n0, n1, h3, f1_r1

        mul     n2, h4, f1_r1           @ <= 6 * 1.25 * 2^28 < 2^31
        ldr     f1_r1, [sp, #FRAME_R1]
        umaal   n1, n2, h0, f1_r1       @ d1 < (2 + 2 * 1.25) 2^60 + 2^33 < 4.51 * 2^60
        umlal   n1, n2, h1, mul0
        umlal   n1, n2, h2, f3_r3
        umlal   n1, n2, h3, f2_r2

        mul     n3, h4, f2_r2           @ < 2^31
        ldr     f2_r2, [sp, #FRAME_R2]
        umaal   n2, n3, h0, f2_r2       @ d2 < (3 + 1.25) 2^60 + 2^33 < 4.26 * 2^60
        umlal   n2, n3, h1, f1_r1
        umlal   n2, n3, h2, mul0
        umlal   n2, n3, h3, f3_r3

        mul     n4, h4, f3_r3           @ < 2^31
        ldr     f3_r3, [sp, #FRAME_R3]
        umaal   n3, n4, h0, f3_r3       @ d3 < 4 * 2^60 + 2^33 < 4.01 * 2^60
        umlal   n3, n4, h1, f2_r2
        umlal   n3, n4, h2, f1_r1
        umlal   n3, n4, h3, mul0
        mla     n4, h4, mul0, n4        @ d4 with the carry in < 6 * 2^28 + 4.01 * 2^28 < 10.1 * 2^28
.endm

.macro  FOLD_MOD_P                      @ h = n with what passes 2^130 added back times 5
        bic     fold, n4, #3
        and     h4, n4, #3
        add     fold, fold, n4, lsr #2  @ 5 floor(n4 / 4) < 1.25 * 10.1 * 2^28 < 2^32
        adds    h0, n0, fold
        adcs    h1, n1, #0
        adcs    h2, n2, #0
        adcs    h3, n3, #0
        adc     h4, h4, #0              @ <= 4, and h < 2^130 + 2^32
.endm

LOCAL_FUNCTION poly1305_blocks_armv7, 2
        push    {r4-r11, lr}
        sub     sp, sp, #FRAME_BYTES
        str     r0, [sp, #FRAME_CTX]
        str     r1, [sp, #FRAME_DATA]
        str     r2, [sp, #FRAME_END]
        str     r3, [sp, #FRAME_TOP]
        ldm     r0, {r0-r8}             @ STATE_R and STATE_H: r in r0..r3, h in h0..h4
        mov     mul0, r0
        str     r1, [sp, #FRAME_R1]
        str     r2, [sp, #FRAME_R2]
        str     r3, [sp, #FRAME_R3]
        add     r1, r1, r1, lsr #2      @ f_i = r_i + r_i / 4 < 1.25 * 2^28
        add     r2, r2, r2, lsr #2
        add     r3, r3, r3, lsr #2
        str     r1, [sp, #FRAME_F + 0]
        str     r2, [sp, #FRAME_F + 4]
        str     r3, [sp, #FRAME_F + 8]
        ldm     sp, {data, end, f1_r1, f2_r2, f3_r3, top}
.Lblock:
        ADD_BLOCK
        MULTIPLY_BY_R
        FOLD_MOD_P
        ldm     sp, {data, end, f1_r1, f2_r2, f3_r3, top}
        cmp     data, end
        bne     .Lblock

        ldr     r0, [sp, #FRAME_CTX]
        add     r0, r0, #STATE_H
        stm     r0, {h0, h1, h2, h3, h4}
        add     sp, sp, #FRAME_BYTES
        pop     {r4-r11, pc}
FUNCTION_END poly1305_blocks_armv7

        .unreq  data
        .unreq  end
        .unreq  mul0
        .unreq  top
        .unreq  fold

/* init(ctx, key) */
ctx     .req    r0
key     .req    r1

FUNCTION poly1305_init_armv7, 2
        push    {r4, r5}
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
        stm     ctx, {r2-r5}
        /* s is kept for final */
        ldr     r2, [key, #16]
        ldr     r3, [key, #20]
        ldr     r4, [key, #24]
        ldr     r5, [key, #28]
        add     r12, ctx, #STATE_S
        stm     r12, {r2-r5}
        /* h = 0, nothing waits */
        mov     r2, #0
        str     r2, [ctx, #STATE_H + 0]
        str     r2, [ctx, #STATE_H + 4]
        str     r2, [ctx, #STATE_H + 8]
        str     r2, [ctx, #STATE_H + 12]
        str     r2, [ctx, #STATE_H + 16]
        str     r2, [ctx, #STATE_USED]
        pop     {r4, r5}
        bx      lr
FUNCTION_END poly1305_init_armv7

        .unreq  ctx
        .unreq  key

/* update(ctx, data, len): whole blocks are taken from where they lie, what remains waits in the buffer. */
ctx     .req    r4
data    .req    r5
len     .req    r6
used    .req    r7

FUNCTION poly1305_update_armv7, 2
        push    {r3-r7, lr}             @ r3 only keeps sp a multiple of 8
        mov     ctx, r0
        mov     data, r1
        mov     len, r2
        ldr     used, [ctx, #STATE_USED]
.Lnext_piece:
        cmp     len, #0
        beq     .Lupdate_end
        cmp     used, #0
        bne     .Lbuffer
        bics    r2, len, #15
        beq     .Lbuffer
        /* all whole blocks */
        mov     r0, ctx
        mov     r1, data
        add     data, data, r2
        mov     r2, data
        mov     r3, #1
        and     len, len, #15
        bl      poly1305_blocks_armv7
        b       .Lnext_piece
.Lbuffer:
        add     r1, ctx, #STATE_BUFFER
        add     r1, r1, used
.Lbuffer_byte:
        ldrb    r0, [data], #1
        strb    r0, [r1], #1
        add     used, used, #1
        sub     len, len, #1
        cmp     used, #16
        beq     .Lbuffer_full
        cmp     len, #0
        bne     .Lbuffer_byte
        b       .Lupdate_end
.Lbuffer_full:
        mov     r0, ctx
        mov     r2, r1                  @ the buffer's end
        sub     r1, r1, #16
        mov     r3, #1
        mov     used, #0
        bl      poly1305_blocks_armv7
        b       .Lnext_piece
.Lupdate_end:
        str     used, [ctx, #STATE_USED]
        pop     {r3-r7, pc}
FUNCTION_END poly1305_update_armv7

        .unreq  ctx
        .unreq  data
        .unreq  len
        .unreq  used

/* final(ctx, tag) */
ctx     .req    r9
tag     .req    r10
carry   .req    r11

FUNCTION poly1305_final_armv7, 2
        push    {r3-r11, lr}            @ r3 only keeps sp a multiple of 8
        mov     ctx, r0
        mov     tag, r1

        /* the last, incomplete block: a byte 1 and zeros up to 16, without the 2^128 bit */
        ldr     r2, [ctx, #STATE_USED]
        cmp     r2, #0
        beq     .Lno_partial
        add     r1, ctx, #STATE_BUFFER
        add     r2, r1, r2
        mov     r3, #1
        str     r3, [r2], #4
        mov     r3, #0
        str     r3, [r2], #4
        str     r3, [r2], #4
        str     r3, [r2]
        add     r2, r1, #16
        bl      poly1305_blocks_armv7
.Lno_partial:
        /* final reduction: h < 2p; carry becomes 1 exactly when h + 5 >= 2^130, that is when h >= p */
        add     r0, ctx, #STATE_H
        ldm     r0, {h0, h1, h2, h3, h4}
        adds    r0, h0, #5
        adcs    r0, h1, #0
        adcs    r0, h2, #0
        adcs    r0, h3, #0
        adc     r0, h4, #0
        mov     carry, r0, lsr #2       @ h + 5 < 2^130 + 2^33: 0 or 1
        add     carry, carry, carry, lsl #2
        adds    h0, h0, carry           @ h - p = h + 5 - 2^130, and 2^130 does not reach the tag
        adcs    h1, h1, #0
        adcs    h2, h2, #0
        adc     h3, h3, #0

        /* add s modulo 2^128 */
        add     r12, ctx, #STATE_S
        ldm     r12, {r0-r3}
        adds    h0, h0, r0
        adcs    h1, h1, r1
        adcs    h2, h2, r2
        adc     h3, h3, r3
        str     h0, [tag, #0]
        str     h1, [tag, #4]
        str     h2, [tag, #8]
        str     h3, [tag, #12]
        pop     {r3-r11, pc}
FUNCTION_END poly1305_final_armv7
