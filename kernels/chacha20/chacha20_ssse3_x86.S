/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "chacha20"
variant   = "ssse3"
arch      = "x86"
provides  = ["xor"]
requires  = ["ssse3"]
priority  = 20
constant_time = true
cites     = ["RFC 8439 2.1-2.4"]
*/
/*
 * ChaCha20 in SSE2 and SSSE3 on eight registers: 256 bytes at a time, four blocks side by side; what is left, one
 * block at a time.
 *
 * void chacha20_xor_ssse3(uint8_t *out, const uint8_t *data, size_t len,
 *                         const uint8_t key[32], const uint8_t nonce[12], uint32_t counter);
 *
 * Wide step: word n of the state, lane i that of block i, has a place in the frame and visits the registers. Any
 * column's quarter round shares exactly one word with any diagonal's. So of each of the first three quarter rounds of
 * a round, one word stays in a register until the first of the next round, which then finds all four of its words;
 * the three others of the last quarter round stay for the three that follow. That leaves nine loads and nine
 * stores in a round of sixteen words. The comments of DOUBLE_ROUND say which registers hold what.
 * Afterwards each four words are transposed into four 16-byte pieces, one of each block.
 * Narrow step: each register holds four words of one block, a row of the RFC's 4 x 4 state; for the diagonal round
 * the rows are turned by one, two and three words.
 * Rotations by 16 and 8 move bytes (pshufb); those by 12 and 7 are two shifts.
 *
 * Alignment and aliasing: out, data, key and nonce are touched only by movdqu, movq, movd and byte moves; aligned
 * operands are constants and the frame, which the function aligns itself. Every 16 bytes of data are loaded before
 * the same 16 of out are stored, so out == data is allowed; other overlap is not. Nothing is read or written beyond
 * len, nor below esp. Constants are found from the program counter.
 *
 * To review: all additions to the counter are 32 bits wide: paddd for the four lanes of SPLAT + 12 and for lane 0 of
 * the narrow row, where the other addends are 0. Each wraps modulo 2^32 without touching its neighbour. The narrow
 * steps take up lane 0 of SPLAT + 12, which the last wide step has advanced. Branches depend on len only.
 */
#include "shared/assembly.h"

        .intel_syntax noprefix

/* Arguments, at these distances from old_sp: four saved registers and the return address lie between. */
#define ARG_OUT 20
#define ARG_DATA 24
#define ARG_LEN 28
#define ARG_KEY 32
#define ARG_NONCE 36
#define ARG_COUNTER 40

#define p_out   edi
#define p_data  esi
#define left    ecx
#define rounds  eax
#define consts  ebx                     /* address of the constants */
#define old_sp  ebp

/* Frame: offsets from esp, a multiple of 16. */
#define SPLAT   0                       /* 16 x 16: word n in all lanes; word 12 in lane i is the counter plus i */
#define WORDS   256                     /* 16 x 16: the words that are not in registers */
#define ROWS    512                     /* 4 x 16: start of the narrow step */
#define PARTIAL 576                     /* 64 bytes of key stream for the last partial block */
#define FRAME   640

/* Narrow step. */
#define row0    xmm0
#define row1    xmm1
#define row2    xmm2
#define row3    xmm3
#define temp    xmm7

        .section .rodata
        .p2align 4
constants:
/* Offsets from consts: */
#define SIGMA   0                       /* "expand 32-byte k" */
        .long   0x61707865, 0x3320646e, 0x79622d32, 0x6b206574
#define LEFT_16 16                      /* pshufb: each word rotated left by 16 */
        .byte   2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
#define LEFT_8  32                      /* pshufb: each word rotated left by 8 */
        .byte   3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14
#define LANE_NUMBER 48
        .long   0, 1, 2, 3
#define FOUR_BLOCKS 64
        .long   4, 4, 4, 4
#define ONE_BLOCK 80
        .long   1, 0, 0, 0

        .text

/* word <<<= n for each lane, 0 < n < 32 */
.macro ROTATE_LEFT word, n
        movdqa  temp, \word
        pslld   \word, \n
        psrld   temp, 32 - \n
        por     \word, temp
.endm

/* RFC 8439 2.1, on one word per lane. */
.macro QUARTER_ROUND a, b, c, d
        paddd   \a, \b
        pxor    \d, \a
        pshufb  \d, [consts + LEFT_16]
        paddd   \c, \d
        pxor    \b, \c
        ROTATE_LEFT \b, 12
        paddd   \a, \b
        pxor    \d, \a
        pshufb  \d, [consts + LEFT_8]
        paddd   \c, \d
        pxor    \b, \c
        ROTATE_LEFT \b, 7
.endm

/* Three words between registers and their places in the frame. */
.macro LOAD_3 r0, n0, r1, n1, r2, n2
        movdqa  \r0, [esp + WORDS + 16*\n0]
        movdqa  \r1, [esp + WORDS + 16*\n1]
        movdqa  \r2, [esp + WORDS + 16*\n2]
.endm
.macro STORE_3 r0, n0, r1, n1, r2, n2
        movdqa  [esp + WORDS + 16*\n0], \r0
        movdqa  [esp + WORDS + 16*\n1], \r1
        movdqa  [esp + WORDS + 16*\n2], \r2
.endm

/* A column round and a diagonal round.
 * At both ends: xmm0 .. xmm6 hold words 0 3 4 8 12 9 14, and so do LOAD_START and FINISH_FOUR expect. */
.macro DOUBLE_ROUND
        QUARTER_ROUND xmm0, xmm2, xmm3, xmm4            /* words 0 4 8 12; 0 stays */
        STORE_3 xmm2, 4, xmm3, 8, xmm4, 12
        LOAD_3  xmm2, 1, xmm4, 5, xmm3, 13
        QUARTER_ROUND xmm2, xmm4, xmm5, xmm3            /* words 1 5 9 13; 5 stays */
        STORE_3 xmm2, 1, xmm5, 9, xmm3, 13
        LOAD_3  xmm3, 2, xmm5, 6, xmm2, 10
        QUARTER_ROUND xmm3, xmm5, xmm2, xmm6            /* words 2 6 10 14; 10 stays */
        STORE_3 xmm3, 2, xmm5, 6, xmm6, 14
        LOAD_3  xmm5, 7, xmm3, 11, xmm6, 15
        QUARTER_ROUND xmm1, xmm5, xmm3, xmm6            /* words 3 7 11 15; all stay */

        QUARTER_ROUND xmm0, xmm4, xmm2, xmm6            /* words 0 5 10 15; 0 stays */
        STORE_3 xmm4, 5, xmm2, 10, xmm6, 15
        LOAD_3  xmm2, 1, xmm6, 6, xmm4, 12
        QUARTER_ROUND xmm2, xmm6, xmm3, xmm4            /* words 1 6 11 12; 12 stays */
        STORE_3 xmm2, 1, xmm6, 6, xmm3, 11
        LOAD_3  xmm2, 2, xmm3, 8, xmm6, 13
        QUARTER_ROUND xmm2, xmm5, xmm3, xmm6            /* words 2 7 8 13; 8 stays */
        STORE_3 xmm2, 2, xmm5, 7, xmm6, 13
        LOAD_3  xmm2, 4, xmm5, 9, xmm6, 14
        QUARTER_ROUND xmm1, xmm2, xmm5, xmm6            /* words 3 4 9 14; all stay */
.endm

/* out[at .. at+15] = data[at .. at+15] ^ stream */
.macro XOR_16 at, stream, t
        movdqu  \t, [p_data + \at]
        pxor    \t, \stream
        movdqu  [p_out + \at], \t
.endm

/* Words n .. n+3 of four blocks, in w0 .. w3: feed-forward, transpose, xor into out. Leaves w0 .. w3, temp changed. */
.macro FINISH_FOUR n, w0, w1, w2, w3
        paddd   \w0, [esp + SPLAT + 16*\n]
        paddd   \w1, [esp + SPLAT + 16*\n + 16]
        paddd   \w2, [esp + SPLAT + 16*\n + 32]
        paddd   \w3, [esp + SPLAT + 16*\n + 48]
        movdqa  temp, \w0
        punpckldq temp, \w1             /* w0, w1 of blocks 0 and 1 */
        punpckhdq \w0, \w1              /* w0, w1 of blocks 2 and 3 */
        movdqa  \w1, \w2
        punpckldq \w1, \w3              /* w2, w3 of blocks 0 and 1 */
        punpckhdq \w2, \w3              /* w2, w3 of blocks 2 and 3 */
        movdqa  \w3, temp
        punpcklqdq \w3, \w1             /* block 0 */
        punpckhqdq temp, \w1            /* block 1 */
        movdqa  \w1, \w0
        punpcklqdq \w1, \w2             /* block 2 */
        punpckhqdq \w0, \w2             /* block 3 */
        XOR_16  4*\n, \w3, \w2
        XOR_16  4*\n+64, temp, \w3
        XOR_16  4*\n+128, \w1, \w2
        XOR_16  4*\n+192, \w0, \w3
.endm

/* Word n of a row in all lanes of SPLAT + word. */
.macro SPREAD word, row, n
        pshufd  temp, \row, 0x55 * (\n)
        movdqa  [esp + SPLAT + 16 * (\word)], temp
.endm
.macro SPREAD_ROW word, row
        SPREAD  \word, \row, 0
        SPREAD  \word+1, \row, 1
        SPREAD  \word+2, \row, 2
        SPREAD  \word+3, \row, 3
.endm

/* From SPLAT to the word's place in the frame. */
.macro COPY_WORD n
        movdqa  temp, [esp + SPLAT + 16*\n]
        movdqa  [esp + WORDS + 16*\n], temp
.endm

FUNCTION chacha20_xor_ssse3
        push    ebp
        push    ebx
        push    esi
        push    edi
        mov     old_sp, esp
        mov     left, [old_sp + ARG_LEN]
        test    left, left
        jz      .Ldone
        sub     esp, FRAME
        and     esp, -16
        call    .Lprogram_counter
        add     consts, offset _GLOBAL_OFFSET_TABLE_
        lea     consts, [consts + constants@GOTOFF]
        mov     p_out, [old_sp + ARG_OUT]
        mov     p_data, [old_sp + ARG_DATA]

        /* The rows of the state; twelve bytes of nonce behind a zero word, and the counter added to that. */
        mov     eax, [old_sp + ARG_KEY]
        mov     edx, [old_sp + ARG_NONCE]
        movdqa  row0, [consts + SIGMA]
        movdqu  row1, [eax]
        movdqu  row2, [eax + 16]
        movq    row3, qword ptr [edx]
        movd    temp, dword ptr [edx + 8]
        pslldq  row3, 4
        pslldq  temp, 12
        por     row3, temp
        movd    temp, dword ptr [old_sp + ARG_COUNTER]
        por     row3, temp
        movdqa  [esp + ROWS], row0
        movdqa  [esp + ROWS + 16], row1
        movdqa  [esp + ROWS + 32], row2
        movdqa  [esp + ROWS + 48], row3
        cmp     left, 256
        jb      .Lblock

        SPREAD_ROW 0, row0
        SPREAD_ROW 4, row1
        SPREAD_ROW 8, row2
        SPREAD_ROW 12, row3
        movdqa  temp, [esp + SPLAT + 16 * 12]
        paddd   temp, [consts + LANE_NUMBER]
        movdqa  [esp + SPLAT + 16 * 12], temp

        .p2align 4
.Lwide:
        movdqa  xmm0, [esp + SPLAT]
        movdqa  xmm1, [esp + SPLAT + 16 * 3]
        movdqa  xmm2, [esp + SPLAT + 16 * 4]
        movdqa  xmm3, [esp + SPLAT + 16 * 8]
        movdqa  xmm4, [esp + SPLAT + 16 * 12]
        movdqa  xmm5, [esp + SPLAT + 16 * 9]
        movdqa  xmm6, [esp + SPLAT + 16 * 14]
        COPY_WORD 1
        COPY_WORD 2
        COPY_WORD 5
        COPY_WORD 6
        COPY_WORD 7
        COPY_WORD 10
        COPY_WORD 11
        COPY_WORD 13
        COPY_WORD 15
        mov     rounds, 10
        .p2align 4
.Lwide_rounds:
        DOUBLE_ROUND
        sub     rounds, 1
        jnz     .Lwide_rounds

        STORE_3 xmm2, 4, xmm3, 8, xmm4, 12
        movdqa  xmm2, [esp + WORDS + 16 * 1]
        movdqa  xmm3, [esp + WORDS + 16 * 2]
        FINISH_FOUR 0, xmm0, xmm2, xmm3, xmm1
        LOAD_3  xmm0, 4, xmm1, 5, xmm2, 6
        movdqa  xmm3, [esp + WORDS + 16 * 7]
        FINISH_FOUR 4, xmm0, xmm1, xmm2, xmm3
        LOAD_3  xmm0, 8, xmm2, 10, xmm3, 11
        FINISH_FOUR 8, xmm0, xmm5, xmm2, xmm3
        LOAD_3  xmm0, 12, xmm1, 13, xmm3, 15
        FINISH_FOUR 12, xmm0, xmm1, xmm6, xmm3

        movdqa  temp, [esp + SPLAT + 16 * 12]
        paddd   temp, [consts + FOUR_BLOCKS]
        movdqa  [esp + SPLAT + 16 * 12], temp
        add     p_data, 256
        add     p_out, 256
        sub     left, 256
        cmp     left, 256
        jae     .Lwide

        test    left, left
        jz      .Ldone
        movd    dword ptr [esp + ROWS + 48], temp

        /* 1..255 bytes are left. */
.Lblock:
        movdqa  row0, [esp + ROWS]
        movdqa  row1, [esp + ROWS + 16]
        movdqa  row2, [esp + ROWS + 32]
        movdqa  row3, [esp + ROWS + 48]
        mov     rounds, 10
        .p2align 4
.Lblock_rounds:
        /* column round */
        QUARTER_ROUND row0, row1, row2, row3
        pshufd  row1, row1, 0x39        /* words 5 6 7 4 */
        pshufd  row2, row2, 0x4e        /* words 10 11 8 9 */
        pshufd  row3, row3, 0x93        /* words 15 12 13 14 */
        /* diagonal round */
        QUARTER_ROUND row0, row1, row2, row3
        pshufd  row1, row1, 0x93
        pshufd  row2, row2, 0x4e
        pshufd  row3, row3, 0x39
        sub     rounds, 1
        jnz     .Lblock_rounds

        /* feed-forward */
        movdqa  temp, [esp + ROWS + 48]
        paddd   row0, [esp + ROWS]
        paddd   row1, [esp + ROWS + 16]
        paddd   row2, [esp + ROWS + 32]
        paddd   row3, temp
        paddd   temp, [consts + ONE_BLOCK]
        movdqa  [esp + ROWS + 48], temp
        cmp     left, 64
        jb      .Lpartial
        XOR_16  0, row0, temp
        XOR_16  16, row1, temp
        XOR_16  32, row2, temp
        XOR_16  48, row3, temp
        add     p_data, 64
        add     p_out, 64
        sub     left, 64
        jnz     .Lblock
        jmp     .Ldone

        /* 1..63 bytes are left: edx counts them, sixteen at a time and then one. */
.Lpartial:
        movdqa  [esp + PARTIAL], row0
        movdqa  [esp + PARTIAL + 16], row1
        movdqa  [esp + PARTIAL + 32], row2
        movdqa  [esp + PARTIAL + 48], row3
        xor     edx, edx
        sub     left, 16
        jb      .Lbytes
.Lsixteen:
        movdqu  temp, [p_data + edx]
        pxor    temp, [esp + PARTIAL + edx]
        movdqu  [p_out + edx], temp
        add     edx, 16
        sub     left, 16
        jae     .Lsixteen
.Lbytes:
        add     left, 16
        jz      .Ldone
        add     left, edx               /* now the end */
.Lbyte:
        movzx   eax, byte ptr [p_data + edx]
        xor     al, byte ptr [esp + PARTIAL + edx]
        mov     byte ptr [p_out + edx], al
        add     edx, 1
        cmp     edx, left
        jb      .Lbyte

.Ldone:
        mov     esp, old_sp
        pop     edi
        pop     esi
        pop     ebx
        pop     ebp
        ret

        /* The address of the instruction after the call, in consts. */
.Lprogram_counter:
        mov     consts, [esp]
        ret
FUNCTION_END chacha20_xor_ssse3
