/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "ghash"
variant   = "ssse3"
arch      = ["x86", "x86_64"]
provides  = ["init", "update"]
requires  = ["ssse3"]
priority  = 20
state     = { htable = { bytes = 592, align = 16, layout = "ssse3" } }
constant_time = true
wipes     = true
cites     = ["NIST SP 800-38D 6.4", "Shoup 1996", "Hamburg 2009"]
*/
/* GHASH in constant time with pshufb for i386 (cdecl) and x86-64 (System V): tables of nibbles that lie in registers.
 *
 * Shoup's tables hold n H for the sixteen values n of a nibble. Here they are stored by rows: row i holds byte i of all sixteen
 * products, so that one pshufb looks up byte i for all sixteen low nibbles of a block at once, another one for the high nibbles.
 * Byte j of the vector that row i gives belongs to byte i + j of the product (31 bytes). Horner's rule adds the vectors up: from row
 * 15 down, the sum of two registers moves up by one byte and the row's vector is added below.
 * The bytes from 16 on stand for powers from x^128 on; x^128 = 1 + x + x^2 + x^7. A byte times this is two bytes, each again looked
 * up by nibbles. Blocks are used as they lie in memory: byte 0 of a register holds x^0 to x^7, with x^0 in bit 7.
 * Six registers are all that is needed; both architectures run the same instructions.
 * Aliasing and alignment: h, y and data may lie anywhere (movdqu); the state is aligned to 16. Nothing outside data .. data + len
 * is read; nothing lies on the stack but return addresses.
 * The argument to check: every pshufb's index is a nibble (bit 7 clear), and the last carry of FOLD leaves the register only from
 * byte 15, which is zero as the product has 31 bytes.
 * Nothing branches on or indexes memory by H, y or data; the length is public.
 *
 *   void ghash_init_ssse3(const uint8_t h[16], void *htable);
 *   void ghash_update_ssse3(uint8_t y[16], const void *htable, const uint8_t *data, size_t len);
 */
#include "shared/assembly.h"

/* The state */
        .equ    STATE_LOW, 0            # row i for low nibbles, whose bit 3 is x^4, at 32 i
        .equ    STATE_HIGH, 16          # row i for high nibbles, whose bit 3 is x^0, at 32 i + 16
        .equ    ROW, 32
        .equ    STATE_FOLD, 512         # nibbles times 1 + x + x^2 + x^7: lower byte for low and high nibbles, upper byte
        .equ    STATE_NIBBLE, 576       # 0x0f in all bytes

        .equ    BLOCK, 16

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
#define y       %xmm0   /* also the lower half of the product */
#define upper   %xmm1   /* its upper half */
#define lows    %xmm2   /* nibbles of a block */
#define highs   %xmm3
#define found   %xmm4
#define other   %xmm5

/* lows and highs = the nibbles of highs */
.macro  NIBBLES
        movdqa  highs, lows
        psrlw   $4, highs
        pand    STATE_NIBBLE(table), lows
        pand    STATE_NIBBLE(table), highs
.endm

/* \sum ^= what the tables at \low and \high hold for lows and highs */
.macro  LOOK_UP low, high, sum
        movdqa  \low(table), found
        pshufb  lows, found
        movdqa  \high(table), other
        pshufb  highs, other
        pxor    found, \sum
        pxor    other, \sum
.endm

/* y = (y ^ the block at data) * H */
.macro  MULTIPLY
        movdqu  (data), highs
        pxor    y, highs
        NIBBLES
        pxor    y, y
        pxor    upper, upper
        LOOK_UP STATE_LOW+ROW*15, STATE_HIGH+ROW*15, y
        .irp    i, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
        palignr $15, y, upper           # one byte up
        pslldq  $1, y
        LOOK_UP STATE_LOW+ROW*\i, STATE_HIGH+ROW*\i, y
        .endr
        movdqa  upper, highs            # FOLD
        NIBBLES
        LOOK_UP STATE_FOLD, STATE_FOLD+16, y
        pxor    upper, upper
        LOOK_UP STATE_FOLD+32, STATE_FOLD+48, upper
        pslldq  $1, upper
        pxor    upper, y
.endm

        .section .rodata
        .p2align 4
constants:
#define REVERSE 0       /* pshufb: the bytes from last to first */
        .byte   15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
#define LAST    16      /* pshufb: byte 15 everywhere */
        .byte   15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
#define BITS    32      /* all ones where the number of the byte has bit 3, 2, 1, 0 */
        .byte   0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
        .byte   0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff
        .byte   0x00, 0x00, 0xff, 0xff, 0x00, 0x00, 0xff, 0xff, 0x00, 0x00, 0xff, 0xff, 0x00, 0x00, 0xff, 0xff
        .byte   0x00, 0xff, 0x00, 0xff, 0x00, 0xff, 0x00, 0xff, 0x00, 0xff, 0x00, 0xff, 0x00, 0xff, 0x00, 0xff
#define R       96      /* 1 + x + x^2 + x^7 in the highest byte */
        .byte   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe1
#define FOLDS   112     /* what STATE_FOLD and STATE_NIBBLE hold */
        .byte   0x00, 0x01, 0x03, 0x02, 0x07, 0x06, 0x04, 0x05, 0x0e, 0x0f, 0x0d, 0x0c, 0x09, 0x08, 0x0a, 0x0b
        .byte   0x00, 0x1c, 0x38, 0x24, 0x70, 0x6c, 0x48, 0x54, 0xe1, 0xfd, 0xd9, 0xc5, 0x91, 0x8d, 0xa9, 0xb5
        .byte   0x00, 0xc2, 0x84, 0x46, 0x08, 0xca, 0x8c, 0x4e, 0x10, 0xd2, 0x94, 0x56, 0x18, 0xda, 0x9c, 0x5e
        .byte   0x00, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0
        .byte   15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15

        .text

/* Registers of init. Elements have their bytes reversed here: bit 127 is x^0. */
#ifdef __x86_64__
#define consts  %rax
#define slot    %rdi
#else
#define consts  %edx
#define slot    %eax    /* table is not needed after the start */
#endif
#define count   %ecx
#define power0  %xmm0   /* H x^k for a nibble's bits 3, 2, 1, 0 */
#define power1  %xmm1
#define power2  %xmm2
#define power3  %xmm3
#define turn    %xmm4   /* pshufb: broadcasts byte i, counted from the highest */
#define row     %xmm5
#define temp    %xmm6
#define minus1  %xmm7

/* \product = \element * x: one bit to the right, R for the bit that falls out. row and temp are lost. */
.macro  TIMES_X element, product
        movdqa  \element, row
        psllq   $63, row
        pshufd  $0x55, row, temp
        psrad   $31, temp
        pand    R(consts), temp
        psrldq  $8, row
        pxor    row, temp
        .ifnc   \element, \product
        movdqa  \element, \product
        .endif
        psrlq   $1, \product
        pxor    temp, \product
.endm

/* row = or ^= byte i of \power where a nibble has its bit */
.macro  ADD_BIT power, at, sum
        movdqa  \power, \sum
        pshufb  turn, \sum
        pand    BITS+\at(consts), \sum
        .ifnc   \sum, row
        pxor    \sum, row
        .endif
.endm

FUNCTION ghash_init_ssse3, 0
#ifdef __x86_64__
        lea     constants(%rip), consts
        movdqu  (%rdi), power0
        mov     table, slot
#else
        mov     4(%esp), %ecx
        call    .Lprogram_counter
.Lhere: lea     constants - .Lhere(consts), consts
        mov     8(%esp), slot
        movdqu  (%ecx), power0
#endif
        .irp    at, 0, 16, 32, 48, 64
        movdqa  FOLDS+\at(consts), temp
        movdqa  temp, STATE_FOLD+\at(slot)
        .endr
        pshufb  REVERSE(consts), power0
        pcmpeqb minus1, minus1
        TIMES_X power0, power1
        TIMES_X power1, power2
        TIMES_X power2, power3
        add     $STATE_HIGH, slot
        mov     $32, count
.Lhalf:                                 /* high nibbles first, then low ones */
        movdqa  LAST(consts), turn
.Lrow:
        ADD_BIT power0, 0, row
        ADD_BIT power1, 16, temp
        ADD_BIT power2, 32, temp
        ADD_BIT power3, 48, temp
        movdqa  row, (slot)
        add     $ROW, slot
        paddb   minus1, turn
        sub     $1, count
        test    $15, count
        jnz     .Lrow
        TIMES_X power3, power0
        TIMES_X power0, power1
        TIMES_X power1, power2
        TIMES_X power2, power3
        sub     $ROW*16 + STATE_HIGH - STATE_LOW, slot
        test    count, count
        jnz     .Lhalf
        ret

#ifndef __x86_64__
        /* The address of the instruction after the call, in consts. */
.Lprogram_counter:
        mov     (%esp), consts
        ret
#endif
FUNCTION_END ghash_init_ssse3

FUNCTION ghash_update_ssse3, 0
#ifndef __x86_64__
        mov     4(%esp), y_at
        mov     8(%esp), table
        mov     16(%esp), left
#endif
        movdqu  (y_at), y
#ifndef __x86_64__
        mov     12(%esp), data
#endif
        test    left, left
        jz      .Ldone
.Lblock:
        MULTIPLY
        add     $BLOCK, data
        sub     $BLOCK, left
        jnz     .Lblock
.Ldone:
#ifndef __x86_64__
        mov     4(%esp), y_at
#endif
        movdqu  y, (y_at)
        ret
FUNCTION_END ghash_update_ssse3
