/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha256"
variant   = "ce"
arch      = "aarch64"
provides  = ["blocks"]
requires  = ["sha2"]
priority  = 30
constant_time = true
wipes     = true
cites     = ["FIPS 180-4 6.2.2", "Arm Architecture Reference Manual, SHA256H, SHA256H2, SHA256SU0, SHA256SU1"]
*/
/* SHA-256's compression function with the SHA-256 instructions of ARMv8-A: four rounds by SHA256H and SHA256H2, four words of
 * the schedule by SHA256SU0 and SHA256SU1.
 *
 * All 64 constants stay in registers. The sixteen words that the next rounds need are word0..word3, four lanes each, and
 * move on in place: word0 = W[t .. t + 3] becomes W[t + 16 .. t + 19] from word0, word1, word2, word3 = W[t .. t + 15].
 *
 * Registers: v0-v7 and v16-v31, none that a caller expects to keep; x18 is not used.
 * Alignment and aliasing: h and data are touched by ld1, ldp, stp at any address; h must not overlap data. With len == 0
 * nothing is touched.
 * To review: SHA256H changes abcd, and SHA256H2 needs abcd as it was before: therefore the copy. The instructions take a
 * and e in lane 0, as h has them in memory, and words of the message in the machine's order: therefore rev32.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha256_blocks_ce(uint8_t h[32], const uint8_t *data, size_t len);
 */
#include "sha256_constants.h"
#include "shared/assembly.h"

p_h     .req    x0
p_data  .req    x1
p_end   .req    x2                      // data + len
pointer .req    x3

abcd    .req    v0
efgh    .req    v1
q_abcd  .req    q0
q_efgh  .req    q1
sum     .req    v2                      // message and constant
before  .req    v3                      // abcd before the four rounds
q_before .req   q3
word0   .req    v4
word1   .req    v5
word2   .req    v6
word3   .req    v7
/* v16 .. v31: the constants of rounds 0..3, 4..7, ... 60..63 */

        .section .rodata
        .p2align 4
constants:                              // FIPS 180-4 4.2.2
        .long   SHA256_K

        .text

/* Four rounds with the words m and the constants k. */
.macro FOUR_ROUNDS m, k
        add     sum.4s, \m\().4s, \k\().4s
        mov     before.16b, abcd.16b
        sha256h q_abcd, q_efgh, sum.4s
        sha256h2 q_efgh, q_before, sum.4s
.endm

/* The same, and m0 becomes the four words sixteen later; m0..m3 are sixteen words in order. */
.macro FOUR_ROUNDS_AND_WORDS m0, m1, m2, m3, k
        add     sum.4s, \m0\().4s, \k\().4s
        sha256su0 \m0\().4s, \m1\().4s
        mov     before.16b, abcd.16b
        sha256h q_abcd, q_efgh, sum.4s
        sha256h2 q_efgh, q_before, sum.4s
        sha256su1 \m0\().4s, \m2\().4s, \m3\().4s
.endm

FUNCTION sha256_blocks_ce
        cbz     x2, .Lreturn
        add     p_end, p_data, x2
        adrp    pointer, constants
        add     pointer, pointer, :lo12:constants
        ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [pointer], #64
        ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [pointer], #64
        ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [pointer], #64
        ld1     {v28.4s, v29.4s, v30.4s, v31.4s}, [pointer]
        ldp     q_abcd, q_efgh, [p_h]

.Lblock:
        ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [p_data], #64
        rev32   word0.16b, word0.16b
        rev32   word1.16b, word1.16b
        rev32   word2.16b, word2.16b
        rev32   word3.16b, word3.16b
        FOUR_ROUNDS_AND_WORDS word0, word1, word2, word3, v16
        FOUR_ROUNDS_AND_WORDS word1, word2, word3, word0, v17
        FOUR_ROUNDS_AND_WORDS word2, word3, word0, word1, v18
        FOUR_ROUNDS_AND_WORDS word3, word0, word1, word2, v19
        FOUR_ROUNDS_AND_WORDS word0, word1, word2, word3, v20
        FOUR_ROUNDS_AND_WORDS word1, word2, word3, word0, v21
        FOUR_ROUNDS_AND_WORDS word2, word3, word0, word1, v22
        FOUR_ROUNDS_AND_WORDS word3, word0, word1, word2, v23
        FOUR_ROUNDS_AND_WORDS word0, word1, word2, word3, v24
        FOUR_ROUNDS_AND_WORDS word1, word2, word3, word0, v25
        FOUR_ROUNDS_AND_WORDS word2, word3, word0, word1, v26
        FOUR_ROUNDS_AND_WORDS word3, word0, word1, word2, v27
        FOUR_ROUNDS word0, v28
        FOUR_ROUNDS word1, v29
        FOUR_ROUNDS word2, v30
        FOUR_ROUNDS word3, v31

        /* add the chaining value from before the block, which h still holds */
        ldp     q2, q3, [p_h]
        add     abcd.4s, abcd.4s, v2.4s
        add     efgh.4s, efgh.4s, v3.4s
        stp     q_abcd, q_efgh, [p_h]
        cmp     p_data, p_end
        b.ne    .Lblock
.Lreturn:
        ret
FUNCTION_END sha256_blocks_ce
