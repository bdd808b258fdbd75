/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha256"
variant   = "ssse3"
arch      = "x86"
provides  = ["blocks"]
requires  = ["ssse3"]
priority  = 20
constant_time = true
cites     = ["FIPS 180-4 4.1.2, 6.2.2", "Gueron-Krasnov 2012, Parallelizing message schedules"]
*/
/* SHA-256's compression function: the rounds in six integer registers and eight words of memory, four words of the schedule at a
 * time in SSE2 and SSSE3 between them.
 *
 * The working variables are words of STATE, whose places are renamed from round to round; after eight they are back. Only a and
 * e are in registers: the new e takes the old one's, the new a takes that of a temporary, which becomes the old a's.
 * The old ones are stored in the round in which they become b and f. Rotations are nested (Sigma1(e) = ((e>>>14 ^ e)>>>5 ^
 * e)>>>6, Sigma0(a) = ((a>>>9 ^ a)>>>11 ^ a)>>>2), and Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b takes b ^ c from the round
 * before, where it was a ^ b.
 * The schedule is sixteen rounds ahead: before rounds t .. t + 3 run, W[t + 16 .. t + 19] is computed, and after them its sum
 * with the constants takes the place of that of W[t .. t + 3] in SUMS. xmm0..xmm3 hold sixteen words.
 * sigma1 needs words of the same four, so it comes in two halves: W[t + 14, t + 15] give t + 16 and t + 17, and those give
 * t + 18 and t + 19. There each word stands twice in a 64-bit lane, and shifts of the lane rotate it.
 *
 * Alignment and aliasing: h and data are touched by movdqu; aligned operands are constants and the frame, which the function
 * aligns itself. h must not overlap data. With len == 0 nothing is touched. Nothing is written below esp.
 * Constants are found from the program counter.
 * To review: SUMS + 4 (t mod 16) is read by round t before the four sums sixteen rounds later are stored there. A round stores
 * a and e before anything reads their places, and leaves the new ones in registers only: therefore the two stores at
 * the end of a block. bc is b ^ c of the first round of a block, made before it.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha256_blocks_ssse3(uint8_t h[32], const uint8_t *data, size_t len);
 */
#include "sha256_constants.h"
#include "shared/assembly.h"

        .intel_syntax noprefix

/* At these distances from esp after four registers have been pushed: */
#define ARG_H   20
#define ARG_DATA 24
#define ARG_LEN 28

#define va      eax                     /* a; takes turns with new */
#define new     ecx
#define ve      edx
#define bits    esi
#define ab      edi                     /* a ^ b; takes turns with bc */
#define bc      ebx                     /* b ^ c */
#define p_k     ebp

#define t0      xmm4
#define t1      xmm5
#define t2      xmm6

/* Frame: offsets from esp, a multiple of 16. */
#define SUMS    0                       /* 16 words: W[t] + K[t] of the next 16 rounds */
#define STATE   64                      /* 8 words */
#define H       96
#define DATA    100
#define END     104                     /* data + len */
#define K       108                     /* address of the constants */
#define OLD_SP  112
#define FRAME   128

        .section .rodata
        .p2align 4
constants:                              /* FIPS 180-4 4.2.2 */
        .long   SHA256_K
/* Offset from constants: */
#define TURN_BYTES 256                  /* pshufb: bytes of each word turned around */
        .byte   3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12

        .text

/* Round t, i = t mod 16, with the places of a .. h in STATE. a and e are in \va and ve as well, and the new ones are in \new and ve
 * only; \x was b ^ c, \y becomes a ^ b. */
.macro ROUND i, a, b, c, d, e, f, g, h, va, new, x, y
        mov     bits, [esp + STATE + 4 * \f]
        mov     \new, ve
        xor     bits, [esp + STATE + 4 * \g]
        ror     \new, 14
        mov     [esp + STATE + 4 * \e], ve
        xor     \new, ve
        and     bits, ve
        ror     \new, 5
        xor     bits, [esp + STATE + 4 * \g]    /* Ch(e, f, g) */
        xor     \new, ve
        mov     ve, [esp + STATE + 4 * \d]
        ror     \new, 6                         /* Sigma1(e) */
        add     bits, [esp + STATE + 4 * \h]
        add     \new, [esp + SUMS + 4 * (\i)]
        mov     \y, \va
        add     \new, bits
        mov     bits, \va
        mov     [esp + STATE + 4 * \a], \va
        add     ve, \new
        ror     bits, 9
        xor     \y, [esp + STATE + 4 * \b]
        xor     bits, \va
        and     \x, \y
        ror     bits, 11
        xor     \x, [esp + STATE + 4 * \b]      /* Maj(a, b, c) */
        xor     bits, \va
        add     \new, \x
        ror     bits, 2                         /* Sigma0(a) */
        add     \new, bits
.endm

/* The schedule: m0 = W[t .. t + 3] becomes W[t + 16 .. t + 19], m0 .. m3 being sixteen words. */
.macro SIGMA0_AND_SUMS m0, m1, m2, m3
        movdqa  t0, \m1
        movdqa  t1, \m3
        palignr t0, \m0, 4              /* W[t + 1 .. t + 4] */
        palignr t1, \m2, 4              /* W[t + 9 .. t + 12] */
        movdqa  t2, t0
        paddd   \m0, t1
        movdqa  t1, t0
        psrld   t0, 3
        psrld   t2, 7
        pslld   t1, 14
        pxor    t0, t2
        psrld   t2, 11                  /* 18 in all */
        pxor    t0, t1
        pslld   t1, 11                  /* 25 in all */
        pxor    t0, t2
        pxor    t0, t1
        paddd   \m0, t0
.endm
/* t0 = sigma1 of the two words, in lanes 0 and 2, that stand twice in each half of t0 */
.macro SIGMA1
        movdqa  t1, t0
        psrld   t0, 10
        psrlq   t1, 17
        pxor    t0, t1
        psrlq   t1, 2                   /* 19 in all */
        pxor    t0, t1
.endm
.macro FIRST_HALF m0, m3
        pshufd  t0, \m3, 0xfa           /* words 2 2 3 3 */
        SIGMA1
        pshufd  t0, t0, 0x08            /* words 0 2 and two others */
        movq    t0, t0
        paddd   \m0, t0
.endm
.macro SECOND_HALF m0
        pshufd  t0, \m0, 0x50           /* words 0 0 1 1 */
        SIGMA1
        pshufd  t0, t0, 0x08
        pslldq  t0, 8
        paddd   \m0, t0
.endm
.macro STORE_SUMS i, m0
        movdqa  t0, [p_k + 4 * (\i)]
        paddd   t0, \m0
        movdqa  [esp + SUMS + 4 * (\i)], t0
.endm

.macro FOUR_ROUNDS i, a, b, c, d, e, f, g, h
        ROUND   \i + 0, \a, \b, \c, \d, \e, \f, \g, \h, va, new, bc, ab
        ROUND   \i + 1, \h, \a, \b, \c, \d, \e, \f, \g, new, va, ab, bc
        ROUND   \i + 2, \g, \h, \a, \b, \c, \d, \e, \f, va, new, bc, ab
        ROUND   \i + 3, \f, \g, \h, \a, \b, \c, \d, \e, new, va, ab, bc
.endm
.macro FOUR_ROUNDS_AND_WORDS i, a, b, c, d, e, f, g, h, m0, m1, m2, m3
        SIGMA0_AND_SUMS \m0, \m1, \m2, \m3
        ROUND   \i + 0, \a, \b, \c, \d, \e, \f, \g, \h, va, new, bc, ab
        FIRST_HALF \m0, \m3
        ROUND   \i + 1, \h, \a, \b, \c, \d, \e, \f, \g, new, va, ab, bc
        SECOND_HALF \m0
        ROUND   \i + 2, \g, \h, \a, \b, \c, \d, \e, \f, va, new, bc, ab
        ROUND   \i + 3, \f, \g, \h, \a, \b, \c, \d, \e, new, va, ab, bc
        STORE_SUMS \i, \m0
.endm

.macro LOAD_WORDS i, m
        movdqu  \m, [bits + 4 * \i]
        pshufb  \m, [p_k + TURN_BYTES]
        STORE_SUMS \i, \m
.endm

FUNCTION sha256_blocks_ssse3
        push    ebp
        push    ebx
        push    esi
        push    edi
        mov     ecx, [esp + ARG_LEN]
        test    ecx, ecx
        jz      .Lrestore
        mov     edx, esp
        sub     esp, FRAME
        and     esp, -16
        mov     [esp + OLD_SP], edx
        mov     eax, [edx + ARG_H]
        mov     esi, [edx + ARG_DATA]
        add     ecx, esi
        mov     [esp + H], eax
        mov     [esp + DATA], esi
        mov     [esp + END], ecx
        call    .Lprogram_counter
        add     ebp, offset _GLOBAL_OFFSET_TABLE_
        lea     p_k, [ebp + constants@GOTOFF]
        mov     [esp + K], p_k
        movdqu  xmm0, [eax]
        movdqu  xmm1, [eax + 16]
        movdqa  [esp + STATE], xmm0
        movdqa  [esp + STATE + 16], xmm1

        .p2align 4
.Lblock:
        mov     bits, [esp + DATA]
        mov     p_k, [esp + K]
        LOAD_WORDS 0, xmm0
        LOAD_WORDS 4, xmm1
        LOAD_WORDS 8, xmm2
        LOAD_WORDS 12, xmm3
        add     bits, 64
        mov     [esp + DATA], bits
        mov     va, [esp + STATE]
        mov     ve, [esp + STATE + 16]
        mov     bc, [esp + STATE + 4]
        xor     bc, [esp + STATE + 8]
        .p2align 4
.Lsixteen_rounds:
        add     p_k, 64                 /* to the constants of the words to come */
        FOUR_ROUNDS_AND_WORDS 0, 0, 1, 2, 3, 4, 5, 6, 7, xmm0, xmm1, xmm2, xmm3
        FOUR_ROUNDS_AND_WORDS 4, 4, 5, 6, 7, 0, 1, 2, 3, xmm1, xmm2, xmm3, xmm0
        FOUR_ROUNDS_AND_WORDS 8, 0, 1, 2, 3, 4, 5, 6, 7, xmm2, xmm3, xmm0, xmm1
        FOUR_ROUNDS_AND_WORDS 12, 4, 5, 6, 7, 0, 1, 2, 3, xmm3, xmm0, xmm1, xmm2
        lea     bits, [p_k - 192]
        cmp     bits, [esp + K]
        jne     .Lsixteen_rounds

        FOUR_ROUNDS 0, 0, 1, 2, 3, 4, 5, 6, 7
        FOUR_ROUNDS 4, 4, 5, 6, 7, 0, 1, 2, 3
        FOUR_ROUNDS 8, 0, 1, 2, 3, 4, 5, 6, 7
        FOUR_ROUNDS 12, 4, 5, 6, 7, 0, 1, 2, 3

        /* add the chaining value from before the block, which h still holds */
        mov     [esp + STATE], va
        mov     [esp + STATE + 16], ve
        mov     bits, [esp + H]
        movdqu  xmm0, [bits]
        movdqu  xmm1, [bits + 16]
        paddd   xmm0, [esp + STATE]
        paddd   xmm1, [esp + STATE + 16]
        movdqa  [esp + STATE], xmm0
        movdqa  [esp + STATE + 16], xmm1
        movdqu  [bits], xmm0
        movdqu  [bits + 16], xmm1
        mov     bits, [esp + DATA]
        cmp     bits, [esp + END]
        jne     .Lblock

        mov     esp, [esp + OLD_SP]
.Lrestore:
        pop     edi
        pop     esi
        pop     ebx
        pop     ebp
        ret
.Lprogram_counter:
        mov     ebp, [esp]
        ret
FUNCTION_END sha256_blocks_ssse3
