/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha256"
variant   = "ce"
arch      = "arm32"
provides  = ["blocks"]
requires  = ["sha2"]
priority  = 30
constant_time = true
wipes     = true
cites     = ["FIPS 180-4 6.2.2", "Arm Architecture Reference Manual, SHA256H, SHA256H2, SHA256SU0, SHA256SU1"]
*/
/* SHA-256's compression function with the SHA-256 instructions of ARMv8-A in AArch32 state, ARM or Thumb-2, interworking return:
 * four rounds by SHA256H and SHA256H2, four words of the schedule by SHA256SU0 and SHA256SU1.
 *
 * The sixteen words that the next rounds need are w0..w3, four lanes each, and move on in place: w0 = W[t .. t + 3] becomes
 * W[t + 16 .. t + 19] from w0, w1, w2, w3 = W[t .. t + 15]. Constants are loaded eight at a time.
 *
 * Registers: r0-r3, r12, q0-q3, q8-q13, none that a caller expects to keep.
 * Alignment and aliasing: h and data are touched by vld1 and vst1 without alignment hints; h must not overlap data. With
 * len == 0 nothing is touched.
 * To review: SHA256H changes abcd, and SHA256H2 needs abcd as it was before: therefore the copy. The instructions take a
 * and e in lane 0, as h has them in memory, and words of the message in the machine's order: therefore vrev32.
 * Branches depend on len only, which is a multiple of 64.
 *
 * void sha256_blocks_ce(uint8_t h[32], const uint8_t *data, size_t len);
 */
#include "sha256_constants.h"
#include "shared/assembly.h"

        .text

p_h     .req    r0
p_data  .req    r1
p_end   .req    r2                      @ data + len
p_k     .req    r3
k_start .req    r12

abcd    .req    q0
efgh    .req    q1
sum     .req    q2                      @ message and constant
before  .req    q3                      @ abcd before the four rounds
w0      .req    q8
w1      .req    q9
w2      .req    q10
w3      .req    q11
k0      .req    q12                     @ constants of eight rounds
k1      .req    q13

        .p2align 4
constants:                              @ FIPS 180-4 4.2.2
        .long   SHA256_K

.macro LOAD_CONSTANTS
        vld1.32 {k0, k1}, [p_k]!
.endm

/* Four rounds with the words m and the constants k. */
.macro FOUR_ROUNDS m, k
        vadd.i32 sum, \m, \k
        vmov    before, abcd
        sha256h.32 abcd, efgh, sum
        sha256h2.32 efgh, before, sum
.endm

/* The same, and m0 becomes the four words sixteen later; m0..m3 are sixteen words in order. */
.macro FOUR_ROUNDS_AND_WORDS m0, m1, m2, m3, k
        vadd.i32 sum, \m0, \k
        sha256su0.32 \m0, \m1
        vmov    before, abcd
        sha256h.32 abcd, efgh, sum
        sha256h2.32 efgh, before, sum
        sha256su1.32 \m0, \m2, \m3
.endm

FUNCTION sha256_blocks_ce, 0
        cmp     r2, #0
        it      eq
        bxeq    lr
        add     p_end, p_data, r2
        adr     k_start, constants
        vld1.32 {abcd, efgh}, [p_h]

.Lblock:
        vld1.8  {w0, w1}, [p_data]!
        vld1.8  {w2, w3}, [p_data]!
        mov     p_k, k_start
        vrev32.8 w0, w0
        vrev32.8 w1, w1
        vrev32.8 w2, w2
        vrev32.8 w3, w3
        LOAD_CONSTANTS
        FOUR_ROUNDS_AND_WORDS w0, w1, w2, w3, k0
        FOUR_ROUNDS_AND_WORDS w1, w2, w3, w0, k1
        LOAD_CONSTANTS
        FOUR_ROUNDS_AND_WORDS w2, w3, w0, w1, k0
        FOUR_ROUNDS_AND_WORDS w3, w0, w1, w2, k1
        LOAD_CONSTANTS
        FOUR_ROUNDS_AND_WORDS w0, w1, w2, w3, k0
        FOUR_ROUNDS_AND_WORDS w1, w2, w3, w0, k1
        LOAD_CONSTANTS
        FOUR_ROUNDS_AND_WORDS w2, w3, w0, w1, k0
        FOUR_ROUNDS_AND_WORDS w3, w0, w1, w2, k1
        LOAD_CONSTANTS
        FOUR_ROUNDS_AND_WORDS w0, w1, w2, w3, k0
        FOUR_ROUNDS_AND_WORDS w1, w2, w3, w0, k1
        LOAD_CONSTANTS
        FOUR_ROUNDS_AND_WORDS w2, w3, w0, w1, k0
        FOUR_ROUNDS_AND_WORDS w3, w0, w1, w2, k1
        LOAD_CONSTANTS
        FOUR_ROUNDS w0, k0
        FOUR_ROUNDS w1, k1
        LOAD_CONSTANTS
        FOUR_ROUNDS w2, k0
        FOUR_ROUNDS w3, k1

        /* add the chaining value from before the block, which h still holds */
        vld1.32 {k0, k1}, [p_h]
        vadd.i32 abcd, abcd, k0
        vadd.i32 efgh, efgh, k1
        vst1.32 {abcd, efgh}, [p_h]
        cmp     p_data, p_end
        bne     .Lblock
        bx      lr
FUNCTION_END sha256_blocks_ce
