/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "chacha20"
variant   = "ssse3"
arch      = "x86_64"
provides  = ["xor"]
requires  = ["ssse3"]
priority  = 20
constant_time = true
wipes     = true
cites     = ["RFC 8439 2.1-2.4"]
*/
/*
 * ChaCha20 in SSE2 and SSSE3: 256 bytes at a time, four blocks side by side; what is left, one block at a time.
 *
 * void chacha20_xor_ssse3(uint8_t *out, const uint8_t *data, size_t len,
 *                         const uint8_t key[32], const uint8_t nonce[12], uint32_t counter);
 *
 * Wide step: each register holds one word of the state, lane i that of block i. Sixteen words and one temporary are
 * one too many, so words 8 and 10 share a register and change places in the middle of each round. Afterwards each
 * four words are transposed into four 16-byte pieces, one of each block.
 * Narrow step: each register holds four words of one block, a row of the RFC's 4 x 4 state; for the diagonal round
 * the rows are turned by one, two and three words.
 * Rotations by 16 and 8 move bytes (pshufb); those by 12 and 7 are two shifts.
 *
 * Alignment and aliasing: out, data, key and nonce are touched only by movdqu, movq, movd and byte moves; aligned
 * operands are constants and the frame, which the function aligns by the ABI's rule. Every 16 bytes of data are
 * loaded before the same 16 of out are stored, so out == data is allowed; other overlap is not. Nothing is read or
 * written beyond len, nor below rsp.
 *
 * To review: all additions to the counter are 32 bits wide: paddd for the four lanes of SPLAT + 12 and for lane 0 of
 * the narrow row, where the other addends are 0; `add r9d`. Each wraps modulo 2^32 without touching its neighbour.
 * The upper half of r9 is never used. Branches depend on len only.
 */
#include "shared/assembly.h"

        .intel_syntax noprefix

/* Arguments: out, data and len advance; the counter is that of the next block. */
#define p_out   rdi
#define p_data  rsi
#define left    rdx
#define p_key   rcx
#define p_nonce r8
#define counter r9d
#define rounds  eax

/* Frame: offsets from rsp, a multiple of 16. */
#define SPLAT   0                       /* 16 x 16: word n in all lanes; word 12 in lane i is the counter plus i */
#define WORD_8  256                     /* word 8 while word 10 is in the register they share */
#define WORD_10 272                     /* word 10 while word 8 is there */
#define KEY_LOW 288                     /* rows for the narrow step: words 4..7 */
#define KEY_HIGH 304                    /* words 8..11 */
#define NONCE   320                     /* words 12..15; word 12 is stored when the narrow steps begin */
#define PARTIAL 336                     /* 64 bytes of key stream for the last partial block */
#define FRAME   408                     /* 8 modulo 16, as rsp is on entry */

/* Wide step: word n is xn; x8 is word 8 or 10. */
#define x0      xmm0
#define x1      xmm1
#define x2      xmm2
#define x3      xmm3
#define x4      xmm4
#define x5      xmm5
#define x6      xmm6
#define x7      xmm7
#define x8      xmm8
#define x9      xmm9
#define x11     xmm10
#define x12     xmm11
#define x13     xmm12
#define x14     xmm13
#define x15     xmm14
#define temp    xmm15

/* Narrow step. */
#define row0    xmm0
#define row1    xmm1
#define row2    xmm2
#define row3    xmm3
#define ntemp   xmm4
#define turn16  xmm5
#define turn8   xmm6
#define start0  xmm8
#define start1  xmm9
#define start2  xmm10
#define start3  xmm11

        .section .rodata
        .p2align 4
constants:                              /* "expand 32-byte k" */
        .long   0x61707865, 0x3320646e, 0x79622d32, 0x6b206574
left_16:                                /* pshufb: each word rotated left by 16 */
        .byte   2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
left_8:                                 /* pshufb: each word rotated left by 8 */
        .byte   3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14
lane_number:
        .long   0, 1, 2, 3
four_blocks:
        .long   4, 4, 4, 4
one_block:
        .long   1, 0, 0, 0

        .text

/* word <<<= n for each lane, 0 < n < 32 */
.macro ROTATE_LEFT word, n, t
        movdqa  \t, \word
        pslld   \word, \n
        psrld   \t, 32 - \n
        por     \word, \t
.endm

/* RFC 8439 2.1, on one word per lane. m16, m8: the shuffles, in memory or in registers. */
.macro QUARTER_ROUND a, b, c, d, t, m16, m8
        paddd   \a, \b
        pxor    \d, \a
        pshufb  \d, \m16
        paddd   \c, \d
        pxor    \b, \c
        ROTATE_LEFT \b, 12, \t
        paddd   \a, \b
        pxor    \d, \a
        pshufb  \d, \m8
        paddd   \c, \d
        pxor    \b, \c
        ROTATE_LEFT \b, 7, \t
.endm

/* The same for two quarter rounds, in turns. */
.macro TWO_QUARTER_ROUNDS a0, b0, c0, d0, a1, b1, c1, d1
        paddd   \a0, \b0
        paddd   \a1, \b1
        pxor    \d0, \a0
        pxor    \d1, \a1
        pshufb  \d0, [rip + left_16]
        pshufb  \d1, [rip + left_16]
        paddd   \c0, \d0
        paddd   \c1, \d1
        pxor    \b0, \c0
        pxor    \b1, \c1
        ROTATE_LEFT \b0, 12, temp
        ROTATE_LEFT \b1, 12, temp
        paddd   \a0, \b0
        paddd   \a1, \b1
        pxor    \d0, \a0
        pxor    \d1, \a1
        pshufb  \d0, [rip + left_8]
        pshufb  \d1, [rip + left_8]
        paddd   \c0, \d0
        paddd   \c1, \d1
        pxor    \b0, \c0
        pxor    \b1, \c1
        ROTATE_LEFT \b0, 7, temp
        ROTATE_LEFT \b1, 7, temp
.endm

/* Words n .. n+3 of four blocks, in w0 .. w3: feed-forward, transpose, xor into out. Leaves w0 .. w3, t changed. */
.macro FINISH_FOUR n, w0, w1, w2, w3, t
        paddd   \w0, [rsp + SPLAT + 16 * (\n)]
        paddd   \w1, [rsp + SPLAT + 16 * (\n) + 16]
        paddd   \w2, [rsp + SPLAT + 16 * (\n) + 32]
        paddd   \w3, [rsp + SPLAT + 16 * (\n) + 48]
        movdqa  \t, \w0
        punpckldq \t, \w1               /* w0, w1 of blocks 0 and 1 */
        punpckhdq \w0, \w1              /* w0, w1 of blocks 2 and 3 */
        movdqa  \w1, \w2
        punpckldq \w1, \w3              /* w2, w3 of blocks 0 and 1 */
        punpckhdq \w2, \w3              /* w2, w3 of blocks 2 and 3 */
        movdqa  \w3, \t
        punpcklqdq \w3, \w1             /* block 0 */
        punpckhqdq \t, \w1              /* block 1 */
        movdqa  \w1, \w0
        punpcklqdq \w1, \w2             /* block 2 */
        punpckhqdq \w0, \w2             /* block 3 */
        XOR_16  4*\n, \w3, \w2
        XOR_16  4*\n+64, \t, \w3
        XOR_16  4*\n+128, \w1, \t
        XOR_16  4*\n+192, \w0, \w1
.endm

/* out[at .. at+15] = data[at .. at+15] ^ stream */
.macro XOR_16 at, stream, t
        movdqu  \t, [p_data + \at]
        pxor    \t, \stream
        movdqu  [p_out + \at], \t
.endm

/* Word n of a row in all lanes of SPLAT + word. */
.macro SPREAD word, row, n
        pshufd  temp, \row, 0x55 * (\n)
        movdqa  [rsp + SPLAT + 16 * (\word)], temp
.endm
.macro SPREAD_ROW word, row
        SPREAD  \word, \row, 0
        SPREAD  \word+1, \row, 1
        SPREAD  \word+2, \row, 2
        SPREAD  \word+3, \row, 3
.endm

FUNCTION chacha20_xor_ssse3
        test    left, left
        jz      .Lreturn
        sub     rsp, FRAME

        /* The rows of the state; twelve bytes of nonce behind a zero word, and the counter added to that. */
        movdqa  start0, [rip + constants]
        movdqu  start1, [p_key]
        movdqu  start2, [p_key + 16]
        movq    start3, qword ptr [p_nonce]
        movd    temp, dword ptr [p_nonce + 8]
        pslldq  start3, 4
        pslldq  temp, 12
        por     start3, temp
        movd    temp, counter
        por     start3, temp
        cmp     left, 256
        jb      .Lnarrow

        movdqa  [rsp + KEY_LOW], start1
        movdqa  [rsp + KEY_HIGH], start2
        movdqa  [rsp + NONCE], start3
        SPREAD_ROW 0, start0
        SPREAD_ROW 4, start1
        SPREAD_ROW 8, start2
        SPREAD_ROW 12, start3
        movdqa  temp, [rsp + SPLAT + 16 * 12]
        paddd   temp, [rip + lane_number]
        movdqa  [rsp + SPLAT + 16 * 12], temp

        .p2align 4
.Lwide:
        movdqa  x0, [rsp + SPLAT]
        movdqa  x1, [rsp + SPLAT + 16 * 1]
        movdqa  x2, [rsp + SPLAT + 16 * 2]
        movdqa  x3, [rsp + SPLAT + 16 * 3]
        movdqa  x4, [rsp + SPLAT + 16 * 4]
        movdqa  x5, [rsp + SPLAT + 16 * 5]
        movdqa  x6, [rsp + SPLAT + 16 * 6]
        movdqa  x7, [rsp + SPLAT + 16 * 7]
        movdqa  temp, [rsp + SPLAT + 16 * 10]
        movdqa  x8, [rsp + SPLAT + 16 * 8]
        movdqa  x9, [rsp + SPLAT + 16 * 9]
        movdqa  x11, [rsp + SPLAT + 16 * 11]
        movdqa  [rsp + WORD_10], temp
        movdqa  x12, [rsp + SPLAT + 16 * 12]
        movdqa  x13, [rsp + SPLAT + 16 * 13]
        movdqa  x14, [rsp + SPLAT + 16 * 14]
        movdqa  x15, [rsp + SPLAT + 16 * 15]
        mov     rounds, 10
        .p2align 4
.Lwide_rounds:
        /* column round */
        TWO_QUARTER_ROUNDS x0, x4, x8, x12, x1, x5, x9, x13
        movdqa  [rsp + WORD_8], x8
        movdqa  x8, [rsp + WORD_10]
        TWO_QUARTER_ROUNDS x2, x6, x8, x14, x3, x7, x11, x15
        /* diagonal round */
        TWO_QUARTER_ROUNDS x0, x5, x8, x15, x1, x6, x11, x12
        movdqa  [rsp + WORD_10], x8
        movdqa  x8, [rsp + WORD_8]
        TWO_QUARTER_ROUNDS x2, x7, x8, x13, x3, x4, x9, x14
        sub     rounds, 1
        jnz     .Lwide_rounds

        FINISH_FOUR 0, x0, x1, x2, x3, temp
        movdqa  x0, [rsp + WORD_10]
        FINISH_FOUR 4, x4, x5, x6, x7, temp
        FINISH_FOUR 8, x8, x9, x0, x11, temp
        FINISH_FOUR 12, x12, x13, x14, x15, temp

        movdqa  temp, [rsp + SPLAT + 16 * 12]
        paddd   temp, [rip + four_blocks]
        movdqa  [rsp + SPLAT + 16 * 12], temp
        add     counter, 4
        add     p_data, 256
        add     p_out, 256
        sub     left, 256
        cmp     left, 256
        jae     .Lwide

        test    left, left
        jz      .Ldone
        mov     dword ptr [rsp + NONCE], counter
        movdqa  start0, [rip + constants]
        movdqa  start1, [rsp + KEY_LOW]
        movdqa  start2, [rsp + KEY_HIGH]
        movdqa  start3, [rsp + NONCE]

        /* 1..255 bytes are left. */
.Lnarrow:
        movdqa  turn16, [rip + left_16]
        movdqa  turn8, [rip + left_8]
.Lblock:
        movdqa  row0, start0
        movdqa  row1, start1
        movdqa  row2, start2
        movdqa  row3, start3
        mov     rounds, 10
        .p2align 4
.Lblock_rounds:
        /* column round */
        QUARTER_ROUND row0, row1, row2, row3, ntemp, turn16, turn8
        pshufd  row1, row1, 0x39        /* words 5 6 7 4 */
        pshufd  row2, row2, 0x4e        /* words 10 11 8 9 */
        pshufd  row3, row3, 0x93        /* words 15 12 13 14 */
        /* diagonal round */
        QUARTER_ROUND row0, row1, row2, row3, ntemp, turn16, turn8
        pshufd  row1, row1, 0x93
        pshufd  row2, row2, 0x4e
        pshufd  row3, row3, 0x39
        sub     rounds, 1
        jnz     .Lblock_rounds

        /* feed-forward */
        paddd   row0, start0
        paddd   row1, start1
        paddd   row2, start2
        paddd   row3, start3
        paddd   start3, [rip + one_block]
        cmp     left, 64
        jb      .Lpartial
        XOR_16  0, row0, ntemp
        XOR_16  16, row1, ntemp
        XOR_16  32, row2, ntemp
        XOR_16  48, row3, ntemp
        add     p_data, 64
        add     p_out, 64
        sub     left, 64
        jnz     .Lblock
        jmp     .Ldone

        /* 1..63 bytes are left: rcx counts them, sixteen at a time and then one. */
.Lpartial:
        movdqa  [rsp + PARTIAL], row0
        movdqa  [rsp + PARTIAL + 16], row1
        movdqa  [rsp + PARTIAL + 32], row2
        movdqa  [rsp + PARTIAL + 48], row3
        xor     ecx, ecx
        sub     left, 16
        jb      .Lbytes
.Lsixteen:
        movdqu  ntemp, [p_data + rcx]
        pxor    ntemp, [rsp + PARTIAL + rcx]
        movdqu  [p_out + rcx], ntemp
        add     ecx, 16
        sub     left, 16
        jae     .Lsixteen
.Lbytes:
        add     left, 16
        jz      .Ldone
        add     left, rcx               /* now the end */
.Lbyte:
        movzx   eax, byte ptr [p_data + rcx]
        xor     al, byte ptr [rsp + PARTIAL + rcx]
        mov     byte ptr [p_out + rcx], al
        add     ecx, 1
        cmp     rcx, left
        jb      .Lbyte

.Ldone:
        /* nothing of key or key stream stays behind */
        pxor    ntemp, ntemp
        .set    part, 0
        .rept   25
        movdqa  [rsp + part], ntemp
        .set    part, part + 16
        .endr
        add     rsp, FRAME
.Lreturn:
        ret
FUNCTION_END chacha20_xor_ssse3
