/* SPDX-License-Identifier: Apache-2.0 */
/* Halves of q registers of 32-bit ARM by names that macros can form: q3l and q3h of q3. */
.macro HALVES q, low, high
\q\()l .req \low
\q\()h .req \high
.endm
        HALVES  q0, d0, d1
        HALVES  q1, d2, d3
        HALVES  q2, d4, d5
        HALVES  q3, d6, d7
        HALVES  q4, d8, d9
        HALVES  q5, d10, d11
        HALVES  q6, d12, d13
        HALVES  q7, d14, d15
        HALVES  q8, d16, d17
        HALVES  q9, d18, d19
        HALVES  q10, d20, d21
        HALVES  q11, d22, d23
        HALVES  q12, d24, d25
        HALVES  q13, d26, d27
        HALVES  q14, d28, d29
        HALVES  q15, d30, d31
