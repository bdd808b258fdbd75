/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha1"
variant   = "shani"
arch      = ["x86", "x86_64"]
provides  = ["blocks"]
requires  = ["ssse3", "shani"]
priority  = 30
constant_time = true
cites     = ["FIPS 180-4 6.1.2", "Intel SDM vol. 2, SHA1RNDS4, SHA1NEXTE, SHA1MSG1, SHA1MSG2"]
*/
/* SHA-1's compression function with the SHA extensions: four rounds by SHA1RNDS4, the e of the next four, added to their words, by
 * SHA1NEXTE, four words of the schedule by SHA1MSG1 and SHA1MSG2. One source for 32-bit and 64-bit x86.
 *
 * a, e and the earliest of four words are in the highest lane, so that loading a chaining value or words means turning the lanes
 * around. e_now and e_next take turns: one holds e and the words of these four rounds, the other becomes the working
 * variables before them, of which SHA1NEXTE makes the next e. w0..w3 are sixteen words of the schedule and move on in
 * place: w0 = W[t .. t + 3] becomes W[t + 16 .. t + 19].
 *
 * Alignment and aliasing: h and data are touched by movdqu and movd; aligned operands are constants and the frame, which the
 * function aligns itself. h must not overlap data. With len == 0 nothing is touched. Of h, exactly 20 bytes. Nothing
 * is written below the stack pointer. 32-bit x86 finds the constant from the program counter.
 * To review: the first e is added to the words by paddd, all later ones by SHA1NEXTE, which rotates what was a; at the end it adds
 * to the e from before the block in the same way. The number of SHA1RNDS4 chooses function and constant of twenty rounds.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha1_blocks_shani(uint8_t h[20], const uint8_t *data, size_t len);
 */
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

#define abcd    xmm0
#define e_now   xmm1
#define e_next  xmm2
#define w0      xmm3
#define w1      xmm4
#define w2      xmm5
#define w3      xmm6
#define turn    xmm7                    /* pshufb: all bytes turned around */

/* Frame: offsets from the stack pointer, a multiple of 16. */
#define ABCD    0                       /* from before the block */
#define E       16
#define FRAME   32

        .section .rodata
        .p2align 4
turn_bytes:
        .byte   15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0

        .text

/* Rounds of function f; \e holds e, and \next becomes what the next e is made of. */
.macro FOUR_ROUNDS f, m, e, next
        sha1nexte \e, \m
        movdqa  \next, abcd
        sha1rnds4 abcd, \e, \f
.endm

/* The same, and m0 becomes the four words sixteen later; m0..m3 are sixteen words in order. */
.macro FOUR_ROUNDS_AND_WORDS f, m0, m1, m2, m3, e, next
        sha1nexte \e, \m0
        movdqa  \next, abcd
        sha1rnds4 abcd, \e, \f
        MORE_WORDS \m0, \m1, \m2, \m3
.endm
.macro MORE_WORDS m0, m1, m2, m3
        sha1msg1 \m0, \m1
        pxor    \m0, \m2
        sha1msg2 \m0, \m3
.endm

.macro LOAD_WORDS i, m
        movdqu  \m, [p_data + 16 * \i]
        pshufb  \m, turn
.endm

FUNCTION sha1_blocks_shani
#ifdef __x86_64__
        test    p_end, p_end
        jz      .Lreturn
        mov     old_sp, rsp
        lea     p_k, [rip + turn_bytes]
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
        lea     p_k, [ecx + turn_bytes@GOTOFF]
#endif
        sub     sp, FRAME
        and     sp, -16
        add     p_end, p_data
        movdqa  turn, [p_k]
        movdqu  abcd, [p_h]
        movd    e_now, dword ptr [p_h + 16]
        pshufd  abcd, abcd, 0x1b
        pslldq  e_now, 12

        .p2align 4
.Lblock:
        movdqa  [sp + ABCD], abcd
        movdqa  [sp + E], e_now
        LOAD_WORDS 0, w0
        LOAD_WORDS 1, w1
        LOAD_WORDS 2, w2
        LOAD_WORDS 3, w3
        add     p_data, 64

        paddd   e_now, w0
        movdqa  e_next, abcd
        sha1rnds4 abcd, e_now, 0
        MORE_WORDS w0, w1, w2, w3
        FOUR_ROUNDS_AND_WORDS 0, w1, w2, w3, w0, e_next, e_now
        FOUR_ROUNDS_AND_WORDS 0, w2, w3, w0, w1, e_now, e_next
        FOUR_ROUNDS_AND_WORDS 0, w3, w0, w1, w2, e_next, e_now
        FOUR_ROUNDS_AND_WORDS 0, w0, w1, w2, w3, e_now, e_next
        FOUR_ROUNDS_AND_WORDS 1, w1, w2, w3, w0, e_next, e_now
        FOUR_ROUNDS_AND_WORDS 1, w2, w3, w0, w1, e_now, e_next
        FOUR_ROUNDS_AND_WORDS 1, w3, w0, w1, w2, e_next, e_now
        FOUR_ROUNDS_AND_WORDS 1, w0, w1, w2, w3, e_now, e_next
        FOUR_ROUNDS_AND_WORDS 1, w1, w2, w3, w0, e_next, e_now
        FOUR_ROUNDS_AND_WORDS 2, w2, w3, w0, w1, e_now, e_next
        FOUR_ROUNDS_AND_WORDS 2, w3, w0, w1, w2, e_next, e_now
        FOUR_ROUNDS_AND_WORDS 2, w0, w1, w2, w3, e_now, e_next
        FOUR_ROUNDS_AND_WORDS 2, w1, w2, w3, w0, e_next, e_now
        FOUR_ROUNDS_AND_WORDS 2, w2, w3, w0, w1, e_now, e_next
        FOUR_ROUNDS_AND_WORDS 3, w3, w0, w1, w2, e_next, e_now
        FOUR_ROUNDS 3, w0, e_now, e_next
        FOUR_ROUNDS 3, w1, e_next, e_now
        FOUR_ROUNDS 3, w2, e_now, e_next
        FOUR_ROUNDS 3, w3, e_next, e_now

        sha1nexte e_now, [sp + E]
        paddd   abcd, [sp + ABCD]
        cmp     p_data, p_end
        jne     .Lblock

        pshufd  abcd, abcd, 0x1b
        psrldq  e_now, 12
        movdqu  [p_h], abcd
        movd    dword ptr [p_h + 16], e_now
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
FUNCTION_END sha1_blocks_shani
