/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "chacha20"
variant   = "armv7"
arch      = "arm32"
provides  = ["xor"]
requires  = []
priority  = 10
constant_time = true
cites     = ["RFC 8439 2.1-2.4"]
*/
/*
 * ChaCha20, one block at a time, in the integer registers of ARMv7-A; neither NEON nor VFP. ARM or Thumb-2, interworking.
 *
 * void chacha20_xor_armv7(uint8_t *out, const uint8_t *data, size_t len,
 *                         const uint8_t key[32], const uint8_t nonce[12], uint32_t counter);
 *
 * Rotations cost nothing: a rotated word is not written back but rotated where it is read next, by the second
 * operand's shifter. Between quarter rounds the registers of words 4..7 hold their word rotated right by 7, to be
 * read through `ror #25`, and those of words 12..15 rotated right by 8, to be read through `ror #24`. The first
 * quarter rounds expect that too, so the frame holds two copies of the input block: START, rotated like this, from
 * which the rounds begin, and STATE, plain, for the feed-forward.
 *
 * Registers: fourteen hold words 0..7, 12..15 and two of 8..11. Two quarter rounds run interleaved and use two of
 * 8..11, so the two pairs change places twice in a double round. No register is left for pointers and counts, which
 * live in the frame; words 8 and 9 make room for the count of rounds while they are in the frame themselves.
 *
 * Alignment and aliasing: data, out, key and nonce are touched only by ldr, str, ldrb and strb, which take any
 * address on ARMv7-A; ldm, ldrd, stm and strd go to the frame only. Four words are loaded and xored before the same
 * four are stored, so out == data is allowed; other overlap is not. The last partial block is copied to the frame,
 * ciphered there like any other block, and copied out: nothing is read or written beyond len.
 *
 * To review: the counter is word 12 of STATE, one 32-bit `add` per block whose carry is not used: it wraps modulo
 * 2^32 and word 13 never changes. START's word 12 is derived from the same register. Branches depend on len only.
 */
#include "shared/assembly.h"

        .text

/* Frame: offsets from sp, which is a multiple of 8. */
#define CD          0                   /* words 8..11 of the block being computed, those not in registers */
#define HIGH        16                  /* words 14, 15 during the output */
#define P_OUT       24                  /* next block's addresses, a pair for ldrd */
#define P_DATA      28
#define LEFT        32                  /* bytes left, those of this block included */
#define P_TAIL      36                  /* where the bytes of the partial block belong */
#define LOOP        40                  /* pairs of double rounds left */
#define STATE       48                  /* 16 words: the input block */
#define START       112                 /* the same, b and d words rotated, in the order 0..7 12 13 8 9 14 15 10 11 */
#define PARTIAL     176                 /* 64 bytes: the partial block */
#define FRAME       244                 /* r4-r11 and lr add 36 bytes: a multiple of 8 */
#define ARG_NONCE   (FRAME + 36)
#define ARG_COUNTER (FRAME + 40)

#define WORD(n)     (4 * (n))
#define START_12    (START + WORD(8))
#define START_10    (START + WORD(14))

/* The block in registers, in START's order. */
x0      .req r0
x1      .req r1
x2      .req r2
x3      .req r3
x4      .req r4
x5      .req r5
x6      .req r6
x7      .req r7
x12     .req r8
x13     .req r9
even    .req r10                        /* word 8 or 10 */
odd     .req r11                        /* word 9 or 11 */
x14     .req r12
x15     .req lr
/* During the output. */
p_out   .req r10
p_data  .req r11
t0      .req r12
t1      .req lr

/* One step of two quarter rounds (RFC 8439 2.1): sum += addend, or word ^= sum; ror #r is still to be done on addend,
 * or on word. */
.macro ADD_TO sum0, addend0, sum1, addend1, r
        add     \sum0, \sum0, \addend0, ror #\r
        add     \sum1, \sum1, \addend1, ror #\r
.endm
.macro EOR_TO word0, sum0, word1, sum1, r
        eor     \word0, \sum0, \word0, ror #\r
        eor     \word1, \sum1, \word1, ror #\r
.endm
.macro TWO_QUARTER_ROUNDS a0, b0, c0, d0, a1, b1, c1, d1
        ADD_TO  \a0, \b0, \a1, \b1, 25
        EOR_TO  \d0, \a0, \d1, \a1, 24
        ADD_TO  \c0, \d0, \c1, \d1, 16  /* d <<<= 16 */
        EOR_TO  \b0, \c0, \b1, \c1, 25
        ADD_TO  \a0, \b0, \a1, \b1, 20  /* b <<<= 12 */
        EOR_TO  \d0, \a0, \d1, \a1, 16
        ADD_TO  \c0, \d0, \c1, \d1, 24  /* d <<<= 8: stays so until the next quarter round */
        EOR_TO  \b0, \c0, \b1, \c1, 20  /* b <<<= 7 is the next reader's ror #25 */
.endm

/* A column round and a diagonal round. Begins and ends with words 8, 9 in (even, odd). last = 1: counts, for bne. */
.macro DOUBLE_ROUND last
        TWO_QUARTER_ROUNDS x0, x4, even, x12, x1, x5, odd, x13
        strd    even, odd, [sp, #CD]
    .if \last
        ldr     even, [sp, #LOOP]
        subs    even, even, #1          /* the flags live until the branch: nothing below sets them */
        str     even, [sp, #LOOP]
    .endif
        ldrd    even, odd, [sp, #CD + WORD(2)]
        TWO_QUARTER_ROUNDS x2, x6, even, x14, x3, x7, odd, x15

        TWO_QUARTER_ROUNDS x0, x5, even, x15, x1, x6, odd, x12
        strd    even, odd, [sp, #CD + WORD(2)]
        ldrd    even, odd, [sp, #CD]
        TWO_QUARTER_ROUNDS x2, x7, even, x13, x3, x4, odd, x14
.endm

/* Feed-forward of words n and n + 1, still to be rotated by r (0: not at all), through (even, odd). */
.macro FEED_FORWARD n, word0, word1, r=0
        ldrd    even, odd, [sp, #STATE + WORD(\n)]
    .if \r
        add     \word0, even, \word0, ror #\r
        add     \word1, odd, \word1, ror #\r
    .else
        add     \word0, \word0, even
        add     \word1, \word1, odd
    .endif
.endm

/* out[n .. n + 3] = data[n .. n + 3] ^ key stream, through t0 and t1 */
.macro XOR_FOUR n, k0, k1, k2, k3
        ldr     t0, [p_data, #WORD(\n)]
        ldr     t1, [p_data, #WORD(\n) + 4]
        eor     \k0, \k0, t0
        ldr     t0, [p_data, #WORD(\n) + 8]
        eor     \k1, \k1, t1
        ldr     t1, [p_data, #WORD(\n) + 12]
        eor     \k2, \k2, t0
        str     \k0, [p_out, #WORD(\n)]
        eor     \k3, \k3, t1
        str     \k1, [p_out, #WORD(\n) + 4]
        str     \k2, [p_out, #WORD(\n) + 8]
        str     \k3, [p_out, #WORD(\n) + 12]
.endm

FUNCTION chacha20_xor_armv7
        cmp     r2, #0
        it      eq
        bxeq    lr
        push    {r4-r11, lr}
        sub     sp, sp, #FRAME
        strd    r0, r1, [sp, #P_OUT]
        str     r2, [sp, #LEFT]

        /* Words 0..3, the constants, and 12..15, counter and nonce. */
        movw    r4, #0x7865             /* "expa" */
        movt    r4, #0x6170
        movw    r5, #0x646e             /* "nd 3" */
        movt    r5, #0x3320
        movw    r6, #0x2d32             /* "2-by" */
        movt    r6, #0x7962
        movw    r7, #0x6574             /* "te k" */
        movt    r7, #0x6b20
        ldr     r0, [sp, #ARG_NONCE]
        ldr     r8, [sp, #ARG_COUNTER]
        ldr     r9, [r0]
        ldr     r10, [r0, #4]
        ldr     r11, [r0, #8]
        add     r12, sp, #STATE
        stm     r12, {r4-r7}
        add     r12, sp, #STATE + WORD(12)
        stm     r12, {r8-r11}
        add     r12, sp, #START
        stm     r12, {r4-r7}
        ror     r8, r8, #8
        ror     r9, r9, #8
        strd    r8, r9, [sp, #START + WORD(8)]
        ror     r10, r10, #8
        ror     r11, r11, #8
        strd    r10, r11, [sp, #START + WORD(12)]

        /* Words 4..11, the key. */
        ldr     r4, [r3]
        ldr     r5, [r3, #4]
        ldr     r6, [r3, #8]
        ldr     r7, [r3, #12]
        ldr     r8, [r3, #16]
        ldr     r9, [r3, #20]
        ldr     r10, [r3, #24]
        ldr     r11, [r3, #28]
        add     r12, sp, #STATE + WORD(4)
        stm     r12, {r4-r11}
        strd    r8, r9, [sp, #START + WORD(10)]
        strd    r10, r11, [sp, #START_10]
        ror     r4, r4, #7
        ror     r5, r5, #7
        ror     r6, r6, #7
        ror     r7, r7, #7
        add     r12, sp, #START + WORD(4)
        stm     r12, {r4-r7}

        cmp     r2, #64
        blo     .Lpartial_in

.Lblock:
        ldrd    r0, r1, [sp, #START_10]
        strd    r0, r1, [sp, #CD + WORD(2)]
        mov     r2, #5
        str     r2, [sp, #LOOP]
        add     lr, sp, #START
        ldm     lr, {x0-x7, x12, x13, even, odd, x14, x15}
.Lrounds:
        DOUBLE_ROUND 0
        DOUBLE_ROUND 1
        bne     .Lrounds

        strd    even, odd, [sp, #CD]
        FEED_FORWARD 0, x0, x1
        FEED_FORWARD 2, x2, x3
        FEED_FORWARD 4, x4, x5, 25
        FEED_FORWARD 6, x6, x7, 25
        FEED_FORWARD 12, x12, x13, 24
        FEED_FORWARD 14, x14, x15, 24
        str     x14, [sp, #HIGH]
        str     x15, [sp, #HIGH + 4]

        ldrd    p_out, p_data, [sp, #P_OUT]
        XOR_FOUR 0, x0, x1, x2, x3
        XOR_FOUR 4, x4, x5, x6, x7
        ldm     sp, {r0-r3}             /* CD: words 8..11 */
        add     t0, sp, #STATE + WORD(8)
        ldm     t0, {r4-r7}
        add     r0, r0, r4
        add     r1, r1, r5
        add     r2, r2, r6
        add     r3, r3, r7
        XOR_FOUR 8, r0, r1, r2, r3
        ldrd    r0, r1, [sp, #HIGH]
        XOR_FOUR 12, x12, x13, r0, r1

        /* Next block: counter modulo 2^32, pointers, length. */
        ldr     r3, [sp, #STATE + WORD(12)]
        ldr     r2, [sp, #LEFT]
        add     r3, r3, #1
        str     r3, [sp, #STATE + WORD(12)]
        ror     r3, r3, #8
        str     r3, [sp, #START_12]
        subs    r2, r2, #64
        blo     .Lpartial_out
        str     r2, [sp, #LEFT]
        add     p_out, p_out, #64
        add     p_data, p_data, #64
        strd    p_out, p_data, [sp, #P_OUT]
        cmp     r2, #64
        bhs     .Lblock
        cmp     r2, #0
        beq     .Ldone

        /* 1..63 bytes (r2) are left: they become a block of their own in the frame. */
.Lpartial_in:
        ldrd    r0, r1, [sp, #P_OUT]
        str     r0, [sp, #P_TAIL]
        add     r3, sp, #PARTIAL
        str     r3, [sp, #P_OUT]
        str     r3, [sp, #P_DATA]
.Lcopy_in:
        ldrb    r4, [r1], #1
        strb    r4, [r3], #1
        subs    r2, r2, #1
        bne     .Lcopy_in
        b       .Lblock

        /* r2 = left - 64 */
.Lpartial_out:
        add     r2, r2, #64
        ldr     r0, [sp, #P_TAIL]
        add     r3, sp, #PARTIAL
.Lcopy_out:
        ldrb    r4, [r3], #1
        strb    r4, [r0], #1
        subs    r2, r2, #1
        bne     .Lcopy_out

.Ldone:
        add     sp, sp, #FRAME
        pop     {r4-r11, pc}
FUNCTION_END chacha20_xor_armv7
