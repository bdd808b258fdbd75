/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "ghash"
variant   = "clmul"
arch      = ["x86", "x86_64"]
provides  = ["init", "update"]
requires  = ["ssse3", "pclmul"]
priority  = 40
state     = { htable = { bytes = 288, align = 16, layout = "clmul" } }
constant_time = true
wipes     = true
cites     = ["NIST SP 800-38D 6.4", "Gueron-Kounavis 2010", "Gueron 2012", "Karatsuba 1962"]
*/
/* GHASH with PCLMULQDQ for i386 (cdecl) and x86-64 (System V): eight blocks share one reduction, the rest go one by one.
 *
 * A block is loaded with its bytes reversed, so that bit 127 of a register is the coefficient of x^0. Reflected numbers multiply
 * into a reflected product that lies one bit too low; powers of H are stored moved up by that bit: P(n) = H^n x^-1.
 *     y = (y ^ m0) H^8 ^ m1 H^7 ^ ... ^ m7 H
 * Each product is three carry-less ones (Karatsuba): low halves, high halves, sums of halves; each kind is summed up on its own.
 * The 256-bit sum is reduced from below, 64 bits at a time: x^128 = 1 + x + x^2 + x^7, so that a word w counts as w 128 bits
 * higher and as w (x^63 + x^62 + x^57, as a number) 64 bits higher.
 * Six registers are all that is needed; both architectures run the same instructions.
 * Aliasing and alignment: h, y and data may lie anywhere (movdqu); the state is aligned to 16. Nothing outside data .. data + len
 * is read; nothing lies on the stack but return addresses.
 * The argument to check: REDUCE, and that the blocks meet descending powers.
 * Nothing branches on or indexes by H, y or data; the length is public.
 *
 *   void ghash_init_clmul(const uint8_t h[16], void *htable);
 *   void ghash_update_clmul(uint8_t y[16], const void *htable, const uint8_t *data, size_t len);
 */
#include "shared/assembly.h"

/* The state */
        .equ    STATE_REVERSE, 0        # pshufb: the bytes from last to first
        .equ    STATE_FOLD, 16          # 0xc2 << 56 in both halves
        .equ    STATE_POWERS, 32        # P(1) to P(8), 16 bytes each
        .equ    STATE_SUMS, 160         # for each of them the sum of its halves in both halves

        .equ    BLOCK, 16
        .equ    GROUP, 128

/* Registers */
#ifdef __x86_64__
#define table   %rsi
#define data    %rdx
#define left    %rcx
#define y_at    %rdi
#else
#define table   %eax
#define data    %ecx
#define left    %edx
#define y_at    %ecx    /* only before and after data is in use */
#endif
#define y       %xmm0   /* the block that is multiplied, then the last temporary */
#define low     %xmm1   /* sums of products */
#define high    %xmm2
#define middle  %xmm3
#define block   %xmm4
#define temp    %xmm5
#define power   %xmm6   /* in init */

/* low, high, middle = the partial products of \x and P(\n); \x is kept. */
.macro  MULTIPLY x, n
        movdqa  \x, low
        movdqa  \x, high
        pshufd  $0x4e, \x, middle
        pxor    \x, middle
        pclmulqdq $0x00, STATE_POWERS+16*\n-16(table), low
        pclmulqdq $0x11, STATE_POWERS+16*\n-16(table), high
        pclmulqdq $0x00, STATE_SUMS+16*\n-16(table), middle
.endm

/* The same, added to what low, high and middle hold, and the power at \base + \at - 16 instead of table; \x is lost. */
.macro  MULTIPLY_ADD x, at, base
        pshufd  $0x4e, \x, temp
        pxor    \x, temp
        pclmulqdq $0x00, STATE_SUMS-16+\at(\base), temp
        pxor    temp, middle
        movdqa  \x, temp
        pclmulqdq $0x00, STATE_POWERS-16+\at(\base), temp
        pxor    temp, low
        pclmulqdq $0x11, STATE_POWERS-16+\at(\base), \x
        pxor    \x, high
.endm

/* y = the reduced sum. The product is high 2^128 + (middle - high - low) 2^64 + low. */
.macro  REDUCE
        pxor    low, middle
        pxor    high, middle
        movdqa  middle, temp
        pslldq  $8, middle
        psrldq  $8, temp
        pxor    middle, low
        pxor    temp, high
        movdqa  STATE_FOLD(table), y
        pclmulqdq $0x00, low, y         # the lowest word: into the two words above it,
        pshufd  $0x4e, low, low         # and once more two words above itself
        pxor    y, low
        movdqa  STATE_FOLD(table), y
        pclmulqdq $0x00, low, y         # the next word, which has moved to the low half
        pshufd  $0x4e, low, low
        pxor    high, y
        pxor    low, y
.endm

        .section .rodata
        .p2align 4
constants:
        .byte   15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
        .quad   0xc200000000000000, 0xc200000000000000
        .quad   0x0000000000000001, 0xc200000000000000  # x^-1: 1 + x + x^6 + x^127

        .text

FUNCTION ghash_init_clmul, 0
#ifdef __x86_64__
#define consts  %rax
#define slot    %rdi
#define count   %ecx
        lea     constants(%rip), consts
        movdqu  (%rdi), y
#else
#define consts  %edx
#define slot    %edx
#define count   %ecx
        mov     4(%esp), %ecx
        call    .Lprogram_counter
.Lhere: lea     constants - .Lhere(consts), consts
        mov     8(%esp), table
        movdqu  (%ecx), y
#endif
        movdqa  (consts), temp
        pshufb  temp, y
        movdqa  temp, STATE_REVERSE(table)
        movdqa  16(consts), temp
        movdqa  temp, STATE_FOLD(table)

        /* P(1) = H x^-1: one bit to the left, x^-1 for the bit that falls out */
        pshufd  $0xff, y, temp
        psrad   $31, temp
        pand    32(consts), temp
        movdqa  y, power
        psllq   $1, power
        psrlq   $63, y
        pslldq  $8, y
        pxor    y, power
        pxor    temp, power
        mov     table, slot
        mov     $8, count
        movdqa  power, y
        jmp     .Lstore
.Lpower:                                /* P(n + 1) = P(n) H = P(n) P(1) x */
        MULTIPLY y, 1
        REDUCE
.Lstore:
        movdqa  y, STATE_POWERS(slot)
        pshufd  $0x4e, y, temp
        pxor    y, temp
        movdqa  temp, STATE_SUMS(slot)
        add     $16, slot
        sub     $1, count
        jnz     .Lpower
        ret

#ifndef __x86_64__
        /* The address of the instruction after the call, in consts. */
.Lprogram_counter:
        mov     (%esp), consts
        ret
#endif
FUNCTION_END ghash_init_clmul

FUNCTION ghash_update_clmul, 0
#ifndef __x86_64__
        mov     4(%esp), y_at
        mov     8(%esp), table
        mov     16(%esp), left
#endif
        movdqu  (y_at), y
#ifndef __x86_64__
        mov     12(%esp), data
#endif
        pshufb  STATE_REVERSE(table), y
        sub     $GROUP, left
        jb      .Lless
.Lgroup:
        movdqu  (data), block
        pshufb  STATE_REVERSE(table), block
        pxor    block, y
        MULTIPLY y, 8
        .irp    n, 1, 2, 3, 4, 5, 6, 7
        movdqu  BLOCK*\n(data), block
        pshufb  STATE_REVERSE(table), block
        MULTIPLY_ADD block, GROUP-BLOCK*\n, table
        .endr
        REDUCE
        add     $GROUP, data
        sub     $GROUP, left
        jae     .Lgroup
.Lless:
        add     $GROUP, left
        jz      .Ldone
        pxor    low, low
        pxor    high, high
        pxor    middle, middle
        add     table, left             /* n blocks are left, 16 n bytes: the first meets P(n) */
.Lblock:
        movdqu  (data), block
        pshufb  STATE_REVERSE(table), block
        pxor    y, block
        MULTIPLY_ADD block, 0, left
        pxor    y, y
        add     $BLOCK, data
        sub     $BLOCK, left
        cmp     table, left
        jne     .Lblock
        REDUCE
.Ldone:
        pshufb  STATE_REVERSE(table), y
#ifndef __x86_64__
        mov     4(%esp), y_at
#endif
        movdqu  y, (y_at)
        ret
FUNCTION_END ghash_update_clmul
