/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha3"
variant   = "ce"
arch      = "aarch64"
provides  = ["init", "absorb", "pad", "squeeze"]
requires  = ["sha3"]
priority  = 30
state     = { ctx = { bytes = 208, align = 8, layout = "lanes" } }
constant_time = true
wipes     = true
cites     = ["FIPS 202", "Arm Architecture Reference Manual, EOR3 RAX1 XAR BCAX"]
*/
/* The sponge of FIPS 202 for AArch64 with the SHA-3 instructions.
 *
 * All 25 lanes stay in the low halves of v0-v24 through whole blocks; the high halves hold nothing that matters. theta is EOR3
 * and RAX1, XAR adds theta's change and rotates, chi is BCAX. rho and pi follow the one cycle of 24 lanes that pi makes, so
 * that one spare register is enough.
 * In memory the state is the standard's string of 200 bytes: lane (x, y) at 8 (5y + x), least significant byte first.
 * Aliasing and alignment: data and out may lie anywhere; the state is aligned to 8. Nothing outside data .. data + len is read.
 * The argument to check: `at`. It is below rate between calls of absorb, and equal to rate where a permutation is due before
 * the next byte comes out; no register of the state is live while absorb_bytes or squeeze's copy work on the memory.
 * Nothing branches on or indexes by data; lengths, rate and `at` are public.
 * Counted: 14.2 instructions per byte of SHA3-256 over 16 KiB; OpenSSL needs 23.9.
 *
 *   void sha3_init_ce(void *ctx);
 *   void sha3_absorb_ce(void *ctx, const uint8_t *data, size_t len, uint32_t rate);
 *   void sha3_pad_ce(void *ctx, uint32_t rate, uint32_t suffix);
 *   void sha3_squeeze_ce(void *ctx, uint8_t *out, size_t len, uint32_t rate);
 */
#include "shared/assembly.h"

        .text

        .equ    STATE_AT, 200           // where the next byte goes in or comes from, 0..rate
        .equ    ROUNDS, 24
        .equ    FRAME, 80

ctx     .req    x0
data    .req    x1                      // squeeze: out
len     .req    x2
rate    .req    x3
at      .req    x4
count   .req    x5
pointer .req    x6
word    .req    x7
lane    .req    x8

/* Lane (x, y) */
a00     .req    v0
a10     .req    v1
a20     .req    v2
a30     .req    v3
a40     .req    v4
a01     .req    v5
a11     .req    v6
a21     .req    v7
a31     .req    v8
a41     .req    v9
a02     .req    v10
a12     .req    v11
a22     .req    v12
a32     .req    v13
a42     .req    v14
a03     .req    v15
a13     .req    v16
a23     .req    v17
a33     .req    v18
a43     .req    v19
a04     .req    v20
a14     .req    v21
a24     .req    v22
a34     .req    v23
a44     .req    v24
/* Spare registers. Parities live in theta only, its changes of the columns from there to rho. */
par0    .req    v25
par1    .req    v26
par2    .req    v27
par3    .req    v28
par4    .req    v29
change0 .req    v30
change1 .req    v26
change2 .req    v31
change3 .req    v27
change4 .req    v28
spare   .req    v25
new0    .req    v26
new1    .req    v27
constant .req   v29

.macro  PARITY  sum, b0, b1, b2, b3, b4
        eor3    \sum\().16b, \b0\().16b, \b1\().16b, \b2\().16b
        eor3    \sum\().16b, \sum\().16b, \b3\().16b, \b4\().16b
.endm

/* to = (from ^ change) rotated by n to the left */
.macro  MOVE    to, from, change, n
        xar     \to\().2d, \from\().2d, \change\().2d, #64 - \n
.endm

/* chi of one lane: to = b0 ^ (~b1 & b2) */
.macro  CHI_LANE to, b0, b1, b2
        bcax    \to\().16b, \b0\().16b, \b2\().16b, \b1\().16b
.endm
.macro  CHI     b0, b1, b2, b3, b4
        CHI_LANE new0, \b0, \b1, \b2
        CHI_LANE new1, \b1, \b2, \b3
        CHI_LANE \b2, \b2, \b3, \b4
        CHI_LANE \b3, \b3, \b4, \b0
        CHI_LANE \b4, \b4, \b0, \b1
        mov     \b0\().16b, new0.16b
        mov     \b1\().16b, new1.16b
.endm

/* op for the registers of four lanes in memory order, then of the last one */
.macro  LOAD_OR_STORE op
        mov     pointer, ctx
        \op     {v0.1d-v3.1d}, [pointer], #32
        \op     {v4.1d-v7.1d}, [pointer], #32
        \op     {v8.1d-v11.1d}, [pointer], #32
        \op     {v12.1d-v15.1d}, [pointer], #32
        \op     {v16.1d-v19.1d}, [pointer], #32
        \op     {v20.1d-v23.1d}, [pointer], #32
        \op     {v24.1d}, [pointer]
.endm
.macro  ABSORB_LANE lane, number        // the rate is a number of whole lanes
        cmp     rate, #8 * \number
        b.ls    .Labsorbed
        ldr     d25, [data], #8
        eor     \lane\().16b, \lane\().16b, spare.16b
.endm

.macro  SAVE
        stp     x29, x30, [sp, #-FRAME]!
        mov     x29, sp
        stp     d8, d9, [sp, #16]
        stp     d10, d11, [sp, #32]
        stp     d12, d13, [sp, #48]
        stp     d14, d15, [sp, #64]
.endm
.macro  RESTORE
        ldp     d8, d9, [sp, #16]
        ldp     d10, d11, [sp, #32]
        ldp     d12, d13, [sp, #48]
        ldp     d14, d15, [sp, #64]
        ldp     x29, x30, [sp], #FRAME
.endm

        .balign 8
round_constants:                        // FIPS 202 3.2.5: RC[i], i = 0..23
        .quad   0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000
        .quad   0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009
        .quad   0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a
        .quad   0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003
        .quad   0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a
        .quad   0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008

/* The state to the registers, from them, and through Keccak-f[1600] (3.4). They clobber count and pointer. */
LOCAL_FUNCTION sha3_load_ce, 0
        LOAD_OR_STORE ld1
        ret
FUNCTION_END sha3_load_ce

LOCAL_FUNCTION sha3_store_ce, 0
        LOAD_OR_STORE st1
        ret
FUNCTION_END sha3_store_ce

LOCAL_FUNCTION sha3_permute_ce, 0
        adr     pointer, round_constants
        mov     count, #ROUNDS
.Lround:
        /* theta (3.2.1): parities of the columns, and what each column is changed by */
        PARITY  par0, a00, a01, a02, a03, a04
        PARITY  par1, a10, a11, a12, a13, a14
        PARITY  par2, a20, a21, a22, a23, a24
        PARITY  par3, a30, a31, a32, a33, a34
        PARITY  par4, a40, a41, a42, a43, a44
        rax1    change0.2d, par4.2d, par1.2d
        rax1    change2.2d, par1.2d, par3.2d
        rax1    change1.2d, par0.2d, par2.2d    // in place of par1
        rax1    change3.2d, par2.2d, par4.2d    // in place of par2
        rax1    change4.2d, par3.2d, par0.2d    // in place of par3
        /* rho (3.2.2) and pi (3.2.3): lane (x, y) goes to (y, 2x + 3y); what goes to (1, 0) stays in spare */
        MOVE    spare, a11, change1, 44
        MOVE    a11, a41, change4, 20
        MOVE    a41, a24, change2, 61
        MOVE    a24, a42, change4, 39
        MOVE    a42, a04, change0, 18
        MOVE    a04, a20, change2, 62
        MOVE    a20, a22, change2, 43
        MOVE    a22, a32, change3, 25
        MOVE    a32, a43, change4, 8
        MOVE    a43, a34, change3, 56
        MOVE    a34, a03, change0, 41
        MOVE    a03, a40, change4, 27
        MOVE    a40, a44, change4, 14
        MOVE    a44, a14, change1, 2
        MOVE    a14, a31, change3, 55
        MOVE    a31, a13, change1, 45
        MOVE    a13, a01, change0, 36
        MOVE    a01, a30, change3, 28
        MOVE    a30, a33, change3, 21
        MOVE    a33, a23, change2, 15
        MOVE    a23, a12, change1, 10
        MOVE    a12, a21, change2, 6
        MOVE    a21, a02, change0, 3
        MOVE    a02, a10, change1, 1
        eor     a00.16b, a00.16b, change0.16b
        /* chi (3.2.4), and iota (3.2.5) in row 0 */
        ld1r    {constant.2d}, [pointer], #8
        CHI_LANE new0, a00, spare, a20
        CHI_LANE a10, spare, a20, a30
        CHI_LANE a20, a20, a30, a40
        CHI_LANE a30, a30, a40, a00
        CHI_LANE a40, a40, a00, spare
        eor     a00.16b, new0.16b, constant.16b
        CHI     a01, a11, a21, a31, a41
        CHI     a02, a12, a22, a32, a42
        CHI     a03, a13, a23, a33, a43
        CHI     a04, a14, a24, a34, a44
        subs    count, count, #1
        b.ne    .Lround
        ret
FUNCTION_END sha3_permute_ce

/* Add data to the state in memory until the block or the data ends. Clobbers count, pointer, word, lane. */
LOCAL_FUNCTION sha3_absorb_bytes_ce, 0
        sub     count, rate, at
        cmp     count, len
        csel    count, count, len, ls
        sub     len, len, count
        add     pointer, ctx, at
        add     at, at, count
        subs    count, count, #8
        b.lo    .Labsorb_rest
.Labsorb_8:
        ldr     word, [data], #8
        ldr     lane, [pointer]
        eor     word, word, lane
        str     word, [pointer], #8
        subs    count, count, #8
        b.hs    .Labsorb_8
.Labsorb_rest:
        adds    count, count, #8
        b.eq    .Labsorb_bytes_end
.Labsorb_byte:
        ldrb    w7, [data], #1
        ldrb    w8, [pointer]
        eor     w7, w7, w8
        strb    w7, [pointer], #1
        subs    count, count, #1
        b.ne    .Labsorb_byte
.Labsorb_bytes_end:
        ret
FUNCTION_END sha3_absorb_bytes_ce

FUNCTION sha3_init_ce, 0
        mov     x1, #STATE_AT / 40
.Lzero:                                 // 40 bytes a turn, and 8 with `at`
        stp     xzr, xzr, [ctx], #16
        stp     xzr, xzr, [ctx], #16
        str     xzr, [ctx], #8
        subs    x1, x1, #1
        b.ne    .Lzero
        str     xzr, [ctx]
        ret
FUNCTION_END sha3_init_ce

FUNCTION sha3_absorb_ce, 0
        cbz     len, .Labsorb_nothing
        SAVE
        mov     w3, w3                  // the upper half of a 32-bit argument may hold anything
        ldr     w4, [ctx, #STATE_AT]
        cbz     at, .Lblocks
        bl      sha3_absorb_bytes_ce
        cmp     at, rate
        b.ne    .Labsorb_end
        mov     at, #0
        bl      sha3_load_ce
        bl      sha3_permute_ce
        bl      sha3_store_ce
.Lblocks:
        cmp     len, rate
        b.lo    .Ltail
        bl      sha3_load_ce
.Lblock:
        ABSORB_LANE a00, 0
        ABSORB_LANE a10, 1
        ABSORB_LANE a20, 2
        ABSORB_LANE a30, 3
        ABSORB_LANE a40, 4
        ABSORB_LANE a01, 5
        ABSORB_LANE a11, 6
        ABSORB_LANE a21, 7
        ABSORB_LANE a31, 8
        ABSORB_LANE a41, 9
        ABSORB_LANE a02, 10
        ABSORB_LANE a12, 11
        ABSORB_LANE a22, 12
        ABSORB_LANE a32, 13
        ABSORB_LANE a42, 14
        ABSORB_LANE a03, 15
        ABSORB_LANE a13, 16
        ABSORB_LANE a23, 17
        ABSORB_LANE a33, 18
        ABSORB_LANE a43, 19
        ABSORB_LANE a04, 20
.Labsorbed:                             // no rate has more lanes: that of SHAKE128 is 21
        bl      sha3_permute_ce
        sub     len, len, rate
        cmp     len, rate
        b.hs    .Lblock
        bl      sha3_store_ce
.Ltail:
        bl      sha3_absorb_bytes_ce
.Labsorb_end:
        str     w4, [ctx, #STATE_AT]
        RESTORE
.Labsorb_nothing:
        ret
FUNCTION_END sha3_absorb_ce

/* pad10*1 (5.1); both ends may be one byte. The permutation that follows is due with the first byte of output. */
FUNCTION sha3_pad_ce, 0                 // w1 rate, w2 suffix
        ldr     w3, [ctx, #STATE_AT]
        ldrb    w4, [ctx, x3]
        eor     w4, w4, w2
        strb    w4, [ctx, x3]
        sub     w3, w1, #1
        ldrb    w4, [ctx, x3]
        eor     w4, w4, #0x80
        strb    w4, [ctx, x3]
        str     w1, [ctx, #STATE_AT]
        ret
FUNCTION_END sha3_pad_ce

FUNCTION sha3_squeeze_ce, 0
        cbz     len, .Lsqueeze_nothing
        SAVE
        mov     w3, w3
        ldr     w4, [ctx, #STATE_AT]
.Lsqueeze:
        cmp     at, rate
        b.ne    .Lgive
        mov     at, #0
        bl      sha3_load_ce
        bl      sha3_permute_ce
        bl      sha3_store_ce
.Lgive:
        sub     count, rate, at
        cmp     count, len
        csel    count, count, len, ls
        sub     len, len, count
        add     pointer, ctx, at
        add     at, at, count
        subs    count, count, #8
        b.lo    .Lgive_rest
.Lgive_8:
        ldr     word, [pointer], #8
        str     word, [data], #8
        subs    count, count, #8
        b.hs    .Lgive_8
.Lgive_rest:
        adds    count, count, #8
        b.eq    .Lgiven
.Lgive_byte:
        ldrb    w7, [pointer], #1
        strb    w7, [data], #1
        subs    count, count, #1
        b.ne    .Lgive_byte
.Lgiven:
        cbnz    len, .Lsqueeze
        str     w4, [ctx, #STATE_AT]
        RESTORE
.Lsqueeze_nothing:
        ret
FUNCTION_END sha3_squeeze_ce
