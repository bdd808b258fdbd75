/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha1"
variant   = "ce"
arch      = "aarch64"
provides  = ["blocks"]
requires  = ["sha1"]
priority  = 30
constant_time = true
wipes     = true
cites     = ["FIPS 180-4 6.1.2", "Arm Architecture Reference Manual, SHA1C, SHA1P, SHA1M, SHA1H, SHA1SU0, SHA1SU1"]
*/
/* SHA-1's compression function with the SHA-1 instructions of ARMv8-A: four rounds by SHA1C, SHA1P or SHA1M, the e of the next
 * four by SHA1H, four words of the schedule by SHA1SU0 and SHA1SU1.
 *
 * word0..word3 are sixteen words of the schedule, four lanes each, and move on in place: word0 = W[t .. t + 3] becomes
 * W[t + 16 .. t + 19] from word0, word1, word2, word3 = W[t .. t + 15]. The two registers for e take turns.
 *
 * Registers: v0-v7 and v16-v20, none that a caller expects to keep; x18 is not used.
 * Alignment and aliasing: h and data are touched by ld1, ldr, str at any address; h must not overlap data. With len == 0
 * nothing is touched. Of h, exactly 20 bytes.
 * To review: e after four rounds is a from before them, rotated (SHA1H), so it is taken before SHA1C changes a. Lane 0 is a,
 * as h has it in memory, and the words of the message are in the machine's order: therefore rev32.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha1_blocks_ce(uint8_t h[20], const uint8_t *data, size_t len);
 */
#include "shared/assembly.h"

p_h     .req    x0
p_data  .req    x1
p_end   .req    x2                      // data + len
pointer .req    x3

abcd    .req    v0
q_abcd  .req    q0
s_a     .req    s0
s_e     .req    s1                      // e of the rounds that come
s_other .req    s2                      // e of the four after them
sum     .req    v3                      // message and constant
word0   .req    v4
word1   .req    v5
word2   .req    v6
word3   .req    v7
k0      .req    v16                     // the constants of rounds 0..19, 20..39, 40..59, 60..79
k1      .req    v17
k2      .req    v18
k3      .req    v19

        .section .rodata
        .p2align 4
constants:                              // FIPS 180-4 4.2.1
        .word   0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6

        .text

/* Four rounds of the function f (sha1c, sha1p, sha1m) with the words m, the constant k and e; next becomes the e after them. */
.macro FOUR_ROUNDS f, m, k, e, next
        add     sum.4s, \m\().4s, \k\().4s
        sha1h   \next, s_a
        \f      q_abcd, \e, sum.4s
.endm

/* The same, and m0 becomes the four words sixteen later; m0..m3 are sixteen words in order. */
.macro FOUR_ROUNDS_AND_WORDS f, m0, m1, m2, m3, k, e, next
        add     sum.4s, \m0\().4s, \k\().4s
        sha1su0 \m0\().4s, \m1\().4s, \m2\().4s
        sha1h   \next, s_a
        \f      q_abcd, \e, sum.4s
        sha1su1 \m0\().4s, \m3\().4s
.endm

FUNCTION sha1_blocks_ce
        cbz     x2, .Lreturn
        add     p_end, p_data, x2
        adrp    pointer, constants
        add     pointer, pointer, :lo12:constants
        ld4r    {v16.4s, v17.4s, v18.4s, v19.4s}, [pointer]
        ldr     q_abcd, [p_h]
        ldr     s_e, [p_h, #16]

.Lblock:
        ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [p_data], #64
        rev32   word0.16b, word0.16b
        rev32   word1.16b, word1.16b
        rev32   word2.16b, word2.16b
        rev32   word3.16b, word3.16b
        FOUR_ROUNDS_AND_WORDS sha1c, word0, word1, word2, word3, k0, s_e, s_other
        FOUR_ROUNDS_AND_WORDS sha1c, word1, word2, word3, word0, k0, s_other, s_e
        FOUR_ROUNDS_AND_WORDS sha1c, word2, word3, word0, word1, k0, s_e, s_other
        FOUR_ROUNDS_AND_WORDS sha1c, word3, word0, word1, word2, k0, s_other, s_e
        FOUR_ROUNDS_AND_WORDS sha1c, word0, word1, word2, word3, k0, s_e, s_other
        FOUR_ROUNDS_AND_WORDS sha1p, word1, word2, word3, word0, k1, s_other, s_e
        FOUR_ROUNDS_AND_WORDS sha1p, word2, word3, word0, word1, k1, s_e, s_other
        FOUR_ROUNDS_AND_WORDS sha1p, word3, word0, word1, word2, k1, s_other, s_e
        FOUR_ROUNDS_AND_WORDS sha1p, word0, word1, word2, word3, k1, s_e, s_other
        FOUR_ROUNDS_AND_WORDS sha1p, word1, word2, word3, word0, k1, s_other, s_e
        FOUR_ROUNDS_AND_WORDS sha1m, word2, word3, word0, word1, k2, s_e, s_other
        FOUR_ROUNDS_AND_WORDS sha1m, word3, word0, word1, word2, k2, s_other, s_e
        FOUR_ROUNDS_AND_WORDS sha1m, word0, word1, word2, word3, k2, s_e, s_other
        FOUR_ROUNDS_AND_WORDS sha1m, word1, word2, word3, word0, k2, s_other, s_e
        FOUR_ROUNDS_AND_WORDS sha1m, word2, word3, word0, word1, k2, s_e, s_other
        FOUR_ROUNDS_AND_WORDS sha1p, word3, word0, word1, word2, k3, s_other, s_e
        FOUR_ROUNDS sha1p, word0, k3, s_e, s_other
        FOUR_ROUNDS sha1p, word1, k3, s_other, s_e
        FOUR_ROUNDS sha1p, word2, k3, s_e, s_other
        FOUR_ROUNDS sha1p, word3, k3, s_other, s_e

        /* add the chaining value from before the block, which h still holds */
        ldr     q20, [p_h]
        ldr     s2, [p_h, #16]
        add     abcd.4s, abcd.4s, v20.4s
        add     v1.2s, v1.2s, v2.2s
        str     q_abcd, [p_h]
        str     s_e, [p_h, #16]
        cmp     p_data, p_end
        b.ne    .Lblock
.Lreturn:
        ret
FUNCTION_END sha1_blocks_ce
