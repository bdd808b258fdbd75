/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "chacha20"
variant   = "neon"
arch      = "aarch64"
provides  = ["xor"]
requires  = ["neon"]
priority  = 20
constant_time = true
wipes     = true
cites     = ["RFC 8439 2.1-2.4"]
*/
/*
 * ChaCha20 in Advanced SIMD: 256 bytes at a time, four blocks side by side; what is left, one block at a time.
 *
 * void chacha20_xor_neon(uint8_t *out, const uint8_t *data, size_t len,
 *                        const uint8_t key[32], const uint8_t nonce[12], uint32_t counter);
 *
 * Wide step: each register holds one word of the state, lane i that of block i. The sixteen words are spread over
 * the lanes from the plain state in the frame (ld4r), once to start and once for the feed-forward. Afterwards each
 * four words are transposed into four 16-byte pieces, one of each block.
 * Narrow step: each register holds four words of one block, a row of the RFC's 4 x 4 state; for the diagonal round
 * the rows are turned by one, two and three words.
 * Rotations by 16 and 8 move bytes (rev32, tbl); those by 12 and 7 are a shift and an inserting shift.
 *
 * Registers: v0-v7 and v16-v29, none that a caller expects to keep; x18 is not used.
 * Alignment and aliasing: data, out, key and nonce are touched by ld1, st1, ldr and byte moves, at any address. Data
 * is loaded before the same bytes of out are stored, so out == data is allowed; other overlap is not. Nothing is
 * read or written beyond len, nor below sp.
 *
 * To review: all additions to the counter are 32 bits wide: `add` in w5, and `add .4s` with addends 0, 1, 2, 3 in
 * the four lanes of word 12 (twice: before the rounds and in the feed-forward) or 1, 0, 0, 0 on the narrow row. Each
 * wraps modulo 2^32 without touching its neighbour. The upper half of x5 is never used. Branches depend on len only.
 */
#include "shared/assembly.h"

/* Arguments: out, data and len advance; the counter is that of the next block. */
p_out   .req x0
p_data  .req x1
left    .req x2
p_key   .req x3
p_nonce .req x4
counter .req w5
pointer .req x6
rounds  .req w7
byte    .req w8
stream  .req w9

/* Frame: offsets from sp. */
#define STATE   0                       /* the 16 words of the next block */
#define PARTIAL 64                      /* 64 bytes of key stream for the last partial block */
#define FRAME   128

/* Wide step: words 0..7 are v0 .. v7, words 8..15 are v16 .. v23; v24 .. v27 are temporary. */
/* Narrow step: rows in v0 .. v3, their start in v16 .. v19; v24 .. v27 are temporary. */
/* Both: v28 is left_8; v29 is lane_number, then one_block. */

        .section .rodata
        .p2align 4
constants:                              /* "expand 32-byte k" */
        .word   0x61707865, 0x3320646e, 0x79622d32, 0x6b206574
left_8:                                 /* tbl: each word rotated left by 8 */
        .byte   3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14
lane_number:
        .word   0, 1, 2, 3
one_block:
        .word   1, 0, 0, 0

        .text

/* RFC 8439 2.1, on one word per lane. */
.macro QUARTER_ROUND a, b, c, d, t
        add     \a\().4s, \a\().4s, \b\().4s
        eor     \d\().16b, \d\().16b, \a\().16b
        rev32   \d\().8h, \d\().8h
        add     \c\().4s, \c\().4s, \d\().4s
        eor     \t\().16b, \b\().16b, \c\().16b
        shl     \b\().4s, \t\().4s, #12
        sri     \b\().4s, \t\().4s, #20
        add     \a\().4s, \a\().4s, \b\().4s
        eor     \d\().16b, \d\().16b, \a\().16b
        tbl     \d\().16b, {\d\().16b}, v28.16b
        add     \c\().4s, \c\().4s, \d\().4s
        eor     \t\().16b, \b\().16b, \c\().16b
        shl     \b\().4s, \t\().4s, #7
        sri     \b\().4s, \t\().4s, #25
.endm

/* One step of four quarter rounds: sum += addend. */
.macro ADD_TO s0, s1, s2, s3, a0, a1, a2, a3
        add     \s0\().4s, \s0\().4s, \a0\().4s
        add     \s1\().4s, \s1\().4s, \a1\().4s
        add     \s2\().4s, \s2\().4s, \a2\().4s
        add     \s3\().4s, \s3\().4s, \a3\().4s
.endm
/* word ^= sum, into v24 .. v27 or in place */
.macro EOR_TO t0, t1, t2, t3, w0, w1, w2, w3, s0, s1, s2, s3
        eor     \t0\().16b, \w0\().16b, \s0\().16b
        eor     \t1\().16b, \w1\().16b, \s1\().16b
        eor     \t2\().16b, \w2\().16b, \s2\().16b
        eor     \t3\().16b, \w3\().16b, \s3\().16b
.endm
.macro LEFT_16 w0, w1, w2, w3
        rev32   \w0\().8h, \w0\().8h
        rev32   \w1\().8h, \w1\().8h
        rev32   \w2\().8h, \w2\().8h
        rev32   \w3\().8h, \w3\().8h
.endm
.macro LEFT_8 w0, w1, w2, w3
        tbl     \w0\().16b, {\w0\().16b}, v28.16b
        tbl     \w1\().16b, {\w1\().16b}, v28.16b
        tbl     \w2\().16b, {\w2\().16b}, v28.16b
        tbl     \w3\().16b, {\w3\().16b}, v28.16b
.endm
/* word = (word ^ sum) <<< n, 0 < n < 32 */
.macro EOR_ROTATE w0, w1, w2, w3, s0, s1, s2, s3, n
        EOR_TO  v24, v25, v26, v27, \w0, \w1, \w2, \w3, \s0, \s1, \s2, \s3
        shl     \w0\().4s, v24.4s, #\n
        shl     \w1\().4s, v25.4s, #\n
        shl     \w2\().4s, v26.4s, #\n
        shl     \w3\().4s, v27.4s, #\n
        sri     \w0\().4s, v24.4s, #32-\n
        sri     \w1\().4s, v25.4s, #32-\n
        sri     \w2\().4s, v26.4s, #32-\n
        sri     \w3\().4s, v27.4s, #32-\n
.endm

/* A round: four quarter rounds in turns; the words a, then b, c, d of each. */
.macro ROUND a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3
        ADD_TO  \a0, \a1, \a2, \a3, \b0, \b1, \b2, \b3
        EOR_TO  \d0, \d1, \d2, \d3, \d0, \d1, \d2, \d3, \a0, \a1, \a2, \a3
        LEFT_16 \d0, \d1, \d2, \d3
        ADD_TO  \c0, \c1, \c2, \c3, \d0, \d1, \d2, \d3
        EOR_ROTATE \b0, \b1, \b2, \b3, \c0, \c1, \c2, \c3, 12
        ADD_TO  \a0, \a1, \a2, \a3, \b0, \b1, \b2, \b3
        EOR_TO  \d0, \d1, \d2, \d3, \d0, \d1, \d2, \d3, \a0, \a1, \a2, \a3
        LEFT_8  \d0, \d1, \d2, \d3
        ADD_TO  \c0, \c1, \c2, \c3, \d0, \d1, \d2, \d3
        EOR_ROTATE \b0, \b1, \b2, \b3, \c0, \c1, \c2, \c3, 7
.endm

/* The next four words of the state, at pointer, are added to w0 .. w3. */
.macro FEED_FORWARD w0, w1, w2, w3
        ld4r    {v24.4s-v27.4s}, [pointer], #16
        ADD_TO  \w0, \w1, \w2, \w3, v24, v25, v26, v27
.endm

/* Four words of four blocks in w0 .. w3 become the pieces of blocks 0 .. 3. */
.macro TRANSPOSE w0, w1, w2, w3
        trn1    v24.4s, \w0\().4s, \w1\().4s    /* words 0, 1 of blocks 0 and 2 */
        trn2    v25.4s, \w0\().4s, \w1\().4s    /* of blocks 1 and 3 */
        trn1    v26.4s, \w2\().4s, \w3\().4s    /* words 2, 3 of blocks 0 and 2 */
        trn2    v27.4s, \w2\().4s, \w3\().4s
        trn1    \w0\().2d, v24.2d, v26.2d
        trn1    \w1\().2d, v25.2d, v27.2d
        trn2    \w2\().2d, v24.2d, v26.2d
        trn2    \w3\().2d, v25.2d, v27.2d
.endm

/* One block: 64 bytes of data ^ p0 .. p3, through v24 .. v27. */
.macro XOR_BLOCK p0, p1, p2, p3
        ld1     {v24.16b-v27.16b}, [p_data], #64
        EOR_TO  v24, v25, v26, v27, v24, v25, v26, v27, \p0, \p1, \p2, \p3
        st1     {v24.16b-v27.16b}, [p_out], #64
.endm

FUNCTION chacha20_xor_neon
        cbz     left, .Lreturn
        sub     sp, sp, #FRAME

        /* The rows of the state: counter and nonce word by word, without reading beyond the nonce. */
        adrp    pointer, constants
        add     pointer, pointer, #:lo12:constants
        ldp     q16, q28, [pointer]             /* constants, left_8 */
        ld1     {v17.16b, v18.16b}, [p_key]
        fmov    s19, counter
        ld1     {v19.s}[1], [p_nonce], #4
        ld1     {v19.s}[2], [p_nonce], #4
        ld1     {v19.s}[3], [p_nonce]
        cmp     left, #256
        b.lo    .Lnarrow

        st1     {v16.16b-v19.16b}, [sp]
        ldr     q29, [pointer, #lane_number - constants]
.Lwide:
        mov     pointer, sp
        ld4r    {v0.4s-v3.4s}, [pointer], #16
        ld4r    {v4.4s-v7.4s}, [pointer], #16
        ld4r    {v16.4s-v19.4s}, [pointer], #16
        ld4r    {v20.4s-v23.4s}, [pointer]
        add     v20.4s, v20.4s, v29.4s
        mov     rounds, #10
.Lwide_rounds:
        /* column round */
        ROUND   v0, v1, v2, v3, v4, v5, v6, v7, v16, v17, v18, v19, v20, v21, v22, v23
        /* diagonal round */
        ROUND   v0, v1, v2, v3, v5, v6, v7, v4, v18, v19, v16, v17, v23, v20, v21, v22
        subs    rounds, rounds, #1
        b.ne    .Lwide_rounds

        mov     pointer, sp
        FEED_FORWARD v0, v1, v2, v3
        FEED_FORWARD v4, v5, v6, v7
        FEED_FORWARD v16, v17, v18, v19
        FEED_FORWARD v20, v21, v22, v23
        add     v20.4s, v20.4s, v29.4s
        TRANSPOSE v0, v1, v2, v3
        TRANSPOSE v4, v5, v6, v7
        TRANSPOSE v16, v17, v18, v19
        TRANSPOSE v20, v21, v22, v23
        XOR_BLOCK v0, v4, v16, v20
        XOR_BLOCK v1, v5, v17, v21
        XOR_BLOCK v2, v6, v18, v22
        XOR_BLOCK v3, v7, v19, v23

        add     counter, counter, #4
        str     counter, [sp, #STATE + 4 * 12]
        sub     left, left, #256
        cmp     left, #256
        b.hs    .Lwide
        cbz     left, .Ldone
        ld1     {v16.16b-v19.16b}, [sp]

        /* 1..255 bytes are left. */
.Lnarrow:
        adrp    pointer, one_block
        ldr     q29, [pointer, #:lo12:one_block]
.Lblock:
        mov     v0.16b, v16.16b
        mov     v1.16b, v17.16b
        mov     v2.16b, v18.16b
        mov     v3.16b, v19.16b
        mov     rounds, #10
.Lblock_rounds:
        /* column round */
        QUARTER_ROUND v0, v1, v2, v3, v24
        ext     v1.16b, v1.16b, v1.16b, #4      /* words 5 6 7 4 */
        ext     v2.16b, v2.16b, v2.16b, #8      /* words 10 11 8 9 */
        ext     v3.16b, v3.16b, v3.16b, #12     /* words 15 12 13 14 */
        /* diagonal round */
        QUARTER_ROUND v0, v1, v2, v3, v24
        ext     v1.16b, v1.16b, v1.16b, #12
        ext     v2.16b, v2.16b, v2.16b, #8
        ext     v3.16b, v3.16b, v3.16b, #4
        subs    rounds, rounds, #1
        b.ne    .Lblock_rounds

        ADD_TO  v0, v1, v2, v3, v16, v17, v18, v19      /* feed-forward */
        add     v19.4s, v19.4s, v29.4s
        cmp     left, #64
        b.lo    .Lpartial
        XOR_BLOCK v0, v1, v2, v3
        subs    left, left, #64
        b.ne    .Lblock
        b       .Ldone

        /* 1..63 bytes are left, sixteen at a time and then one. */
.Lpartial:
        add     pointer, sp, #PARTIAL
        st1     {v0.16b-v3.16b}, [pointer]
        subs    left, left, #16
        b.lo    .Lbytes
.Lsixteen:
        ldr     q0, [p_data], #16
        ldr     q1, [pointer], #16
        eor     v0.16b, v0.16b, v1.16b
        str     q0, [p_out], #16
        subs    left, left, #16
        b.hs    .Lsixteen
.Lbytes:
        adds    left, left, #16
        b.eq    .Ldone
.Lbyte:
        ldrb    byte, [p_data], #1
        ldrb    stream, [pointer], #1
        eor     byte, byte, stream
        strb    byte, [p_out], #1
        subs    left, left, #1
        b.ne    .Lbyte

.Ldone:
        /* nothing of key or key stream stays behind */
        movi    v0.16b, #0
        .irp    part, 0, 32, 64, 96
        stp     q0, q0, [sp, #\part]
        .endr
        add     sp, sp, #FRAME
.Lreturn:
        ret
FUNCTION_END chacha20_xor_neon
