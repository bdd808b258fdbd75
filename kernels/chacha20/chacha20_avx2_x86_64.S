/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "chacha20"
variant   = "avx2"
arch      = "x86_64"
provides  = ["xor"]
requires  = ["avx2"]
priority  = 30
min_bytes = { xor = 65 }
constant_time = true
wipes     = true
cites     = ["RFC 8439 2.1-2.4"]
*/
/*
 * ChaCha20 in AVX2: 512 bytes at a time, eight blocks side by side; what is left, two blocks at a time.
 *
 * void chacha20_xor_avx2(uint8_t *out, const uint8_t *data, size_t len,
 *                        const uint8_t key[32], const uint8_t nonce[12], uint32_t counter);
 *
 * Wide step: each register holds one word of the state, lane i that of block i. Sixteen words and one temporary are
 * one too many, so words 8 and 10 share a register and change places in the middle of each round. Afterwards each
 * four words are transposed within the 128-bit halves, which gives 16-byte pieces of blocks 0..3 in the low and of
 * blocks 4..7 in the high halves; two such pieces make 32 bytes of one block.
 * Narrow step: each half of a register holds four words of one block, a row of the RFC's 4 x 4 state; for the
 * diagonal round the rows are turned by one, two and three words.
 * Rotations by 16 and 8 move bytes (vpshufb); those by 12 and 7 are two shifts.
 * Up to 64 bytes the second block of a narrow step is wasted, and ssse3, which takes one block at a time, is faster.
 *
 * Alignment and aliasing: VEX operands may have any address; vmovdqa is used for constants and for the frame, which
 * the function aligns to 32 itself. Data is loaded before the same bytes of out are stored, so out == data is
 * allowed; other overlap is not. Nothing is read or written beyond len, nor below rsp. Every way out that has used
 * a ymm register passes one vzeroupper.
 *
 * To review: all additions to the counter are 32 bits wide: vpaddd for the eight lanes of SPLAT + 12 and for word 0
 * of both halves of the narrow row, where the other addends are 0; `add r9d`. Each wraps modulo 2^32 without touching
 * its neighbour. The upper half of r9 is never used. Branches depend on len only.
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
#define old_sp  r10

/* Frame: offsets from rsp, a multiple of 32. */
#define SPLAT   0                       /* 16 x 32: word n in all lanes; word 12 in lane i is the counter plus i */
#define WORD_8  512                     /* word 8 while word 10 is in the register they share */
#define WORD_10 544                     /* word 10 while word 8 is there */
#define KEY_LOW 576                     /* rows for the narrow step: words 4..7 twice */
#define KEY_HIGH 608                    /* words 8..11 twice */
#define NONCE   640                     /* words 12..15 once, in 32 bytes */
#define PARTIAL 672                     /* 128 bytes of key stream for the last one or two blocks */
#define FRAME   800

/* Wide step: word n is xn; x8 is word 8 or 10. */
#define x0      ymm0
#define x1      ymm1
#define x2      ymm2
#define x3      ymm3
#define x4      ymm4
#define x5      ymm5
#define x6      ymm6
#define x7      ymm7
#define x8      ymm8
#define x9      ymm9
#define x11     ymm10
#define x12     ymm11
#define x13     ymm12
#define x14     ymm13
#define x15     ymm14
#define temp    ymm15

/* Narrow step. */
#define row0    ymm0
#define row1    ymm1
#define row2    ymm2
#define row3    ymm3
#define ntemp   ymm4
#define row0_low xmm0
#define row1_low xmm1
#define row2_low xmm2
#define row3_low xmm3
#define ntemp_low xmm4
#define start0  ymm8
#define start1  ymm9
#define start2  ymm10
#define start3  ymm11

        .section .rodata
        .p2align 5
left_16:                                /* vpshufb: each word rotated left by 16 */
        .byte   2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
        .byte   2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
left_8:                                 /* vpshufb: each word rotated left by 8 */
        .byte   3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14
        .byte   3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14
lane_number:
        .long   0, 1, 2, 3, 4, 5, 6, 7
eight_blocks:
        .long   8, 8, 8, 8, 8, 8, 8, 8
zero_and_one:                           /* the two blocks of a narrow step */
        .long   0, 0, 0, 0, 1, 0, 0, 0
two_blocks:
        .long   2, 0, 0, 0, 2, 0, 0, 0
constants:                              /* "expand 32-byte k" */
        .long   0x61707865, 0x3320646e, 0x79622d32, 0x6b206574

        .text

/* word <<<= n for each lane, 0 < n < 32 */
.macro ROTATE_LEFT word, n, t
        vpslld  \t, \word, \n
        vpsrld  \word, \word, 32 - \n
        vpor    \word, \word, \t
.endm

/* RFC 8439 2.1, on one word per lane. */
.macro QUARTER_ROUND a, b, c, d, t
        vpaddd  \a, \a, \b
        vpxor   \d, \d, \a
        vpshufb \d, \d, [rip + left_16]
        vpaddd  \c, \c, \d
        vpxor   \b, \b, \c
        ROTATE_LEFT \b, 12, \t
        vpaddd  \a, \a, \b
        vpxor   \d, \d, \a
        vpshufb \d, \d, [rip + left_8]
        vpaddd  \c, \c, \d
        vpxor   \b, \b, \c
        ROTATE_LEFT \b, 7, \t
.endm

/* The same for two quarter rounds, in turns. */
.macro TWO_QUARTER_ROUNDS a0, b0, c0, d0, a1, b1, c1, d1
        vpaddd  \a0, \a0, \b0
        vpaddd  \a1, \a1, \b1
        vpxor   \d0, \d0, \a0
        vpxor   \d1, \d1, \a1
        vpshufb \d0, \d0, [rip + left_16]
        vpshufb \d1, \d1, [rip + left_16]
        vpaddd  \c0, \c0, \d0
        vpaddd  \c1, \c1, \d1
        vpxor   \b0, \b0, \c0
        vpxor   \b1, \b1, \c1
        ROTATE_LEFT \b0, 12, temp
        ROTATE_LEFT \b1, 12, temp
        vpaddd  \a0, \a0, \b0
        vpaddd  \a1, \a1, \b1
        vpxor   \d0, \d0, \a0
        vpxor   \d1, \d1, \a1
        vpshufb \d0, \d0, [rip + left_8]
        vpshufb \d1, \d1, [rip + left_8]
        vpaddd  \c0, \c0, \d0
        vpaddd  \c1, \c1, \d1
        vpxor   \b0, \b0, \c0
        vpxor   \b1, \b1, \c1
        ROTATE_LEFT \b0, 7, temp
        ROTATE_LEFT \b1, 7, temp
.endm

/* Words n .. n+3 of eight blocks, in w0 .. w3: feed-forward, then transpose within the halves. Leaves in w3, t, w1, w0
 * the pieces of blocks 0 and 4, 1 and 5, 2 and 6, 3 and 7; w2 is free. */
.macro TRANSPOSE n, w0, w1, w2, w3, t
        vpaddd  \w0, \w0, [rsp + SPLAT + 32*\n]
        vpaddd  \w1, \w1, [rsp + SPLAT + 32*\n + 32]
        vpaddd  \w2, \w2, [rsp + SPLAT + 32*\n + 64]
        vpaddd  \w3, \w3, [rsp + SPLAT + 32*\n + 96]
        vpunpckldq \t, \w0, \w1         /* w0, w1 of blocks 0 and 1 */
        vpunpckhdq \w0, \w0, \w1        /* w0, w1 of blocks 2 and 3 */
        vpunpckldq \w1, \w2, \w3        /* w2, w3 of blocks 0 and 1 */
        vpunpckhdq \w2, \w2, \w3        /* w2, w3 of blocks 2 and 3 */
        vpunpcklqdq \w3, \t, \w1
        vpunpckhqdq \t, \t, \w1
        vpunpcklqdq \w1, \w0, \w2
        vpunpckhqdq \w0, \w0, \w2
.endm

/* out[at .. at+31] = data[at .. at+31] ^ stream; changes stream */
.macro XOR_32 at, stream
        vpxor   \stream, \stream, [p_data + \at]
        vmovdqu [p_out + \at], \stream
.endm

/* Two pieces, of which the low halves make 32 bytes at `at` and the high halves 32 bytes at `high_at`; changes first
 * and t. */
.macro XOR_PIECES at, high_at, first, second, t
        vperm2i128 \t, \first, \second, 0x20
        vperm2i128 \first, \first, \second, 0x31
        XOR_32  \at, \t
        XOR_32  \high_at, \first
.endm

/* Word n, found at the address, in all lanes of SPLAT + n. */
.macro SPREAD n, address:vararg
        vpbroadcastd temp, dword ptr \address
        vmovdqa [rsp + SPLAT + 32*\n], temp
.endm

FUNCTION chacha20_xor_avx2
        test    left, left
        jz      .Lreturn
        mov     old_sp, rsp
        sub     rsp, FRAME
        and     rsp, -32

        /* The rows of the state, twice; the counter and the nonce meet in the frame. */
        mov     rax, [p_nonce]
        mov     r11d, [p_nonce + 8]
        mov     dword ptr [rsp + NONCE], counter
        mov     qword ptr [rsp + NONCE + 4], rax
        mov     dword ptr [rsp + NONCE + 12], r11d
        vbroadcasti128 start0, xmmword ptr [rip + constants]
        vbroadcasti128 start1, xmmword ptr [p_key]
        vbroadcasti128 start2, xmmword ptr [p_key + 16]
        cmp     left, 512
        jb      .Lnarrow

        vmovdqa [rsp + KEY_LOW], start1
        vmovdqa [rsp + KEY_HIGH], start2
        SPREAD  0, [rip + constants]
        SPREAD  1, [rip + constants + 4]
        SPREAD  2, [rip + constants + 8]
        SPREAD  3, [rip + constants + 12]
        SPREAD  4, [p_key]
        SPREAD  5, [p_key + 4]
        SPREAD  6, [p_key + 8]
        SPREAD  7, [p_key + 12]
        SPREAD  8, [p_key + 16]
        SPREAD  9, [p_key + 20]
        SPREAD  10, [p_key + 24]
        SPREAD  11, [p_key + 28]
        SPREAD  13, [rsp + NONCE + 4]
        SPREAD  14, [rsp + NONCE + 8]
        SPREAD  15, [rsp + NONCE + 12]
        vpbroadcastd temp, dword ptr [rsp + NONCE]
        vpaddd  temp, temp, [rip + lane_number]
        vmovdqa [rsp + SPLAT + 32 * 12], temp

        .p2align 4
.Lwide:
        vmovdqa x0, [rsp + SPLAT]
        vmovdqa x1, [rsp + SPLAT + 32 * 1]
        vmovdqa x2, [rsp + SPLAT + 32 * 2]
        vmovdqa x3, [rsp + SPLAT + 32 * 3]
        vmovdqa x4, [rsp + SPLAT + 32 * 4]
        vmovdqa x5, [rsp + SPLAT + 32 * 5]
        vmovdqa x6, [rsp + SPLAT + 32 * 6]
        vmovdqa x7, [rsp + SPLAT + 32 * 7]
        vmovdqa temp, [rsp + SPLAT + 32 * 10]
        vmovdqa x8, [rsp + SPLAT + 32 * 8]
        vmovdqa x9, [rsp + SPLAT + 32 * 9]
        vmovdqa x11, [rsp + SPLAT + 32 * 11]
        vmovdqa [rsp + WORD_10], temp
        vmovdqa x12, [rsp + SPLAT + 32 * 12]
        vmovdqa x13, [rsp + SPLAT + 32 * 13]
        vmovdqa x14, [rsp + SPLAT + 32 * 14]
        vmovdqa x15, [rsp + SPLAT + 32 * 15]
        mov     rounds, 10
        .p2align 4
.Lwide_rounds:
        /* column round */
        TWO_QUARTER_ROUNDS x0, x4, x8, x12, x1, x5, x9, x13
        vmovdqa [rsp + WORD_8], x8
        vmovdqa x8, [rsp + WORD_10]
        TWO_QUARTER_ROUNDS x2, x6, x8, x14, x3, x7, x11, x15
        /* diagonal round */
        TWO_QUARTER_ROUNDS x0, x5, x8, x15, x1, x6, x11, x12
        vmovdqa [rsp + WORD_10], x8
        vmovdqa x8, [rsp + WORD_8]
        TWO_QUARTER_ROUNDS x2, x7, x8, x13, x3, x4, x9, x14
        sub     rounds, 1
        jnz     .Lwide_rounds

        /* Words 0..7: bytes 0..31 of each block. */
        TRANSPOSE 0, x0, x1, x2, x3, temp
        TRANSPOSE 4, x4, x5, x6, x7, x2
        XOR_PIECES 0, 256, x3, x7, x6
        XOR_PIECES 64, 320, temp, x2, x6
        XOR_PIECES 128, 384, x1, x5, x6
        XOR_PIECES 192, 448, x0, x4, x6
        /* Words 8..15: bytes 32..63. */
        vmovdqa x0, [rsp + WORD_10]
        TRANSPOSE 8, x8, x9, x0, x11, temp
        TRANSPOSE 12, x12, x13, x14, x15, x0
        XOR_PIECES 32, 288, x11, x15, x14
        XOR_PIECES 96, 352, temp, x0, x14
        XOR_PIECES 160, 416, x9, x13, x14
        XOR_PIECES 224, 480, x8, x12, x14

        vmovdqa temp, [rsp + SPLAT + 32 * 12]
        vpaddd  temp, temp, [rip + eight_blocks]
        vmovdqa [rsp + SPLAT + 32 * 12], temp
        add     counter, 8
        add     p_data, 512
        add     p_out, 512
        sub     left, 512
        cmp     left, 512
        jae     .Lwide

        test    left, left
        jz      .Ldone
        mov     dword ptr [rsp + NONCE], counter
        vbroadcasti128 start0, xmmword ptr [rip + constants]
        vmovdqa start1, [rsp + KEY_LOW]
        vmovdqa start2, [rsp + KEY_HIGH]

        /* 1..511 bytes are left. */
.Lnarrow:
        vbroadcasti128 start3, xmmword ptr [rsp + NONCE]
        vpaddd  start3, start3, [rip + zero_and_one]
.Lpair:
        vmovdqa row0, start0
        vmovdqa row1, start1
        vmovdqa row2, start2
        vmovdqa row3, start3
        mov     rounds, 10
        .p2align 4
.Lpair_rounds:
        /* column round */
        QUARTER_ROUND row0, row1, row2, row3, ntemp
        vpshufd row1, row1, 0x39        /* words 5 6 7 4 */
        vpshufd row2, row2, 0x4e        /* words 10 11 8 9 */
        vpshufd row3, row3, 0x93        /* words 15 12 13 14 */
        /* diagonal round */
        QUARTER_ROUND row0, row1, row2, row3, ntemp
        vpshufd row1, row1, 0x93
        vpshufd row2, row2, 0x4e
        vpshufd row3, row3, 0x39
        sub     rounds, 1
        jnz     .Lpair_rounds

        /* feed-forward */
        vpaddd  row0, row0, start0
        vpaddd  row1, row1, start1
        vpaddd  row2, row2, start2
        vpaddd  row3, row3, start3
        vpaddd  start3, start3, [rip + two_blocks]
        cmp     left, 128
        jb      .Lpartial
        XOR_PIECES 0, 64, row0, row1, ntemp
        XOR_PIECES 32, 96, row2, row3, ntemp
        add     p_data, 128
        add     p_out, 128
        sub     left, 128
        jnz     .Lpair
        jmp     .Ldone

        /* 1..127 bytes are left: rcx counts them, sixteen at a time and then one. */
.Lpartial:
        vmovdqa [rsp + PARTIAL], row0_low
        vmovdqa [rsp + PARTIAL + 16], row1_low
        vmovdqa [rsp + PARTIAL + 32], row2_low
        vmovdqa [rsp + PARTIAL + 48], row3_low
        vextracti128 [rsp + PARTIAL + 64], row0, 1
        vextracti128 [rsp + PARTIAL + 80], row1, 1
        vextracti128 [rsp + PARTIAL + 96], row2, 1
        vextracti128 [rsp + PARTIAL + 112], row3, 1
        xor     ecx, ecx
        sub     left, 16
        jb      .Lbytes
.Lsixteen:
        vmovdqu ntemp_low, [p_data + rcx]
        vpxor   ntemp_low, ntemp_low, [rsp + PARTIAL + rcx]
        vmovdqu [p_out + rcx], ntemp_low
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
        vpxor   ntemp, ntemp, ntemp
        .set    part, 0
        .rept   FRAME / 32
        vmovdqa [rsp + part], ntemp
        .set    part, part + 32
        .endr
        vzeroupper
        mov     rsp, old_sp
.Lreturn:
        ret
FUNCTION_END chacha20_xor_avx2
