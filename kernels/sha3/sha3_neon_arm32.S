/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha3"
variant   = "neon"
arch      = "arm32"
provides  = ["init", "absorb", "pad", "squeeze"]
requires  = ["neon"]
priority  = 20
state     = { ctx = { bytes = 208, align = 8, layout = "lanes" } }
constant_time = true
wipes     = true
cites     = ["FIPS 202", "Bertoni et al., Keccak implementation overview 2.4"]
*/
/* The sponge of FIPS 202 for ARMv7-A with NEON, ARM or Thumb-2, interworking returns.
 *
 * All 25 lanes stay in d registers through whole blocks, a lane a register. Lanes (x, 0) and (x, 1) are the halves of one
 * q register and so are (x, 2) and (x, 3): theta and chi work on two rows at once. rho and pi follow the one cycle of 24 lanes
 * that pi makes, so that one spare register is enough.
 * In memory the state is the standard's string of 200 bytes: lane (x, y) at 8 (5y + x), least significant byte first.
 * Aliasing and alignment: data and out may lie anywhere (vld1.8 and vst1.8 without alignment hint, single bytes); the state is
 * aligned to 8. Nothing outside data .. data + len is read.
 * The argument to check: `at`. It is below rate between calls of absorb, and equal to rate where a permutation is due before
 * the next byte comes out; no register of the state is live while absorb_bytes or squeeze's copy work on the memory.
 * Nothing branches on or indexes by data; lengths, rate and `at` are public.
 * Counted: 24.9 instructions per byte of SHA3-256 over 16 KiB; OpenSSL needs 65.5.
 *
 *   void sha3_init_neon(void *ctx);
 *   void sha3_absorb_neon(void *ctx, const uint8_t *data, size_t len, uint32_t rate);
 *   void sha3_pad_neon(void *ctx, uint32_t rate, uint32_t suffix);
 *   void sha3_squeeze_neon(void *ctx, uint8_t *out, size_t len, uint32_t rate);
 */

#include "shared/assembly.h"

        .text

        .equ    STATE_AT, 200           @ where the next byte goes in or comes from, 0..rate
        .equ    ROUNDS, 24

ctx     .req    r0
data    .req    r1                      @ squeeze: out
len     .req    r2
rate    .req    r3
at      .req    r4
count   .req    r5
pointer .req    r6
byte    .req    r7
other   .req    r8

/* Lane (x, y). Rows 0 and 1 are q0-q4, rows 2 and 3 are q5-q9, row 4 is d20-d24. */
a00     .req    d0
a10     .req    d2
a20     .req    d4
a30     .req    d6
a40     .req    d8
a01     .req    d1
a11     .req    d3
a21     .req    d5
a31     .req    d7
a41     .req    d9
a02     .req    d10
a12     .req    d12
a22     .req    d14
a32     .req    d16
a42     .req    d18
a03     .req    d11
a13     .req    d13
a23     .req    d15
a33     .req    d17
a43     .req    d19
a04     .req    d20
a14     .req    d21
a24     .req    d22
a34     .req    d23
a44     .req    d24
/* Spare registers. Parities par0..par4 live in theta only. */
spare   .req    d25
par4    .req    d25
d_low   .req    d26             @ q13
d_high  .req    d27
par0    .req    d28             @ q14
par1    .req    d29
par2    .req    d30             @ q15
par3    .req    d31

/* The parity of a column: rows 0 and 1, rows 2 and 3, row 4. */
.macro  PARITY  sum, low, high, last
        veor    q13, \low, \high
        veor    \sum, d_low, d_high
        veor    \sum, \sum, \last
.endm

/* theta's change of a column: the parity on its left and that on its right, rotated by 1. */
.macro  CHANGE  left, right, low, high, last
        vadd.i64 d_low, \right, \right
        vsri.64 d_low, \right, #63
        veor    d_low, d_low, \left
        vmov    d_high, d_low
        veor    \last, \last, d_low
        veor    \low, \low, q13
        veor    \high, \high, q13
.endm

/* to = from rotated by n to the left; to is another register. */
.macro  ROTATE  to, from, n
        vshl.i64 \to, \from, #\n
        vsri.64 \to, \from, #64 - \n
.endm
.macro  ROTATE_BYTES to, from, n        @ n a multiple of 8
        vext.8  \to, \from, \from, #8 - \n / 8
.endm

/* chi of a row, or of two at once: b of column x ^= ~b of column x + 1 & b of column x + 2. */
.macro  CHI     b0, b1, b2, b3, b4, old0, old1, term
        vmov    \old0, \b0
        vmov    \old1, \b1
        vbic    \term, \b2, \b1
        veor    \b0, \b0, \term
        vbic    \term, \b3, \b2
        veor    \b1, \b1, \term
        vbic    \term, \b4, \b3
        veor    \b2, \b2, \term
        vbic    \term, \old0, \b4
        veor    \b3, \b3, \term
        vbic    \term, \old1, \old0
        veor    \b4, \b4, \term
.endm

/* op for each lane and its number in memory */
.macro  EACH_LANE op
        \op     a00, 0
        \op     a10, 1
        \op     a20, 2
        \op     a30, 3
        \op     a40, 4
        \op     a01, 5
        \op     a11, 6
        \op     a21, 7
        \op     a31, 8
        \op     a41, 9
        \op     a02, 10
        \op     a12, 11
        \op     a22, 12
        \op     a32, 13
        \op     a42, 14
        \op     a03, 15
        \op     a13, 16
        \op     a23, 17
        \op     a33, 18
        \op     a43, 19
        \op     a04, 20
        \op     a14, 21
        \op     a24, 22
        \op     a34, 23
        \op     a44, 24
.endm
.macro  LOAD_LANE lane, number
        vldr    \lane, [ctx, #8 * \number]
.endm
.macro  STORE_LANE lane, number
        vstr    \lane, [ctx, #8 * \number]
.endm
.macro  ABSORB_LANE lane, number        @ the rate is a number of whole lanes, of SHAKE128 21
  .if \number < 21
        cmp     rate, #8 * \number
        bls     .Labsorbed
        vld1.8  {spare}, [data]!
        veor    \lane, \lane, spare
  .endif
.endm

        .balign 8
round_constants:                        @ FIPS 202 3.2.5: RC[i], i = 0..23
        .quad   0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000
        .quad   0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009
        .quad   0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a
        .quad   0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003
        .quad   0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a
        .quad   0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008

/* The state to the registers, from them, and through Keccak-f[1600] (3.4). permute clobbers count and pointer. */
LOCAL_FUNCTION sha3_load_neon, 0
        EACH_LANE LOAD_LANE
        bx      lr
FUNCTION_END sha3_load_neon

LOCAL_FUNCTION sha3_store_neon, 0
        EACH_LANE STORE_LANE
        bx      lr
FUNCTION_END sha3_store_neon

LOCAL_FUNCTION sha3_permute_neon, 0
        FAR_ADR pointer, round_constants
        mov     count, #ROUNDS
.Lround:
        /* theta (3.2.1) */
        PARITY  par0, q0, q5, a04
        PARITY  par1, q1, q6, a14
        PARITY  par2, q2, q7, a24
        PARITY  par3, q3, q8, a34
        PARITY  par4, q4, q9, a44
        CHANGE  par4, par1, q0, q5, a04
        CHANGE  par0, par2, q1, q6, a14
        CHANGE  par1, par3, q2, q7, a24
        CHANGE  par2, par4, q3, q8, a34
        CHANGE  par3, par0, q4, q9, a44
        /* rho (3.2.2) and pi (3.2.3): lane (x, y) goes to (y, 2x + 3y); the last move of the cycle waits in spare */
        vmov    spare, a11
        ROTATE          a11, a41, 20
        ROTATE          a41, a24, 61
        ROTATE          a24, a42, 39
        ROTATE          a42, a04, 18
        ROTATE          a04, a20, 62
        ROTATE          a20, a22, 43
        ROTATE          a22, a32, 25
        ROTATE_BYTES    a32, a43, 8
        ROTATE_BYTES    a43, a34, 56
        ROTATE          a34, a03, 41
        ROTATE          a03, a40, 27
        ROTATE          a40, a44, 14
        ROTATE          a44, a14, 2
        ROTATE          a14, a31, 55
        ROTATE          a31, a13, 45
        ROTATE          a13, a01, 36
        ROTATE          a01, a30, 28
        ROTATE          a30, a33, 21
        ROTATE          a33, a23, 15
        ROTATE          a23, a12, 10
        ROTATE          a12, a21, 6
        ROTATE          a21, a02, 3
        ROTATE          a02, a10, 1
        ROTATE          a10, spare, 44
        /* chi (3.2.4) */
        CHI     q0, q1, q2, q3, q4, q13, q14, q15
        CHI     q5, q6, q7, q8, q9, q13, q14, q15
        CHI     a04, a14, a24, a34, a44, d26, d28, d30
        /* iota (3.2.5) */
        vld1.64 {spare}, [pointer :64]!
        veor    a00, a00, spare
        subs    count, count, #1
        bne     .Lround
        bx      lr
FUNCTION_END sha3_permute_neon

/* Add data to the state in memory until the block or the data ends. Clobbers count, pointer, byte, other. */
LOCAL_FUNCTION sha3_absorb_bytes_neon, 0
        sub     count, rate, at
        cmp     count, len
        it      hi
        movhi   count, len
        sub     len, len, count
        add     pointer, ctx, at
        add     at, at, count
        subs    count, count, #8
        blo     .Labsorb_rest
.Labsorb_8:
        vld1.8  {d26}, [data]!
        vld1.8  {d27}, [pointer]
        veor    d27, d27, d26
        vst1.8  {d27}, [pointer]!
        subs    count, count, #8
        bhs     .Labsorb_8
.Labsorb_rest:
        adds    count, count, #8
        it      eq
        bxeq    lr
.Labsorb_byte:
        ldrb    byte, [data], #1
        ldrb    other, [pointer]
        eor     byte, byte, other
        strb    byte, [pointer], #1
        subs    count, count, #1
        bne     .Labsorb_byte
        bx      lr
FUNCTION_END sha3_absorb_bytes_neon

FUNCTION sha3_init_neon, 0
        vmov.i8 q0, #0
        vmov.i8 q1, #0
        mov     r1, #STATE_AT / 40
.Lzero:                                 @ 40 bytes a turn, and 8 with `at`
        vst1.64 {d0-d3}, [ctx :64]!
        vst1.64 {d0}, [ctx :64]!
        subs    r1, r1, #1
        bne     .Lzero
        vst1.64 {d0}, [ctx :64]
        bx      lr
FUNCTION_END sha3_init_neon

FUNCTION sha3_absorb_neon, 0
        cmp     len, #0
        it      eq
        bxeq    lr
        push    {r4-r8, lr}
        vpush   {d8-d15}
        ldr     at, [ctx, #STATE_AT]
        cmp     at, #0
        beq     .Lblocks
        bl      sha3_absorb_bytes_neon
        cmp     at, rate
        bne     .Labsorb_end
        mov     at, #0
        bl      sha3_load_neon
        bl      sha3_permute_neon
        bl      sha3_store_neon
.Lblocks:
        cmp     len, rate
        blo     .Ltail
        bl      sha3_load_neon
.Lblock:
        EACH_LANE ABSORB_LANE
.Labsorbed:
        bl      sha3_permute_neon
        sub     len, len, rate
        cmp     len, rate
        bhs     .Lblock
        bl      sha3_store_neon
.Ltail:
        bl      sha3_absorb_bytes_neon
.Labsorb_end:
        str     at, [ctx, #STATE_AT]
        vpop    {d8-d15}
        pop     {r4-r8, pc}
FUNCTION_END sha3_absorb_neon

/* pad10*1 (5.1); both ends may be one byte. The permutation that follows is due with the first byte of output. */
FUNCTION sha3_pad_neon, 0               @ r1 rate, r2 suffix
        ldr     r3, [ctx, #STATE_AT]
        ldrb    r12, [ctx, r3]
        eor     r12, r12, r2
        strb    r12, [ctx, r3]
        sub     r3, r1, #1
        ldrb    r12, [ctx, r3]
        eor     r12, r12, #0x80
        strb    r12, [ctx, r3]
        str     r1, [ctx, #STATE_AT]
        bx      lr
FUNCTION_END sha3_pad_neon

FUNCTION sha3_squeeze_neon, 0
        cmp     len, #0
        it      eq
        bxeq    lr
        push    {r4-r8, lr}
        vpush   {d8-d15}
        ldr     at, [ctx, #STATE_AT]
.Lsqueeze:
        cmp     at, rate
        bne     .Lgive
        mov     at, #0
        bl      sha3_load_neon
        bl      sha3_permute_neon
        bl      sha3_store_neon
.Lgive:
        sub     count, rate, at
        cmp     count, len
        it      hi
        movhi   count, len
        sub     len, len, count
        add     pointer, ctx, at
        add     at, at, count
        subs    count, count, #8
        blo     .Lgive_rest
.Lgive_8:
        vld1.8  {d26}, [pointer]!
        vst1.8  {d26}, [data]!
        subs    count, count, #8
        bhs     .Lgive_8
.Lgive_rest:
        adds    count, count, #8
        beq     .Lgiven
.Lgive_byte:
        ldrb    byte, [pointer], #1
        strb    byte, [data], #1
        subs    count, count, #1
        bne     .Lgive_byte
.Lgiven:
        cmp     len, #0
        bne     .Lsqueeze
        str     at, [ctx, #STATE_AT]
        vpop    {d8-d15}
        pop     {r4-r8, pc}
FUNCTION_END sha3_squeeze_neon
