/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha512"
variant   = "ssse3"
arch      = "x86"
provides  = ["blocks"]
requires  = ["ssse3"]
priority  = 20
constant_time = true
cites     = ["FIPS 180-4 4.1.3, 6.4.2"]
*/
/* SHA-512's compression function for 32-bit x86 in SSE2 and SSSE3: the rounds in the low 64-bit lanes of xmm registers, two words
 * of the schedule at a time in both lanes between them. The x87 and MMX state is not touched.
 *
 * The working variables are words of STATE, whose places are renamed from round to round; after eight they are back. Only a and
 * e are in registers: the new e takes the old one's, the new a takes that of a temporary, which becomes the old a's.
 * The old ones are stored in the round in which they become b and f. Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b takes b ^ c from
 * the round before, where it was a ^ b. The three rotations of a Sigma are made by shifting one copy right and another left,
 * each three times, and collecting all six.
 * The schedule is sixteen rounds ahead: after rounds t and t + 1, W[t + 16] and W[t + 17] take the places of W[t] and W[t + 1] in
 * WORDS, and their sums with the constants those in SUMS. WORDS has a seventeenth place that repeats the first, so that
 * pairs that begin at an odd word can be loaded at once.
 *
 * Alignment and aliasing: h and data are touched by movdqu; aligned operands are constants and the frame, which the function
 * aligns itself. h must not overlap data. With len == 0 nothing is touched. Nothing is written below esp.
 * Constants are found from the program counter. High lanes of the rounds hold what is left there and reach nothing.
 * To review: the words t + 1, t + 9 and t + 14 of TWO_WORDS modulo 16, where word 16 is the repeated word 0, already the new one
 * when it is read. A round stores a and e before anything reads their places, and leaves the new ones in registers only:
 * therefore the two stores at the end of a block. bc is b ^ c of the first round of a block, made before it.
 * Branches depend on len only, which is a multiple of 128.
 *
 * void sha512_blocks_ssse3(uint8_t h[64], const uint8_t *data, size_t len);
 */
#include "sha512_constants.h"
#include "shared/assembly.h"

        .intel_syntax noprefix

/* At these distances from esp after four registers have been pushed: */
#define ARG_H   20
#define ARG_DATA 24
#define ARG_LEN 28

#define p_h     eax
#define p_data  esi
#define p_end   edi                     /* data + len */
#define p_k     ecx
#define count   edx                     /* passes of sixteen rounds with schedule that are left */
#define p_consts ebx

#define va      xmm0                    /* a; takes turns with new */
#define new     xmm1
#define ve      xmm2
#define ab      xmm3                    /* a ^ b; takes turns with bc */
#define bc      xmm4                    /* b ^ c */
#define t0      xmm5
#define t1      xmm6
#define total   xmm7

/* Frame: offsets from esp, a multiple of 16. */
#define WORDS   0                       /* 18 words: W[t], t modulo 16, and the first two again */
#define SUMS    144                     /* 16 words: W[t] + K[t] of the next 16 rounds */
#define STATE   272                     /* 8 words */
#define OLD_SP  336
#define FRAME   352

        .section .rodata
        .p2align 4
constants:                              /* FIPS 180-4 4.2.3 */
        .quad   SHA512_K
/* Offset from constants: */
#define TURN_BYTES 640                  /* pshufb: bytes of each word turned around */
        .byte   7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8

        .text

/* total = x>>>r1 ^ x>>>r2 ^ x>>>r3 for r1 < r2 < r3, both lanes */
.macro THREE_ROTATIONS x, r1, r2, r3
        movdqa  t0, \x
        movdqa  t1, \x
        psrlq   t0, \r1
        psllq   t1, 64 - \r3
        movdqa  total, t0
        psrlq   t0, \r2 - \r1
        pxor    total, t1
        psllq   t1, \r3 - \r2
        pxor    total, t0
        psrlq   t0, \r3 - \r2
        pxor    total, t1
        psllq   t1, \r2 - \r1
        pxor    total, t0
        pxor    total, t1
.endm

/* Round i, with the places of a .. h in STATE. a and e are in \va and ve as well, and the new ones are in \new and ve only; \x was
 * b ^ c, \y becomes a ^ b. */
.macro ROUND i, a, b, c, d, e, f, g, h, va, new, x, y
        THREE_ROTATIONS ve, 14, 18, 41                  /* Sigma1(e) */
        movq    t0, qword ptr [esp + STATE + 8 * \f]
        movq    t1, qword ptr [esp + STATE + 8 * \g]
        movq    \new, qword ptr [esp + STATE + 8 * \h]
        pxor    t0, t1
        movq    qword ptr [esp + STATE + 8 * \e], ve
        pand    t0, ve
        paddq   \new, total
        pxor    t0, t1                                  /* Ch(e, f, g) */
        movq    t1, qword ptr [esp + SUMS + 8 * (\i)]
        paddq   \new, t0
        movq    ve, qword ptr [esp + STATE + 8 * \d]
        paddq   \new, t1
        paddq   ve, \new
        movq    qword ptr [esp + STATE + 8 * \a], \va
        THREE_ROTATIONS \va, 28, 34, 39                 /* Sigma0(a) */
        movq    t0, qword ptr [esp + STATE + 8 * \b]
        movdqa  \y, \va
        paddq   \new, total
        pxor    \y, t0
        pand    \x, \y
        pxor    \x, t0                                  /* Maj(a, b, c) */
        paddq   \new, \x
.endm

.macro TWO_ROUNDS i, a, b, c, d, e, f, g, h
        ROUND   \i, \a, \b, \c, \d, \e, \f, \g, \h, va, new, bc, ab
        ROUND   \i+1, \h, \a, \b, \c, \d, \e, \f, \g, new, va, ab, bc
.endm

/* total = a small sigma of t0, both lanes: its three distances s1 < s2 < s3 to the right, and l1 < l2 to the left, which with two
 * of them make the rotations. */
.macro SMALL_SIGMA s1, s2, s3, l1, l2
        movdqa  t1, t0
        psrlq   t0, \s1
        psllq   t1, \l1
        movdqa  total, t0
        psrlq   t0, \s2 - \s1
        pxor    total, t1
        psllq   t1, \l2 - \l1
        pxor    total, t0
        psrlq   t0, \s3 - \s2
        pxor    total, t1
        pxor    total, t0
.endm

/* Words i and i + 1, an even i, become those sixteen rounds later; then their sums with the constants. */
.macro TWO_WORDS i
        movdqu  t0, [esp + WORDS + 8 * (\i + 1)]
        SMALL_SIGMA 1, 7, 8, 56, 63                     /* sigma0: >>>1, >>7, >>>8 */
        movdqa  new, [esp + WORDS + 8 * \i]
        movdqa  t0, [esp + WORDS + 8 * ((\i + 14) % 16)]
        paddq   new, total
        SMALL_SIGMA 6, 19, 61, 3, 45                    /* sigma1: >>6, >>>19, >>>61 */
        movdqu  t0, [esp + WORDS + 8 * ((\i + 9) % 16)]
        paddq   new, total
        paddq   new, t0
        movdqa  [esp + WORDS + 8 * \i], new
  .if \i == 0
        movdqa  [esp + WORDS + 8 * 16], new
  .endif
        paddq   new, [p_k + 8 * \i]
        movdqa  [esp + SUMS + 8 * \i], new
.endm

.macro LOAD_WORDS i
        movdqu  t0, [p_data + 8 * \i]
        pshufb  t0, [p_consts + TURN_BYTES]
        movdqa  [esp + WORDS + 8 * \i], t0
        paddq   t0, [p_consts + 8 * \i]
        movdqa  [esp + SUMS + 8 * \i], t0
.endm

/* Two words of STATE += those of h, in both */
.macro ADD_TO_H i
        movdqu  t0, [p_h + 8 * \i]
        paddq   t0, [esp + STATE + 8 * \i]
        movdqa  [esp + STATE + 8 * \i], t0
        movdqu  [p_h + 8 * \i], t0
.endm

FUNCTION sha512_blocks_ssse3
        push    ebp
        push    ebx
        push    esi
        push    edi
        mov     p_end, [esp + ARG_LEN]
        test    p_end, p_end
        jz      .Lrestore
        mov     ebp, esp
        sub     esp, FRAME
        and     esp, -16
        mov     [esp + OLD_SP], ebp
        mov     p_h, [ebp + ARG_H]
        mov     p_data, [ebp + ARG_DATA]
        add     p_end, p_data
        call    .Lprogram_counter
        add     ebx, offset _GLOBAL_OFFSET_TABLE_
        lea     p_consts, [ebx + constants@GOTOFF]
        movdqu  t0, [p_h]
        movdqu  t1, [p_h + 16]
        movdqu  total, [p_h + 32]
        movdqu  new, [p_h + 48]
        movdqa  [esp + STATE], t0
        movdqa  [esp + STATE + 16], t1
        movdqa  [esp + STATE + 32], total
        movdqa  [esp + STATE + 48], new

        .p2align 4
.Lblock:
        LOAD_WORDS 0
        LOAD_WORDS 2
        LOAD_WORDS 4
        LOAD_WORDS 6
        LOAD_WORDS 8
        LOAD_WORDS 10
        LOAD_WORDS 12
        LOAD_WORDS 14
        add     p_data, 128
        mov     p_k, p_consts
        mov     count, 4
        movq    va, qword ptr [esp + STATE]
        movq    ve, qword ptr [esp + STATE + 32]
        movq    bc, qword ptr [esp + STATE + 8]
        movq    t0, qword ptr [esp + STATE + 16]
        pxor    bc, t0
        .p2align 4
.Lsixteen_rounds:
        add     p_k, 128                /* to the constants of the words to come */
        TWO_ROUNDS 0, 0, 1, 2, 3, 4, 5, 6, 7
        TWO_WORDS 0
        TWO_ROUNDS 2, 6, 7, 0, 1, 2, 3, 4, 5
        TWO_WORDS 2
        TWO_ROUNDS 4, 4, 5, 6, 7, 0, 1, 2, 3
        TWO_WORDS 4
        TWO_ROUNDS 6, 2, 3, 4, 5, 6, 7, 0, 1
        TWO_WORDS 6
        TWO_ROUNDS 8, 0, 1, 2, 3, 4, 5, 6, 7
        TWO_WORDS 8
        TWO_ROUNDS 10, 6, 7, 0, 1, 2, 3, 4, 5
        TWO_WORDS 10
        TWO_ROUNDS 12, 4, 5, 6, 7, 0, 1, 2, 3
        TWO_WORDS 12
        TWO_ROUNDS 14, 2, 3, 4, 5, 6, 7, 0, 1
        TWO_WORDS 14
        sub     count, 1
        jnz     .Lsixteen_rounds

        TWO_ROUNDS 0, 0, 1, 2, 3, 4, 5, 6, 7
        TWO_ROUNDS 2, 6, 7, 0, 1, 2, 3, 4, 5
        TWO_ROUNDS 4, 4, 5, 6, 7, 0, 1, 2, 3
        TWO_ROUNDS 6, 2, 3, 4, 5, 6, 7, 0, 1
        TWO_ROUNDS 8, 0, 1, 2, 3, 4, 5, 6, 7
        TWO_ROUNDS 10, 6, 7, 0, 1, 2, 3, 4, 5
        TWO_ROUNDS 12, 4, 5, 6, 7, 0, 1, 2, 3
        TWO_ROUNDS 14, 2, 3, 4, 5, 6, 7, 0, 1

        /* add the chaining value from before the block, which h still holds */
        movq    qword ptr [esp + STATE], va
        movq    qword ptr [esp + STATE + 32], ve
        ADD_TO_H 0
        ADD_TO_H 2
        ADD_TO_H 4
        ADD_TO_H 6
        cmp     p_data, p_end
        jne     .Lblock

        mov     esp, [esp + OLD_SP]
.Lrestore:
        pop     edi
        pop     esi
        pop     ebx
        pop     ebp
        ret
.Lprogram_counter:
        mov     ebx, [esp]
        ret
FUNCTION_END sha512_blocks_ssse3
