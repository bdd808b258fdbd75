/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "chacha20"
variant   = "neon"
arch      = "arm32"
provides  = ["xor"]
requires  = ["neon"]
priority  = 20
constant_time = true
cites     = ["RFC 8439 2.1-2.4"]
*/
/*
 * ChaCha20 in NEON: 256 bytes at a time, four blocks side by side; what is left, one block at a time. ARM or Thumb-2,
 * interworking.
 *
 * void chacha20_xor_neon(uint8_t *out, const uint8_t *data, size_t len,
 *                        const uint8_t key[32], const uint8_t nonce[12], uint32_t counter);
 *
 * Wide step: each q register holds one word of the state, lane i that of block i. Fourteen words and two temporaries
 * fill the registers: the pairs 8, 9 and 10, 11 share q8 and q9 and change places in the middle of each round.
 * Afterwards each four words are transposed into four 16-byte pieces, one of each block.
 * Narrow step: each register holds four words of one block, a row of the RFC's 4 x 4 state; for the diagonal round
 * the rows are turned by one, two and three words.
 * A rotation by 16 swaps half-words (vrev32); the others are a shift and an inserting shift.
 *
 * Alignment and aliasing: data and out are touched by vld1.8 and vst1.8 without alignment, ldrb and strb, key by
 * vld1.8, nonce by ldr: any address will do. Aligned accesses go to the frame, which the function aligns to 16
 * itself, and to the constants. Data is loaded before the same bytes of out are stored, so out == data is allowed;
 * other overlap is not. Nothing is read or written beyond len. d8-d15 are saved and restored.
 *
 * To review: all additions to the counter are vadd.i32, with addends 0, 1, 2, 3 and then 4 in the four lanes of
 * word 12, or 1, 0, 0, 0 on the narrow row, and one `add` in r4: each wraps modulo 2^32 without touching its
 * neighbour. Branches depend on len only.
 */
#include "shared/assembly.h"

        .text

/* Frame: offsets from sp, a multiple of 16. */
#define SPLAT   0                       /* 16 x 16: word n in all lanes; word 12 in lane i is the counter plus i */
#define CD_LOW  256                     /* words 8, 9 while 10, 11 are in the registers they share */
#define CD_HIGH 288                     /* words 10, 11 while 8, 9 are there */
#define ROWS    320                     /* 4 x 16: the state for the narrow step; word 12 is stored when that begins */
#define PARTIAL 384                     /* 64 bytes of key stream for the last partial block */
#define FRAME   448
#define ARG_NONCE   88                  /* from old_sp: r4-r8, lr and d8-d15 lie between */
#define ARG_COUNTER 92

/* Arguments: out, data and len advance; the counter is that of the next block. */
p_out    .req r0
p_data   .req r1
left     .req r2
p_key    .req r3                        /* only until the state is made */
stride   .req r3                        /* then 64: the distance of a piece from that of the next block */
counter  .req r4
cd_low   .req r5
cd_high  .req r6
old_sp   .req r7
rounds   .req r8
pointer  .req r12

/* Wide step. */
x0       .qn q0
x1       .qn q1
x2       .qn q2
x3       .qn q3
x4       .qn q4
x5       .qn q5
x6       .qn q6
x7       .qn q7
even     .qn q8                         /* word 8 or 10 */
odd      .qn q9                         /* word 9 or 11 */
temp0    .qn q10
temp1    .qn q11
x12      .qn q12
x13      .qn q13
x14      .qn q14
x15      .qn q15

/* Narrow step. */
row0     .qn q0
row1     .qn q1
row2     .qn q2
row3     .qn q3
start0   .qn q12
start1   .qn q13
start2   .qn q14
start3   .qn q15

        .p2align 4
constants:                              /* "expand 32-byte k" */
        .word   0x61707865, 0x3320646e, 0x79622d32, 0x6b206574
lane_number:
        .word   0, 1, 2, 3
one_block:
        .word   1, 0, 0, 0

/* RFC 8439 2.1, on one word per lane. */
.macro QUARTER_ROUND a, b, c, d, t
        vadd.i32 \a, \a, \b
        veor    \d, \d, \a
        vrev32.16 \d, \d                /* d <<<= 16 */
        vadd.i32 \c, \c, \d
        veor    \t, \b, \c
        vshl.i32 \b, \t, #12            /* b <<<= 12 */
        vsri.32 \b, \t, #20
        vadd.i32 \a, \a, \b
        veor    \t, \d, \a
        vshl.i32 \d, \t, #8             /* d <<<= 8 */
        vsri.32 \d, \t, #24
        vadd.i32 \c, \c, \d
        veor    \t, \b, \c
        vshl.i32 \b, \t, #7             /* b <<<= 7 */
        vsri.32 \b, \t, #25
.endm

/* word <<<= n of two words given as word ^ sum, 0 < n < 32 */
.macro EOR_ROTATE word0, sum0, word1, sum1, n
        veor    temp0, \word0, \sum0
        veor    temp1, \word1, \sum1
        vshl.i32 \word0, temp0, #\n
        vshl.i32 \word1, temp1, #\n
        vsri.32 \word0, temp0, #32-\n
        vsri.32 \word1, temp1, #32-\n
.endm

/* Two quarter rounds in turns. */
.macro TWO_QUARTER_ROUNDS a0, b0, c0, d0, a1, b1, c1, d1
        vadd.i32 \a0, \a0, \b0
        vadd.i32 \a1, \a1, \b1
        veor    \d0, \d0, \a0
        veor    \d1, \d1, \a1
        vrev32.16 \d0, \d0
        vrev32.16 \d1, \d1
        vadd.i32 \c0, \c0, \d0
        vadd.i32 \c1, \c1, \d1
        EOR_ROTATE \b0, \c0, \b1, \c1, 12
        vadd.i32 \a0, \a0, \b0
        vadd.i32 \a1, \a1, \b1
        EOR_ROTATE \d0, \a0, \d1, \a1, 8
        vadd.i32 \c0, \c0, \d0
        vadd.i32 \c1, \c1, \d1
        EOR_ROTATE \b0, \c0, \b1, \c1, 7
.endm

/* Adds the next two words of SPLAT at pointer, through t0 and t1, whose d registers are d_first .. d_last. */
.macro FEED_FORWARD word0, word1, t0, t1, d_first, d_last
        vld1.32 {\d_first-\d_last}, [pointer:128]!
        vadd.i32 \word0, \word0, \t0
        vadd.i32 \word1, \word1, \t1
.endm

/* Four words of four blocks in w0 .. w3 become the pieces of blocks 0 .. 3. The halves of w0 .. w3 needed by name. */
.macro TRANSPOSE w0, w1, w2, w3, w0_high, w1_high, w2_low, w3_low
        vtrn.32 \w0, \w1                /* words 0, 1 of blocks 0 and 2, of blocks 1 and 3 */
        vtrn.32 \w2, \w3                /* words 2, 3 likewise */
        vswp    \w0_high, \w2_low
        vswp    \w1_high, \w3_low
.endm

/* 32 bytes of one block through q10 and q11, then on to the next block. */
.macro XOR_32 low, high
        vld1.8  {d20-d23}, [p_data], stride
        veor    q10, q10, \low
        veor    q11, q11, \high
        vst1.8  {d20-d23}, [p_out], stride
.endm

FUNCTION chacha20_xor_neon
        cmp     left, #0
        it      eq
        bxeq    lr
        push    {r4-r8, lr}
        vpush   {d8-d15}
        mov     old_sp, sp
        sub     pointer, sp, #FRAME
        bic     pointer, pointer, #15   /* which Thumb-2 cannot do to sp itself */
        mov     sp, pointer

        /* The rows of the state. */
        adr     pointer, constants
        vld1.32 {start0}, [pointer:128]
        vld1.8  {d26-d29}, [p_key]      /* start1, start2 */
        ldr     pointer, [old_sp, #ARG_NONCE]
        ldr     counter, [old_sp, #ARG_COUNTER]
        ldr     r5, [pointer]
        ldr     r6, [pointer, #4]
        ldr     r8, [pointer, #8]
        vmov    d30, counter, r5        /* start3 */
        vmov    d31, r6, r8
        cmp     left, #256
        blo     .Lnarrow

        /* Each word into all lanes of a register of its own: start0 .. start3 are overwritten last. */
        add     pointer, sp, #ROWS
        vst1.32 {d24-d27}, [pointer:128]!
        vst1.32 {d28-d31}, [pointer:128]
        vdup.32 q0, d24[0]
        vdup.32 q1, d24[1]
        vdup.32 q2, d25[0]
        vdup.32 q3, d25[1]
        vdup.32 q4, d26[0]
        vdup.32 q5, d26[1]
        vdup.32 q6, d27[0]
        vdup.32 q7, d27[1]
        vdup.32 q8, d28[0]
        vdup.32 q9, d28[1]
        vdup.32 q10, d29[0]
        vdup.32 q11, d29[1]
        vdup.32 q12, d30[0]
        vdup.32 q13, d30[1]
        vdup.32 q14, d31[0]
        vdup.32 q15, d31[1]
        mov     pointer, sp
        vstmia  pointer!, {d0-d15}
        vstmia  pointer, {d16-d31}
        adr     pointer, lane_number
        vld1.32 {q0}, [pointer:128]
        vadd.i32 x12, x12, q0
        add     pointer, sp, #SPLAT + 16 * 12
        vst1.32 {x12}, [pointer:128]
        add     cd_low, sp, #CD_LOW
        add     cd_high, sp, #CD_HIGH
        mov     stride, #64

.Lwide:
        mov     pointer, sp
        vldmia  pointer!, {d0-d15}
        vldmia  pointer, {d16-d31}
        vst1.32 {d20-d23}, [cd_high:128] /* words 10, 11 make room for the temporaries */
        mov     rounds, #10
.Lwide_rounds:
        /* column round */
        TWO_QUARTER_ROUNDS x0, x4, even, x12, x1, x5, odd, x13
        vst1.32 {d16-d19}, [cd_low:128]
        vld1.32 {d16-d19}, [cd_high:128]
        TWO_QUARTER_ROUNDS x2, x6, even, x14, x3, x7, odd, x15
        /* diagonal round */
        TWO_QUARTER_ROUNDS x0, x5, even, x15, x1, x6, odd, x12
        vst1.32 {d16-d19}, [cd_high:128]
        vld1.32 {d16-d19}, [cd_low:128]
        TWO_QUARTER_ROUNDS x2, x7, even, x13, x3, x4, odd, x14
        subs    rounds, rounds, #1
        bne     .Lwide_rounds

        /* Words 0..7: bytes 0..31 of the blocks. */
        mov     pointer, sp
        FEED_FORWARD q0, q1, q10, q11, d20, d23
        FEED_FORWARD q2, q3, q10, q11, d20, d23
        FEED_FORWARD q4, q5, q10, q11, d20, d23
        FEED_FORWARD q6, q7, q10, q11, d20, d23
        TRANSPOSE q0, q1, q2, q3, d1, d3, d4, d6
        TRANSPOSE q4, q5, q6, q7, d9, d11, d12, d14
        XOR_32  q0, q4
        XOR_32  q1, q5
        XOR_32  q2, q6
        XOR_32  q3, q7
        sub     p_data, p_data, #256-32
        sub     p_out, p_out, #256-32

        /* Words 8..15: bytes 32..63. q0 .. q7 are free now; words 10, 11 come into q2, q3. */
        vld1.32 {d4-d7}, [cd_high:128]
        FEED_FORWARD q8, q9, q10, q11, d20, d23
        FEED_FORWARD q2, q3, q10, q11, d20, d23
        FEED_FORWARD q12, q13, q10, q11, d20, d23
        FEED_FORWARD q14, q15, q10, q11, d20, d23
        TRANSPOSE q8, q9, q2, q3, d17, d19, d4, d6
        TRANSPOSE q12, q13, q14, q15, d25, d27, d28, d30
        XOR_32  q8, q12
        XOR_32  q9, q13
        XOR_32  q2, q14
        XOR_32  q3, q15
        sub     p_data, p_data, #32
        sub     p_out, p_out, #32

        /* The next four counters. */
        add     pointer, sp, #SPLAT + 16 * 12
        vld1.32 {q0}, [pointer:128]
        vmov.i32 q1, #4
        vadd.i32 q0, q0, q1
        vst1.32 {q0}, [pointer:128]
        add     counter, counter, #4
        sub     left, left, #256
        cmp     left, #256
        bhs     .Lwide

        cmp     left, #0
        beq     .Ldone
        add     pointer, sp, #ROWS
        str     counter, [pointer, #48]
        vld1.32 {d24-d27}, [pointer:128]!
        vld1.32 {d28-d31}, [pointer:128]

        /* 1..255 bytes are left. */
.Lnarrow:
        FAR_ADR pointer, one_block
        vld1.32 {q9}, [pointer:128]
.Lblock:
        vmov    row0, start0
        vmov    row1, start1
        vmov    row2, start2
        vmov    row3, start3
        mov     rounds, #10
.Lblock_rounds:
        /* column round */
        QUARTER_ROUND row0, row1, row2, row3, q8
        vext.32 row1, row1, row1, #1    /* words 5 6 7 4 */
        vext.32 row2, row2, row2, #2    /* words 10 11 8 9 */
        vext.32 row3, row3, row3, #3    /* words 15 12 13 14 */
        /* diagonal round */
        QUARTER_ROUND row0, row1, row2, row3, q8
        vext.32 row1, row1, row1, #3
        vext.32 row2, row2, row2, #2
        vext.32 row3, row3, row3, #1
        subs    rounds, rounds, #1
        bne     .Lblock_rounds

        /* feed-forward */
        vadd.i32 row0, row0, start0
        vadd.i32 row1, row1, start1
        vadd.i32 row2, row2, start2
        vadd.i32 row3, row3, start3
        vadd.i32 start3, start3, q9
        cmp     left, #64
        blo     .Lpartial
        vld1.8  {d8-d11}, [p_data]!
        vld1.8  {d12-d15}, [p_data]!
        veor    q4, q4, row0
        veor    q5, q5, row1
        veor    q6, q6, row2
        veor    q7, q7, row3
        vst1.8  {d8-d11}, [p_out]!
        vst1.8  {d12-d15}, [p_out]!
        subs    left, left, #64
        bne     .Lblock
        b       .Ldone

        /* 1..63 bytes are left, sixteen at a time and then one. */
.Lpartial:
        add     pointer, sp, #PARTIAL
        vst1.32 {d0-d3}, [pointer:128]!
        vst1.32 {d4-d7}, [pointer:128]
        sub     pointer, pointer, #32
        subs    left, left, #16
        blo     .Lbytes
.Lsixteen:
        vld1.8  {q8}, [p_data]!
        vld1.32 {q9}, [pointer:128]!
        veor    q8, q8, q9
        vst1.8  {q8}, [p_out]!
        subs    left, left, #16
        bhs     .Lsixteen
.Lbytes:
        adds    left, left, #16
        beq     .Ldone
.Lbyte:
        ldrb    r5, [p_data], #1
        ldrb    r6, [pointer], #1
        eor     r5, r5, r6
        strb    r5, [p_out], #1
        subs    left, left, #1
        bne     .Lbyte

.Ldone:
        mov     sp, old_sp
        vpop    {d8-d15}
        pop     {r4-r8, pc}
FUNCTION_END chacha20_xor_neon
