/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha1"
variant   = "ce"
arch      = "arm32"
provides  = ["blocks"]
requires  = ["sha1"]
priority  = 30
constant_time = true
wipes     = true
cites     = ["FIPS 180-4 6.1.2", "Arm Architecture Reference Manual, SHA1C, SHA1P, SHA1M, SHA1H, SHA1SU0, SHA1SU1"]
*/
/* SHA-1's compression function with the SHA-1 instructions of ARMv8-A in AArch32 state, ARM or Thumb-2, interworking return: four
 * rounds by SHA1C, SHA1P or SHA1M, the e of the next four by SHA1H, four words of the schedule by SHA1SU0 and SHA1SU1.
 *
 * w0..w3 are sixteen words of the schedule, four lanes each, and move on in place: w0 = W[t .. t + 3] becomes
 * W[t + 16 .. t + 19] from w0, w1, w2, w3 = W[t .. t + 15]. The two registers for e take turns, it is in their lane 0.
 *
 * Registers: r0-r3, q0-q3, q8-q15, none that a caller expects to keep.
 * Alignment and aliasing: h and data are touched by vld1 and vst1 without alignment hints; h must not overlap data. With
 * len == 0 nothing is touched. Of h, exactly 20 bytes.
 * To review: e after four rounds is a from before them, rotated (SHA1H), so it is taken before SHA1C changes a. Lane 0 is a,
 * as h has it in memory, and the words of the message are in the machine's order: therefore vrev32.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha1_blocks_ce(uint8_t h[20], const uint8_t *data, size_t len);
 */
#include "shared/assembly.h"

        .text

p_h     .req    r0
p_data  .req    r1
p_end   .req    r2                      @ data + len
pointer .req    r3

abcd    .req    q0
e       .req    q1                      @ e of the rounds that come
other   .req    q2                      @ e of the four after them
sum     .req    q3                      @ message and constant
w0      .req    q8
w1      .req    q9
w2      .req    q10
w3      .req    q11
k0      .req    q12                     @ the constants of rounds 0..19, 20..39, 40..59, 60..79
k1      .req    q13
k2      .req    q14
k3      .req    q15

        .p2align 4
constants:                              @ FIPS 180-4 4.2.1
        .long   0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6

/* Four rounds of the function f (sha1c, sha1p, sha1m) with the words m, the constant k and e; next becomes the e after them. */
.macro FOUR_ROUNDS f, m, k, e, next
        vadd.i32 sum, \m, \k
        sha1h.32 \next, abcd
        \f\().32 abcd, \e, sum
.endm

/* The same, and m0 becomes the four words sixteen later; m0..m3 are sixteen words in order. */
.macro FOUR_ROUNDS_AND_WORDS f, m0, m1, m2, m3, k, e, next
        vadd.i32 sum, \m0, \k
        sha1su0.32 \m0, \m1, \m2
        sha1h.32 \next, abcd
        \f\().32 abcd, \e, sum
        sha1su1.32 \m0, \m3
.endm

FUNCTION sha1_blocks_ce, 0
        cmp     r2, #0
        it      eq
        bxeq    lr
        add     p_end, p_data, r2
        adr     pointer, constants
        vld1.32 {d24[], d25[]}, [pointer]!
        vld1.32 {d26[], d27[]}, [pointer]!
        vld1.32 {d28[], d29[]}, [pointer]!
        vld1.32 {d30[], d31[]}, [pointer]
        add     pointer, p_h, #16
        vld1.32 {abcd}, [p_h]
        vld1.32 {d2[0]}, [pointer]

.Lblock:
        vld1.8  {w0, w1}, [p_data]!
        vld1.8  {w2, w3}, [p_data]!
        vrev32.8 w0, w0
        vrev32.8 w1, w1
        vrev32.8 w2, w2
        vrev32.8 w3, w3
        FOUR_ROUNDS_AND_WORDS sha1c, w0, w1, w2, w3, k0, e, other
        FOUR_ROUNDS_AND_WORDS sha1c, w1, w2, w3, w0, k0, other, e
        FOUR_ROUNDS_AND_WORDS sha1c, w2, w3, w0, w1, k0, e, other
        FOUR_ROUNDS_AND_WORDS sha1c, w3, w0, w1, w2, k0, other, e
        FOUR_ROUNDS_AND_WORDS sha1c, w0, w1, w2, w3, k0, e, other
        FOUR_ROUNDS_AND_WORDS sha1p, w1, w2, w3, w0, k1, other, e
        FOUR_ROUNDS_AND_WORDS sha1p, w2, w3, w0, w1, k1, e, other
        FOUR_ROUNDS_AND_WORDS sha1p, w3, w0, w1, w2, k1, other, e
        FOUR_ROUNDS_AND_WORDS sha1p, w0, w1, w2, w3, k1, e, other
        FOUR_ROUNDS_AND_WORDS sha1p, w1, w2, w3, w0, k1, other, e
        FOUR_ROUNDS_AND_WORDS sha1m, w2, w3, w0, w1, k2, e, other
        FOUR_ROUNDS_AND_WORDS sha1m, w3, w0, w1, w2, k2, other, e
        FOUR_ROUNDS_AND_WORDS sha1m, w0, w1, w2, w3, k2, e, other
        FOUR_ROUNDS_AND_WORDS sha1m, w1, w2, w3, w0, k2, other, e
        FOUR_ROUNDS_AND_WORDS sha1m, w2, w3, w0, w1, k2, e, other
        FOUR_ROUNDS_AND_WORDS sha1p, w3, w0, w1, w2, k3, other, e
        FOUR_ROUNDS sha1p, w0, k3, e, other
        FOUR_ROUNDS sha1p, w1, k3, other, e
        FOUR_ROUNDS sha1p, w2, k3, e, other
        FOUR_ROUNDS sha1p, w3, k3, other, e

        /* add the chaining value from before the block, which h still holds */
        vld1.32 {w0}, [p_h]
        vld1.32 {d4[0]}, [pointer]
        vadd.i32 abcd, abcd, w0
        vadd.i32 d2, d2, d4
        vst1.32 {abcd}, [p_h]
        vst1.32 {d2[0]}, [pointer]
        cmp     p_data, p_end
        bne     .Lblock
        bx      lr
FUNCTION_END sha1_blocks_ce
