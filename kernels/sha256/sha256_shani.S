/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha256"
variant   = "shani"
arch      = ["x86", "x86_64"]
provides  = ["blocks"]
requires  = ["ssse3", "shani"]
priority  = 30
constant_time = true
cites     = ["FIPS 180-4 6.2.2", "Intel SDM vol. 2, SHA256RNDS2, SHA256MSG1, SHA256MSG2"]
*/
/* SHA-256's compression function with the SHA extensions: two rounds by SHA256RNDS2, four words of the schedule by SHA256MSG1 and
 * SHA256MSG2. One source for 32-bit and 64-bit x86, which needs no more than eight xmm registers.
 *
 * The instructions keep the working variables as abef and cdgh, a and c in the highest lane. SHA256RNDS2 turns cdgh into the abef
 * of two rounds later, and the old abef is the cdgh then, so that two of them leave the names as they were. w0..w3 are
 * sixteen words of the schedule and move on in place: w0 = W[t .. t + 3] becomes W[t + 16 .. t + 19].
 *
 * Alignment and aliasing: h and data are touched by movdqu; aligned operands are constants and the frame, which the function
 * aligns itself. h must not overlap data. With len == 0 nothing is touched. Nothing is written below the stack pointer.
 * 32-bit x86 finds the constants from the program counter.
 * To review: xmm0 is an operand of SHA256RNDS2 that is not written down; its low half is used, so its high half is moved there for
 * the second two rounds. SHA256MSG1 takes words t .. t + 4, SHA256MSG2 words t + 14 and t + 15; W[t + 9 .. t + 12]
 * is added between them.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha256_blocks_shani(uint8_t h[32], const uint8_t *data, size_t len);
 */
#include "sha256_constants.h"
#include "shared/assembly.h"

        .intel_syntax noprefix

#ifdef __x86_64__
#define sp      rsp
#define old_sp  r8
#define p_h     rdi
#define p_data  rsi
#define p_end   rdx                     /* data + len */
#define p_k     rcx
#else
#define sp      esp
#define old_sp  ebp
#define p_h     eax
#define p_data  esi
#define p_end   edx
#define p_k     ecx
/* At these distances from old_sp, with two saved registers between: */
#define ARG_H   12
#define ARG_DATA 16
#define ARG_LEN 20
#endif

#define sum     xmm0                    /* message and constant, as SHA256RNDS2 wants it */
#define abef    xmm1
#define cdgh    xmm2
#define w0      xmm3
#define w1      xmm4
#define w2      xmm5
#define w3      xmm6
#define temp    xmm7

/* Frame: offsets from the stack pointer, a multiple of 16. */
#define ABEF    0                       /* from before the block */
#define CDGH    16
#define FRAME   32

        .section .rodata
        .p2align 4
constants:                              /* FIPS 180-4 4.2.2 */
        .long   SHA256_K
/* Offset from constants: */
#define TURN_BYTES 256                  /* pshufb: bytes of each word turned around */
        .byte   3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12

        .text

/* Rounds t .. t + 3 with their words in m. */
.macro FOUR_ROUNDS t, m
        movdqa  sum, [p_k + 4 * \t]
        paddd   sum, \m
        sha256rnds2 cdgh, abef
        pshufd  sum, sum, 0x0e          /* words 2 3 */
        sha256rnds2 abef, cdgh
.endm

/* The same, and m0 becomes the four words sixteen later; m0..m3 are sixteen words in order. */
.macro FOUR_ROUNDS_AND_WORDS t, m0, m1, m2, m3
        movdqa  sum, [p_k + 4 * \t]
        paddd   sum, \m0
        sha256rnds2 cdgh, abef
        movdqa  temp, \m3
        sha256msg1 \m0, \m1
        palignr temp, \m2, 4            /* W[t + 9 .. t + 12] */
        pshufd  sum, sum, 0x0e
        sha256rnds2 abef, cdgh
        paddd   \m0, temp
        sha256msg2 \m0, \m3
.endm

.macro LOAD_WORDS i, m
        movdqu  \m, [p_data + 16 * \i]
        pshufb  \m, [p_k + TURN_BYTES]
.endm

FUNCTION sha256_blocks_shani
#ifdef __x86_64__
        test    p_end, p_end
        jz      .Lreturn
        mov     old_sp, rsp
        lea     p_k, [rip + constants]
#else
        push    ebp
        push    esi
        mov     p_end, [esp + ARG_LEN]
        test    p_end, p_end
        jz      .Lrestore
        mov     old_sp, esp
        mov     p_h, [old_sp + ARG_H]
        mov     p_data, [old_sp + ARG_DATA]
        call    .Lprogram_counter
        add     ecx, offset _GLOBAL_OFFSET_TABLE_
        lea     p_k, [ecx + constants@GOTOFF]
#endif
        sub     sp, FRAME
        and     sp, -16
        add     p_end, p_data

        /* abcd and efgh, a and e lowest, to abef and cdgh, a and c highest */
        movdqu  abef, [p_h]
        movdqu  cdgh, [p_h + 16]
        pshufd  abef, abef, 0xb1        /* b a d c */
        pshufd  cdgh, cdgh, 0x1b        /* h g f e */
        movdqa  temp, abef
        palignr abef, cdgh, 8           /* f e b a */
        shufps  cdgh, temp, 0xe4        /* h g d c */

        .p2align 4
.Lblock:
        movdqa  [sp + ABEF], abef
        movdqa  [sp + CDGH], cdgh
        LOAD_WORDS 0, w0
        LOAD_WORDS 1, w1
        LOAD_WORDS 2, w2
        LOAD_WORDS 3, w3
        add     p_data, 64
        FOUR_ROUNDS_AND_WORDS 0, w0, w1, w2, w3
        FOUR_ROUNDS_AND_WORDS 4, w1, w2, w3, w0
        FOUR_ROUNDS_AND_WORDS 8, w2, w3, w0, w1
        FOUR_ROUNDS_AND_WORDS 12, w3, w0, w1, w2
        FOUR_ROUNDS_AND_WORDS 16, w0, w1, w2, w3
        FOUR_ROUNDS_AND_WORDS 20, w1, w2, w3, w0
        FOUR_ROUNDS_AND_WORDS 24, w2, w3, w0, w1
        FOUR_ROUNDS_AND_WORDS 28, w3, w0, w1, w2
        FOUR_ROUNDS_AND_WORDS 32, w0, w1, w2, w3
        FOUR_ROUNDS_AND_WORDS 36, w1, w2, w3, w0
        FOUR_ROUNDS_AND_WORDS 40, w2, w3, w0, w1
        FOUR_ROUNDS_AND_WORDS 44, w3, w0, w1, w2
        FOUR_ROUNDS 48, w0
        FOUR_ROUNDS 52, w1
        FOUR_ROUNDS 56, w2
        FOUR_ROUNDS 60, w3
        paddd   abef, [sp + ABEF]
        paddd   cdgh, [sp + CDGH]
        cmp     p_data, p_end
        jne     .Lblock

        /* and back */
        pshufd  abef, abef, 0x1b        /* a b e f */
        pshufd  cdgh, cdgh, 0xb1        /* g h c d */
        movdqa  temp, abef
        shufps  abef, cdgh, 0xe4        /* a b c d */
        punpckhqdq temp, cdgh           /* e f c d */
        shufps  temp, cdgh, 0x44        /* e f g h */
        movdqu  [p_h], abef
        movdqu  [p_h + 16], temp
        mov     sp, old_sp
#ifdef __x86_64__
.Lreturn:
        ret
#else
.Lrestore:
        pop     esi
        pop     ebp
        ret
.Lprogram_counter:
        mov     ecx, [esp]
        ret
#endif
FUNCTION_END sha256_blocks_shani
