/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "x25519"
variant   = "neon"
arch      = "arm32"
provides  = ["scalarmult"]
requires  = ["neon"]
priority  = 20
constant_time = true
cites     = ["RFC 7748 5", "Bernstein 2006", "Bernstein-Schwabe 2012"]
*/
/* X25519 for ARMv7-A with NEON, ARM or Thumb-2, interworking returns.
 *
 * Numbers modulo p = 2^255 - 19 are ten limbs in radix 2^25.5: limb i counts 2^ceil(25.5 i) and has 26 bits for even i, 25 for
 * odd i. The product of two odd limbs is thus counted twice, and what passes 2^255 comes back times 19. Everything works on
 * pairs of numbers (first, second), limb i of both in the two 32-bit lanes of one d register, 80 bytes in memory. The four
 * pairs of multiplications in a step of the ladder, and one that is alone:
 *     (da, cb)    = (a, b) (d, c)
 *     (x3, w)     = (da + cb, da - cb)^2
 *     (aa, bb)    = (a, b)^2 or (c, d)^2
 *     (x2, z2)    = (aa, e) (bb, aa + A24 e)
 *     (x3, z3)    = (x3, w) (1, x1)
 * Two kinds of bounds:
 *     tight: even limbs < 2^26, odd limbs < 2^25, but limb 1 < 2^25 + 2^12 and limb 6 < 2^26 + 2^12
 *     loose: even limbs < 3 * 2^26 + 2^12, odd limbs < 3 * 2^25 + 2^13     (sums and differences of tight numbers)
 * Multiplications take loose numbers, 19 times a loose limb is < 2^32, and give tight ones.
 * The Montgomery ladder of RFC 7748 swaps (x2, z2) and (x3, z3). Its sum is symmetric in the two, so it is enough to select
 * which of them is doubled. Bit t of SWAPS says whether the ladder swaps before step t; after the last one it never does, as
 * the last bit of a clamped scalar is 0.
 * Aliasing and alignment: out, scalar and point may lie anywhere (single ldr and str); out may be scalar or point.
 * The argument to check: the bounds in MULTIPLY_ROW and CARRY. Columns are < 1123 * 2^52 < 2^63, and both carry chains go on
 * until what they carry is below 2^12.
 * Nothing branches on or indexes by scalar or point.
 *
 *   void x25519_scalarmult_neon(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32]);
 */

#include "shared/assembly.h"

        .text

/* The frame: eight pairs, in the inversion named otherwise */
        .equ    PAIR_2, 0               @ (x2, z2)
        .equ    PAIR_3, 80              @ (x3, z3)
        .equ    ONE_X1, 160             @ (1, x1)
        .equ    PAIR_AB, 240            @ (a, b) = (x2 + z2, x2 - z2)
        .equ    PAIR_CD, 320            @ (c, d) = (x3 + z3, x3 - z3); later (aa, e)
        .equ    PAIR_DC, 400            @ (d, c)
        .equ    DOUBLED, 480            @ what is doubled: (a, b) or (c, d)
        .equ    PAIR_T, 560             @ (da + cb, da - cb)
        .equ    SWAPS, 640              @ 8 words: the clamped scalar, exclusive or with itself moved right by one bit
        .equ    OUT, 672                @ the pointer to out
        .equ    FRAME_BYTES, 680
        .equ    SIGNS, 80               @ in the constants, after (0, 2p)
        .equ    INVERSE_A, PAIR_AB
        .equ    INVERSE_B, PAIR_CD
        .equ    INVERSE_C, PAIR_DC
        .equ    INVERSE_D, DOUBLED

/* NEON registers: q0-q9 columns of a product, two lanes of 64 bits; d20-d29 (q10-q14) a pair; d30, d31 a multiplier, as it is
 * and twice. */
#define col0    q0
#define col1    q1
#define col2    q2
#define col3    q3
#define col4    q4
#define col5    q5
#define col6    q6
#define col7    q7
#define col8    q8
#define col9    q9
#define g0      d20
#define g1      d21
#define g2      d22
#define g3      d23
#define g4      d24
#define g5      d25
#define g6      d26
#define g7      d27
#define g8      d28
#define g9      d29
#define f0      d20
#define f1      d21
#define f2      d22
#define f3      d23
#define f4      d24
#define f5      d25
#define f6      d26
#define f7      d27
#define f8      d28
#define f9      d29
#define factor  d30
#define twice   d31
#define mask25  q14
#define mask26  q15
step    .req    r4              @ ladder: number of the scalar's bit, 254 .. 0
constants .req  r5

/* q0-q4 = (x + z, x - z + 2p) of the tight pair (x, z) in q10-q14, loose. Loads q5-q9 = (0, 2p) and q15 = (1, -1). */
.macro  SUM_AND_DIFFERENCE
        vldm    constants, {d10-d19}
        add     r12, constants, #SIGNS
        vldm    r12, {d30-d31}
        vrev64.32 q0, q10               @ (z, x)
        vrev64.32 q1, q11
        vrev64.32 q2, q12
        vrev64.32 q3, q13
        vrev64.32 q4, q14
        vadd.i32 q0, q0, q5             @ (z, x + 2p)
        vadd.i32 q1, q1, q6
        vadd.i32 q2, q2, q7
        vadd.i32 q3, q3, q8
        vadd.i32 q4, q4, q9
        vmla.i32 q0, q10, q15           @ even limbs < 2^27 + 2^13 and 2^26 + 2^12 + 2^27, odd ones half that, all > 0
        vmla.i32 q1, q11, q15
        vmla.i32 q2, q12, q15
        vmla.i32 q3, q13, q15
        vmla.i32 q4, q14, q15
.endm

/* d20-d29 = columns modulo p, tight. Two chains go side by side: columns 0 to 6, and 5 to 9, 0 and 1.
 * Columns < 1123, 695, 880, 533, 636, 370, 393, 208, 149, 46 times 2^52, and every carry in is < 2^37. */
.macro  CARRY
        vmov.i8 q14, #0xff
        vshr.u64 mask26, q14, #38
        vshr.u64 mask25, q14, #39
        vsra.u64 col1, col0, #26        @ 1123 * 2^26 carried
        vand    col0, col0, mask26
        vsra.u64 col6, col5, #25        @ 370 * 2^27
        vand    col5, col5, mask25
        vsra.u64 col2, col1, #25        @ < 696 * 2^27
        vand    col1, col1, mask25
        vsra.u64 col7, col6, #26        @ < 394 * 2^26
        vand    col6, col6, mask26
        vsra.u64 col3, col2, #26        @ < 881 * 2^26
        vand    col2, col2, mask26
        vsra.u64 col8, col7, #25        @ < 209 * 2^27
        vand    col7, col7, mask25
        vsra.u64 col4, col3, #25        @ < 534 * 2^27
        vand    col3, col3, mask25
        vsra.u64 col9, col8, #26        @ < 150 * 2^26
        vand    col8, col8, mask26
        vsra.u64 col5, col4, #26        @ < 637 * 2^26: col5 < 2^36
        vand    col4, col4, mask26
        vbic    q10, col9, mask25       @ 2^25 times a carry of < 47 * 2^27
        vand    col9, col9, mask25
        vsra.u64 col0, q10, #25         @ 19 = 1 + 2 + 16 times it
        vsra.u64 col0, q10, #24
        vsra.u64 col0, q10, #21         @ col0 < 2^26 + 19 * 47 * 2^27 < 2^37
        vsra.u64 col6, col5, #25        @ limb 6 < 2^26 + 2^11
        vand    col5, col5, mask25
        vsra.u64 col1, col0, #26        @ limb 1 < 2^25 + 2^11
        vand    col0, col0, mask26
        vmovn.i64 g0, col0
        vmovn.i64 g1, col1
        vmovn.i64 g2, col2
        vmovn.i64 g3, col3
        vmovn.i64 g4, col4
        vmovn.i64 g5, col5
        vmovn.i64 g6, col6
        vmovn.i64 g7, col7
        vmovn.i64 g8, col8              @ the masks end here
        vmovn.i64 g9, col9
.endm

/* one limb of f, for even and for odd limbs of g, times g; x0 .. x9 are the columns of the products.
 * Two even limbs make < 9.01 * 2^52, two odd ones doubled or an even and an odd one < 9.01 * 2^51. Column 0 has the most:
 * 1 + 4 * 19 of the first kind and 5 * 19 of the second, < 1123 * 2^52. */
.macro  MULTIPLY_ROW op, even, odd, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9
        \op     \x0, g0, \even
        \op     \x1, g1, \odd
        \op     \x2, g2, \even
        \op     \x3, g3, \odd
        \op     \x4, g4, \even
        \op     \x5, g5, \odd
        \op     \x6, g6, \even
        \op     \x7, g7, \odd
        \op     \x8, g8, \even
        \op     \x9, g9, \odd
.endm

/* x25519_multiply_neon: pair r0 = pair r1 * pair r2, also left in d20-d29; x25519_multiply_by_neon finds the second pair there.
 * Loose pairs give a tight one; r0 may be any of them. Local functions, change r1 and the NEON registers. */
LOCAL_FUNCTION x25519_multiply_neon, 2
        vldm    r2, {d20-d29}
FUNCTION_END x25519_multiply_neon
LOCAL_FUNCTION x25519_multiply_by_neon, 0
        /* limb i of f, from i = 1 on with limb 10 - i of g times 19, < 57 * 2^26 + 2^17 < 2^32 */
        vld1.32 {factor}, [r1]!
        MULTIPLY_ROW vmull.u32, factor, factor, col0, col1, col2, col3, col4, col5, col6, col7, col8, col9
        vmov.i32 factor, #19
        vmul.i32 g9, g9, factor
        vld1.32 {factor}, [r1]!
        vadd.i32 twice, factor, factor
        MULTIPLY_ROW vmlal.u32, factor, twice, col1, col2, col3, col4, col5, col6, col7, col8, col9, col0
        vmov.i32 factor, #19
        vmul.i32 g8, g8, factor
        vld1.32 {factor}, [r1]!
        MULTIPLY_ROW vmlal.u32, factor, factor, col2, col3, col4, col5, col6, col7, col8, col9, col0, col1
        vmov.i32 factor, #19
        vmul.i32 g7, g7, factor
        vld1.32 {factor}, [r1]!
        vadd.i32 twice, factor, factor
        MULTIPLY_ROW vmlal.u32, factor, twice, col3, col4, col5, col6, col7, col8, col9, col0, col1, col2
        vmov.i32 factor, #19
        vmul.i32 g6, g6, factor
        vld1.32 {factor}, [r1]!
        MULTIPLY_ROW vmlal.u32, factor, factor, col4, col5, col6, col7, col8, col9, col0, col1, col2, col3
        vmov.i32 factor, #19
        vmul.i32 g5, g5, factor
        vld1.32 {factor}, [r1]!
        vadd.i32 twice, factor, factor
        MULTIPLY_ROW vmlal.u32, factor, twice, col5, col6, col7, col8, col9, col0, col1, col2, col3, col4
        vmov.i32 factor, #19
        vmul.i32 g4, g4, factor
        vld1.32 {factor}, [r1]!
        MULTIPLY_ROW vmlal.u32, factor, factor, col6, col7, col8, col9, col0, col1, col2, col3, col4, col5
        vmov.i32 factor, #19
        vmul.i32 g3, g3, factor
        vld1.32 {factor}, [r1]!
        vadd.i32 twice, factor, factor
        MULTIPLY_ROW vmlal.u32, factor, twice, col7, col8, col9, col0, col1, col2, col3, col4, col5, col6
        vmov.i32 factor, #19
        vmul.i32 g2, g2, factor
        vld1.32 {factor}, [r1]!
        MULTIPLY_ROW vmlal.u32, factor, factor, col8, col9, col0, col1, col2, col3, col4, col5, col6, col7
        vmov.i32 factor, #19
        vmul.i32 g1, g1, factor
        vld1.32 {factor}, [r1]!
        vadd.i32 twice, factor, factor
        MULTIPLY_ROW vmlal.u32, factor, twice, col9, col0, col1, col2, col3, col4, col5, col6, col7, col8
        CARRY
        vstm    r0, {d20-d29}
        bx      lr
FUNCTION_END x25519_multiply_by_neon

/* x25519_square_neon: pair r0 = (pair r1)^(2^r3), r3 > 0, also left in d20-d29. A loose pair gives a tight one; r0 may be r1.
 * The columns of MULTIPLY_ROW, equal products taken together: times 2, and times 4 for two odd limbs. Multipliers are
 * < 4 * 3.01 * 2^25. A local function, changes r1, r3 and the NEON registers. */
LOCAL_FUNCTION x25519_square_neon, 2
        vldm    r1, {d20-d29}
        /* row 0 */
        vadd.i32 twice, f0, f0          @ < 6 * 2^26
        vmull.u32 col0, f0, f0
        vmull.u32 col1, f1, twice
        vmull.u32 col2, f2, twice
        vmull.u32 col3, f3, twice
        vmull.u32 col4, f4, twice
        vmull.u32 col5, f5, twice
        vmull.u32 col6, f6, twice
        vmull.u32 col7, f7, twice
        vmull.u32 col8, f8, twice
        vmull.u32 col9, f9, twice
        /* row 1: f9 x 19 from here on */
        vmov.i32 factor, #19
        vmul.i32 f9, f9, factor
        vadd.i32 twice, f1, f1
        vmlal.u32 col2, f1, twice
        vadd.i32 factor, twice, twice
        vmlal.u32 col3, f2, twice
        vmlal.u32 col4, f3, factor
        vmlal.u32 col5, f4, twice
        vmlal.u32 col6, f5, factor
        vmlal.u32 col7, f6, twice
        vmlal.u32 col8, f7, factor
        vmlal.u32 col9, f8, twice
        vmlal.u32 col0, f9, factor
        /* row 2: f8 x 19 from here on */
        vmov.i32 factor, #19
        vmul.i32 f8, f8, factor
        vadd.i32 twice, f2, f2
        vmlal.u32 col4, f2, f2
        vmlal.u32 col5, f3, twice
        vmlal.u32 col6, f4, twice
        vmlal.u32 col7, f5, twice
        vmlal.u32 col8, f6, twice
        vmlal.u32 col9, f7, twice
        vmlal.u32 col0, f8, twice
        vmlal.u32 col1, f9, twice
        /* row 3: f7 x 19 from here on */
        vmov.i32 factor, #19
        vmul.i32 f7, f7, factor
        vadd.i32 twice, f3, f3
        vmlal.u32 col6, f3, twice
        vadd.i32 factor, twice, twice
        vmlal.u32 col7, f4, twice
        vmlal.u32 col8, f5, factor
        vmlal.u32 col9, f6, twice
        vmlal.u32 col0, f7, factor
        vmlal.u32 col1, f8, twice
        vmlal.u32 col2, f9, factor
        /* row 4: f6 x 19 from here on */
        vmov.i32 factor, #19
        vmul.i32 f6, f6, factor
        vadd.i32 twice, f4, f4
        vmlal.u32 col8, f4, f4
        vmlal.u32 col9, f5, twice
        vmlal.u32 col0, f6, twice
        vmlal.u32 col1, f7, twice
        vmlal.u32 col2, f8, twice
        vmlal.u32 col3, f9, twice
        /* row 5: f5 x 19 from here on */
        vmov.i32 factor, #19
        vmul.i32 f5, f5, factor
        vldr    factor, [r1, #8 * 5]
        vadd.i32 twice, factor, factor
        vmlal.u32 col0, f5, twice
        vadd.i32 factor, twice, twice
        vmlal.u32 col1, f6, twice
        vmlal.u32 col2, f7, factor
        vmlal.u32 col3, f8, twice
        vmlal.u32 col4, f9, factor
        /* row 6 */
        vldr    factor, [r1, #8 * 6]
        vadd.i32 twice, factor, factor
        vmlal.u32 col2, f6, factor
        vmlal.u32 col3, f7, twice
        vmlal.u32 col4, f8, twice
        vmlal.u32 col5, f9, twice
        /* row 7 */
        vldr    factor, [r1, #8 * 7]
        vadd.i32 twice, factor, factor
        vmlal.u32 col4, f7, twice
        vadd.i32 factor, twice, twice
        vmlal.u32 col5, f8, twice
        vmlal.u32 col6, f9, factor
        /* row 8 */
        vldr    factor, [r1, #8 * 8]
        vadd.i32 twice, factor, factor
        vmlal.u32 col6, f8, factor
        vmlal.u32 col7, f9, twice
        /* row 9 */
        vldr    factor, [r1, #8 * 9]
        vadd.i32 twice, factor, factor
        vmlal.u32 col8, f9, twice
        CARRY
        vstm    r0, {d20-d29}
        mov     r1, r0
        subs    r3, r3, #1
        bne     x25519_square_neon
        bx      lr
FUNCTION_END x25519_square_neon

/* calls with pairs of the frame */
.macro  CALL_MULTIPLY out, f, g
        add     r0, sp, #\out
        add     r1, sp, #\f
        add     r2, sp, #\g
        bl      x25519_multiply_neon
.endm
.macro  CALL_MULTIPLY_BY out, f
        add     r0, sp, #\out
        add     r1, sp, #\f
        bl      x25519_multiply_by_neon
.endm
.macro  CALL_SQUARE out, f, times
        add     r0, sp, #\out
        add     r1, sp, #\f
        mov     r3, #\times
        bl      x25519_square_neon
.endm
.macro  LOAD_PAIR at                    @ to q10-q14
        add     r12, sp, #\at
        vldm    r12, {d20-d29}
.endm
.macro  STORE_SUM at                    @ from q0-q4
        add     r12, sp, #\at
        vstm    r12, {d0-d9}
.endm

/* limb i of the point begins two pairs: (1, x1) and (x3, z3) = (x1, 1); the ones come later, r3 is 0 */
.macro  STORE_LIMB i, limb
        str     r3, [sp, #ONE_X1 + 8 * \i]
        str     \limb, [sp, #ONE_X1 + 8 * \i + 4]
        str     \limb, [sp, #PAIR_3 + 8 * \i]
        str     r3, [sp, #PAIR_3 + 8 * \i + 4]
.endm

/* Constants of the sums and differences */
        .p2align 3
        .type   x25519_constants_neon, %object
x25519_constants_neon:
        .word   0, 0x7ffffda            @ (0, 2p), 2p = (2^27 - 38) + (2^26 - 2) 2^26 + (2^27 - 2) 2^51 + ...
        .rept   4
        .word   0, 0x3fffffe, 0, 0x7fffffe
        .endr
        .word   0, 0x3fffffe
        .word   1, -1, 1, -1            @ the signs of a second number in a sum and a difference
        .size   x25519_constants_neon, . - x25519_constants_neon

FUNCTION x25519_scalarmult_neon, 2
        push    {r3-r11, lr}            @ r3 only keeps sp a multiple of 8
        vpush   {d8-d15}
        sub     sp, sp, #FRAME_BYTES
        str     r0, [sp, #OUT]

        /* clamp the scalar: bit 254 set, bits 0, 1, 2, 255 clear; SWAPS */
        ldr     r4, [r1, #0]
        ldr     r5, [r1, #4]
        ldr     r6, [r1, #8]
        ldr     r7, [r1, #12]
        ldr     r8, [r1, #16]
        ldr     r9, [r1, #20]
        ldr     r10, [r1, #24]
        ldr     r11, [r1, #28]
        bic     r4, r4, #7
        bic     r11, r11, #0x80000000
        orr     r11, r11, #0x40000000
        eor     r4, r4, r4, lsr #1
        eor     r4, r4, r5, lsl #31
        eor     r5, r5, r5, lsr #1
        eor     r5, r5, r6, lsl #31
        eor     r6, r6, r6, lsr #1
        eor     r6, r6, r7, lsl #31
        eor     r7, r7, r7, lsr #1
        eor     r7, r7, r8, lsl #31
        eor     r8, r8, r8, lsr #1
        eor     r8, r8, r9, lsl #31
        eor     r9, r9, r9, lsr #1
        eor     r9, r9, r10, lsl #31
        eor     r10, r10, r10, lsr #1
        eor     r10, r10, r11, lsl #31
        eor     r11, r11, r11, lsr #1
        add     r12, sp, #SWAPS
        stm     r12, {r4-r11}

        /* x1 = x3 = the point, tight; the mask of limb 9 drops bit 255 */
        ldr     r4, [r2, #0]
        ldr     r5, [r2, #4]
        ldr     r6, [r2, #8]
        ldr     r7, [r2, #12]
        ldr     r8, [r2, #16]
        ldr     r9, [r2, #20]
        ldr     r10, [r2, #24]
        ldr     r11, [r2, #28]
        mov     r3, #0
        bic     r12, r4, #0xfc000000    @ bits 0 .. 25
        STORE_LIMB 0, r12
        mov     r12, r4, lsr #26        @ 26 .. 50
        orr     r12, r12, r5, lsl #6
        bic     r12, r12, #0xfe000000
        STORE_LIMB 1, r12
        mov     r12, r5, lsr #19        @ 51 .. 76
        orr     r12, r12, r6, lsl #13
        bic     r12, r12, #0xfc000000
        STORE_LIMB 2, r12
        mov     r12, r6, lsr #13        @ 77 .. 101
        orr     r12, r12, r7, lsl #19
        bic     r12, r12, #0xfe000000
        STORE_LIMB 3, r12
        mov     r12, r7, lsr #6         @ 102 .. 127
        STORE_LIMB 4, r12
        bic     r12, r8, #0xfe000000    @ 128 .. 152
        STORE_LIMB 5, r12
        mov     r12, r8, lsr #25        @ 153 .. 178
        orr     r12, r12, r9, lsl #7
        bic     r12, r12, #0xfc000000
        STORE_LIMB 6, r12
        mov     r12, r9, lsr #19        @ 179 .. 203
        orr     r12, r12, r10, lsl #13
        bic     r12, r12, #0xfe000000
        STORE_LIMB 7, r12
        mov     r12, r10, lsr #12       @ 204 .. 229
        orr     r12, r12, r11, lsl #20
        bic     r12, r12, #0xfc000000
        STORE_LIMB 8, r12
        mov     r12, r11, lsr #6        @ 230 .. 254
        bic     r12, r12, #0xfe000000
        STORE_LIMB 9, r12
        /* x2 = 1, z2 = 0, and the other ones */
        vmov.i32 q10, #0
        vmov.i32 q11, #0
        vmov.i32 q12, #0
        vmov.i32 q13, #0
        vmov.i32 q14, #0
        vstm    sp, {d20-d29}           @ PAIR_2
        mov     r3, #1
        str     r3, [sp, #PAIR_2]
        str     r3, [sp, #ONE_X1]
        str     r3, [sp, #PAIR_3 + 4]

        adr     constants, x25519_constants_neon
        mov     step, #254
.Lstep:
        LOAD_PAIR PAIR_3
        SUM_AND_DIFFERENCE
        STORE_SUM PAIR_CD
        vrev64.32 q10, q0
        vrev64.32 q11, q1
        vrev64.32 q12, q2
        vrev64.32 q13, q3
        vrev64.32 q14, q4
        add     r12, sp, #PAIR_DC
        vstm    r12, {d20-d29}
        vldm    sp, {d20-d29}           @ PAIR_2
        SUM_AND_DIFFERENCE
        STORE_SUM PAIR_AB
        /* the pair that is doubled: (a, b), or (c, d) when the ladder swaps */
        mov     r12, step, lsr #5
        add     r12, sp, r12, lsl #2
        ldr     r12, [r12, #SWAPS]
        and     r3, step, #31
        mov     r12, r12, lsr r3
        and     r12, r12, #1
        rsb     r12, r12, #0            @ 0 or all ones
        vdup.32 q15, r12
        LOAD_PAIR PAIR_CD
        vbit    q0, q10, q15
        vbit    q1, q11, q15
        vbit    q2, q12, q15
        vbit    q3, q13, q15
        vbit    q4, q14, q15
        STORE_SUM DOUBLED
        /* the sum of the two points */
        CALL_MULTIPLY PAIR_T, PAIR_AB, PAIR_DC          @ (da, cb)
        SUM_AND_DIFFERENCE
        STORE_SUM PAIR_T
        CALL_SQUARE PAIR_T, PAIR_T, 1
        CALL_MULTIPLY_BY PAIR_3, ONE_X1
        /* the double of one */
        CALL_SQUARE DOUBLED, DOUBLED, 1                 @ (aa, bb)
        SUM_AND_DIFFERENCE                              @ (aa + bb, e)
        vmov.i64 q15, #0x00000000ffffffff
        vbit    q0, q10, q15                            @ (aa, e), loose
        vbit    q1, q11, q15
        vbit    q2, q12, q15
        vbit    q3, q13, q15
        vbit    q4, q14, q15
        STORE_SUM PAIR_CD
        ldr     r12, =121665
        mov     r3, #0
        vmov    d30, r3, r12                            @ (0, A24)
        vrev64.32 q10, q10                              @ (bb, aa)
        vrev64.32 q11, q11
        vrev64.32 q12, q12
        vrev64.32 q13, q13
        vrev64.32 q14, q14
        /* columns of (bb, aa + A24 e), < 2^27 + 2^17 * 3.01 * 2^26 < 2^45; from the last to the first, as they overlap the
         * limbs in d0-d9 */
        vmull.u32 col9, d9, d30
        vmull.u32 col8, d8, d30
        vmull.u32 col7, d7, d30
        vmull.u32 col6, d6, d30
        vmull.u32 col5, d5, d30
        vmull.u32 col4, d4, d30
        vmull.u32 col3, d3, d30
        vmull.u32 col2, d2, d30
        vmull.u32 col1, d1, d30
        vmull.u32 col0, d0, d30
        vaddw.u32 col0, col0, g0
        vaddw.u32 col1, col1, g1
        vaddw.u32 col2, col2, g2
        vaddw.u32 col3, col3, g3
        vaddw.u32 col4, col4, g4
        vaddw.u32 col5, col5, g5
        vaddw.u32 col6, col6, g6
        vaddw.u32 col7, col7, g7
        vaddw.u32 col8, col8, g8
        vaddw.u32 col9, col9, g9
        CARRY
        CALL_MULTIPLY_BY PAIR_2, PAIR_CD
        subs    step, step, #1
        bpl     .Lstep

        /* 1 / z2 = z2^(p - 2), and 0 for 0; p - 2 = 2^255 - 21. a_b stands for z2^(2^a - 2^b). The first numbers of the pairs
         * do the same with x2, which nobody needs. */
        CALL_SQUARE   INVERSE_A, PAIR_2, 1              @ 2
        CALL_SQUARE   INVERSE_B, INVERSE_A, 2           @ 8
        CALL_MULTIPLY INVERSE_C, INVERSE_B, PAIR_2      @ 9
        CALL_MULTIPLY INVERSE_D, INVERSE_C, INVERSE_A   @ 11
        CALL_SQUARE   INVERSE_B, INVERSE_D, 1           @ 22
        CALL_MULTIPLY INVERSE_C, INVERSE_B, INVERSE_C   @ 5_0
        CALL_SQUARE   INVERSE_B, INVERSE_C, 5
        CALL_MULTIPLY INVERSE_C, INVERSE_B, INVERSE_C   @ 10_0
        CALL_SQUARE   INVERSE_B, INVERSE_C, 10
        CALL_MULTIPLY INVERSE_A, INVERSE_B, INVERSE_C   @ 20_0
        CALL_SQUARE   INVERSE_B, INVERSE_A, 20
        CALL_MULTIPLY INVERSE_B, INVERSE_B, INVERSE_A   @ 40_0
        CALL_SQUARE   INVERSE_B, INVERSE_B, 10
        CALL_MULTIPLY INVERSE_C, INVERSE_B, INVERSE_C   @ 50_0
        CALL_SQUARE   INVERSE_B, INVERSE_C, 50
        CALL_MULTIPLY INVERSE_A, INVERSE_B, INVERSE_C   @ 100_0
        CALL_SQUARE   INVERSE_B, INVERSE_A, 100
        CALL_MULTIPLY INVERSE_B, INVERSE_B, INVERSE_A   @ 200_0
        CALL_SQUARE   INVERSE_B, INVERSE_B, 50
        CALL_MULTIPLY INVERSE_B, INVERSE_B, INVERSE_C   @ 250_0
        CALL_SQUARE   INVERSE_B, INVERSE_B, 5           @ 255_5
        CALL_MULTIPLY INVERSE_B, INVERSE_B, INVERSE_D   @ 2^255 - 2^5 + 11
        /* x2 / z2 in the first number */
        vrev64.32 q10, q10
        vrev64.32 q11, q11
        vrev64.32 q12, q12
        vrev64.32 q13, q13
        vrev64.32 q14, q14
        CALL_MULTIPLY_BY INVERSE_A, PAIR_2

        /* full reduction: h is tight, < 2p. r10 becomes 1 exactly when h + 19 >= 2^255, that is when h >= p */
        vmov.32 r0, g0[0]
        vmov.32 r1, g1[0]
        vmov.32 r2, g2[0]
        vmov.32 r3, g3[0]
        vmov.32 r4, g4[0]
        vmov.32 r5, g5[0]
        vmov.32 r6, g6[0]
        vmov.32 r7, g7[0]
        vmov.32 r8, g8[0]
        vmov.32 r9, g9[0]
        add     r10, r0, #19
        add     r10, r1, r10, lsr #26
        add     r10, r2, r10, lsr #25
        add     r10, r3, r10, lsr #26
        add     r10, r4, r10, lsr #25
        add     r10, r5, r10, lsr #26
        add     r10, r6, r10, lsr #25
        add     r10, r7, r10, lsr #26
        add     r10, r8, r10, lsr #25
        add     r10, r9, r10, lsr #26
        mov     r10, r10, lsr #25
        /* h - p = h + 19 - 2^255 */
        add     r11, r10, r10, lsl #1
        add     r11, r11, r10, lsl #4   @ 19 or 0
        add     r0, r0, r11
        add     r1, r1, r0, lsr #26
        bic     r0, r0, #0xfc000000
        add     r2, r2, r1, lsr #25
        bic     r1, r1, #0xfe000000
        add     r3, r3, r2, lsr #26
        bic     r2, r2, #0xfc000000
        add     r4, r4, r3, lsr #25
        bic     r3, r3, #0xfe000000
        add     r5, r5, r4, lsr #26
        bic     r4, r4, #0xfc000000
        add     r6, r6, r5, lsr #25
        bic     r5, r5, #0xfe000000
        add     r7, r7, r6, lsr #26
        bic     r6, r6, #0xfc000000
        add     r8, r8, r7, lsr #25
        bic     r7, r7, #0xfe000000
        add     r9, r9, r8, lsr #26
        bic     r8, r8, #0xfc000000
        bic     r9, r9, #0xfe000000     @ drops 2^255
        /* words of 32 bits */
        ldr     r12, [sp, #OUT]
        orr     r0, r0, r1, lsl #26
        mov     r1, r1, lsr #6
        orr     r1, r1, r2, lsl #19
        mov     r2, r2, lsr #13
        orr     r2, r2, r3, lsl #13
        mov     r3, r3, lsr #19
        orr     r3, r3, r4, lsl #6
        orr     r5, r5, r6, lsl #25
        mov     r6, r6, lsr #7
        orr     r6, r6, r7, lsl #19
        mov     r7, r7, lsr #13
        orr     r7, r7, r8, lsl #12
        mov     r8, r8, lsr #20
        orr     r8, r8, r9, lsl #6
        str     r0, [r12, #0]
        str     r1, [r12, #4]
        str     r2, [r12, #8]
        str     r3, [r12, #12]
        str     r5, [r12, #16]
        str     r6, [r12, #20]
        str     r7, [r12, #24]
        str     r8, [r12, #28]

        add     sp, sp, #FRAME_BYTES
        vpop    {d8-d15}
        pop     {r3-r11, pc}
        .ltorg
FUNCTION_END x25519_scalarmult_neon
