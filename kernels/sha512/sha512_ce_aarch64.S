/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha512"
variant   = "ce"
arch      = "aarch64"
provides  = ["blocks"]
requires  = ["sha512"]
priority  = 30
constant_time = true
wipes     = true
cites     = ["FIPS 180-4 6.4.2", "Arm Architecture Reference Manual, SHA512H, SHA512H2, SHA512SU0, SHA512SU1"]
*/
/* SHA-512's compression function with the SHA-512 instructions of ARMv8.2-A: two rounds by SHA512H and SHA512H2, two words of
 * the schedule by SHA512SU0 and SHA512SU1.
 *
 * v0..v4 hold the working variables in pairs, the first of a pair in the low lane: ab, cd, ef, gh, and one register that
 * is free. Two rounds turn their names by one place: SHA512H makes T1 of both rounds where gh was, cd + T1 becomes the
 * new ef in the free register, and SHA512H2 makes the new ab of T1. v16..v23 are sixteen words of the schedule, two
 * lanes each, which move on in place: W[t, t + 1] becomes W[t + 16, t + 17]. Constants come eight at a time.
 *
 * Registers: v0-v7 and v16-v31, none that a caller expects to keep; x18 is not used.
 * Alignment and aliasing: h and data are touched by ld1, ldp, stp at any address; h must not overlap data. With len == 0
 * nothing is touched.
 * To review: SHA512H takes the earlier of two rounds in its high lane: h + K[t] + W[t] there, g + K[t + 1] + W[t + 1] in the low
 * one. So the sums of message and constant change places before gh is added. {f, g} and {d, e} are made before that.
 * The order of the 40 lines in .Lblock: registers of the state turn by five, those of the schedule by eight.
 * Branches depend on len only, which is a multiple of 128.
 *
 * void sha512_blocks_ce(uint8_t h[64], const uint8_t *data, size_t len);
 */
#include "sha512_constants.h"
#include "shared/assembly.h"

p_h     .req    x0
p_data  .req    x1
p_end   .req    x2                      // data + len
p_k     .req    x3
k_start .req    x4

sum     .req    v5                      // message and constant; then a pair of the schedule
fg      .req    v6
q_fg    .req    q6
de      .req    v7
/* v24 .. v31: constants of sixteen rounds */

        .section .rodata
        .p2align 4
constants:                              // FIPS 180-4 4.2.3
        .quad   SHA512_K

        .text

/* Two rounds with the words in v\m and the constants in v\k. The new ab is in \gh, the new ef in \new. */
.macro TWO_ROUNDS ab, cd, ef, gh, new, m, k
        add     sum.2d, v\m\().2d, v\k\().2d
        ext     fg.16b, v\ef\().16b, v\gh\().16b, #8
        ext     sum.16b, sum.16b, sum.16b, #8
        ext     de.16b, v\cd\().16b, v\ef\().16b, #8
        add     v\gh\().2d, v\gh\().2d, sum.2d
        sha512h q\gh, q_fg, de.2d
        add     v\new\().2d, v\cd\().2d, v\gh\().2d
        sha512h2 q\gh, q\cd, v\ab\().2d
.endm

/* The same, and v\m becomes the two words sixteen later; m1, m4, m5, m7 are the pairs so many places behind it. */
.macro TWO_ROUNDS_AND_WORDS ab, cd, ef, gh, new, m, m1, m4, m5, m7, k
        TWO_ROUNDS \ab, \cd, \ef, \gh, \new, \m, \k
        sha512su0 v\m\().2d, v\m1\().2d
        ext     sum.16b, v\m4\().16b, v\m5\().16b, #8
        sha512su1 v\m\().2d, v\m7\().2d, sum.2d
.endm

.macro CONSTANTS_LOW
        ld1     {v24.2d, v25.2d, v26.2d, v27.2d}, [p_k], #64
.endm
.macro CONSTANTS_HIGH
        ld1     {v28.2d, v29.2d, v30.2d, v31.2d}, [p_k], #64
.endm

FUNCTION sha512_blocks_ce
        cbz     x2, .Lreturn
        add     p_end, p_data, x2
        adrp    k_start, constants
        add     k_start, k_start, :lo12:constants
        ldp     q0, q1, [p_h]
        ldp     q2, q3, [p_h, #32]

.Lblock:
        ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [p_data], #64
        ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [p_data], #64
        mov     p_k, k_start
        rev64   v16.16b, v16.16b
        rev64   v17.16b, v17.16b
        rev64   v18.16b, v18.16b
        rev64   v19.16b, v19.16b
        rev64   v20.16b, v20.16b
        rev64   v21.16b, v21.16b
        rev64   v22.16b, v22.16b
        rev64   v23.16b, v23.16b
        CONSTANTS_LOW
        TWO_ROUNDS_AND_WORDS 0, 1, 2, 3, 4, 16, 17, 20, 21, 23, 24
        TWO_ROUNDS_AND_WORDS 3, 0, 4, 2, 1, 17, 18, 21, 22, 16, 25
        TWO_ROUNDS_AND_WORDS 2, 3, 1, 4, 0, 18, 19, 22, 23, 17, 26
        TWO_ROUNDS_AND_WORDS 4, 2, 0, 1, 3, 19, 20, 23, 16, 18, 27
        CONSTANTS_HIGH
        TWO_ROUNDS_AND_WORDS 1, 4, 3, 0, 2, 20, 21, 16, 17, 19, 28
        TWO_ROUNDS_AND_WORDS 0, 1, 2, 3, 4, 21, 22, 17, 18, 20, 29
        TWO_ROUNDS_AND_WORDS 3, 0, 4, 2, 1, 22, 23, 18, 19, 21, 30
        TWO_ROUNDS_AND_WORDS 2, 3, 1, 4, 0, 23, 16, 19, 20, 22, 31
        CONSTANTS_LOW
        TWO_ROUNDS_AND_WORDS 4, 2, 0, 1, 3, 16, 17, 20, 21, 23, 24
        TWO_ROUNDS_AND_WORDS 1, 4, 3, 0, 2, 17, 18, 21, 22, 16, 25
        TWO_ROUNDS_AND_WORDS 0, 1, 2, 3, 4, 18, 19, 22, 23, 17, 26
        TWO_ROUNDS_AND_WORDS 3, 0, 4, 2, 1, 19, 20, 23, 16, 18, 27
        CONSTANTS_HIGH
        TWO_ROUNDS_AND_WORDS 2, 3, 1, 4, 0, 20, 21, 16, 17, 19, 28
        TWO_ROUNDS_AND_WORDS 4, 2, 0, 1, 3, 21, 22, 17, 18, 20, 29
        TWO_ROUNDS_AND_WORDS 1, 4, 3, 0, 2, 22, 23, 18, 19, 21, 30
        TWO_ROUNDS_AND_WORDS 0, 1, 2, 3, 4, 23, 16, 19, 20, 22, 31
        CONSTANTS_LOW
        TWO_ROUNDS_AND_WORDS 3, 0, 4, 2, 1, 16, 17, 20, 21, 23, 24
        TWO_ROUNDS_AND_WORDS 2, 3, 1, 4, 0, 17, 18, 21, 22, 16, 25
        TWO_ROUNDS_AND_WORDS 4, 2, 0, 1, 3, 18, 19, 22, 23, 17, 26
        TWO_ROUNDS_AND_WORDS 1, 4, 3, 0, 2, 19, 20, 23, 16, 18, 27
        CONSTANTS_HIGH
        TWO_ROUNDS_AND_WORDS 0, 1, 2, 3, 4, 20, 21, 16, 17, 19, 28
        TWO_ROUNDS_AND_WORDS 3, 0, 4, 2, 1, 21, 22, 17, 18, 20, 29
        TWO_ROUNDS_AND_WORDS 2, 3, 1, 4, 0, 22, 23, 18, 19, 21, 30
        TWO_ROUNDS_AND_WORDS 4, 2, 0, 1, 3, 23, 16, 19, 20, 22, 31
        CONSTANTS_LOW
        TWO_ROUNDS_AND_WORDS 1, 4, 3, 0, 2, 16, 17, 20, 21, 23, 24
        TWO_ROUNDS_AND_WORDS 0, 1, 2, 3, 4, 17, 18, 21, 22, 16, 25
        TWO_ROUNDS_AND_WORDS 3, 0, 4, 2, 1, 18, 19, 22, 23, 17, 26
        TWO_ROUNDS_AND_WORDS 2, 3, 1, 4, 0, 19, 20, 23, 16, 18, 27
        CONSTANTS_HIGH
        TWO_ROUNDS_AND_WORDS 4, 2, 0, 1, 3, 20, 21, 16, 17, 19, 28
        TWO_ROUNDS_AND_WORDS 1, 4, 3, 0, 2, 21, 22, 17, 18, 20, 29
        TWO_ROUNDS_AND_WORDS 0, 1, 2, 3, 4, 22, 23, 18, 19, 21, 30
        TWO_ROUNDS_AND_WORDS 3, 0, 4, 2, 1, 23, 16, 19, 20, 22, 31
        CONSTANTS_LOW
        TWO_ROUNDS 2, 3, 1, 4, 0, 16, 24
        TWO_ROUNDS 4, 2, 0, 1, 3, 17, 25
        TWO_ROUNDS 1, 4, 3, 0, 2, 18, 26
        TWO_ROUNDS 0, 1, 2, 3, 4, 19, 27
        CONSTANTS_HIGH
        TWO_ROUNDS 3, 0, 4, 2, 1, 20, 28
        TWO_ROUNDS 2, 3, 1, 4, 0, 21, 29
        TWO_ROUNDS 4, 2, 0, 1, 3, 22, 30
        TWO_ROUNDS 1, 4, 3, 0, 2, 23, 31

        /* add the chaining value from before the block, which h still holds */
        ldp     q24, q25, [p_h]
        ldp     q26, q27, [p_h, #32]
        add     v0.2d, v0.2d, v24.2d
        add     v1.2d, v1.2d, v25.2d
        add     v2.2d, v2.2d, v26.2d
        add     v3.2d, v3.2d, v27.2d
        stp     q0, q1, [p_h]
        stp     q2, q3, [p_h, #32]
        cmp     p_data, p_end
        b.ne    .Lblock
.Lreturn:
        ret
FUNCTION_END sha512_blocks_ce
