/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes_gcm"
variant   = "fused"
arch      = "aarch64"
provides  = ["init", "seal", "open"]
requires  = ["aes", "pmull"]
priority  = 40
state     = { ctx = { bytes = 448, align = 16, layout = "fused" } }
constant_time = true
cites     = ["NIST SP 800-38D", "FIPS 197", "Gueron-Kounavis 2010", "Karatsuba 1962"]
*/
/* AES-GCM for AArch64 with the AES and PMULL instructions: eight blocks of AES-CTR interleaved with the GHASH of eight blocks.
 *
 * Text, 128 bytes at a time: eight counters go through the rounds, and between the rounds eight blocks of ciphertext are hashed:
 * of the step before when sealing, of the same step when opening. What is left goes block by block, then into the hash as a
 * whole. AAD and long IVs are only hashed. One routine for all key sizes: round keys are stored so that the last eleven always lie at
 * the same place; longer schedules start two or four keys earlier, which go through a loop of their own.
 * The GHASH is that of ghash_pmull_aarch64.S: halves of blocks as reflected numbers, P(n) = H^n x^-1, Karatsuba's three products
 * summed up over eight blocks, and one reduction.
 * open writes plaintext before the tag is known, and fills out with zeros when the tag is wrong; the tags are compared without a
 * branch on their bytes. out may be data, no other overlap: a step's ciphertext is read before its text is written.
 * The state is aligned to 16, everything else may lie anywhere. Nothing outside data, iv and aad is read: the last bytes are
 * copied one by one. d8-d15 and x19-x26 are saved; x18 is not touched; nothing lies below sp.
 * The argument to check: which eight blocks the interleaved step hashes (HASHED), the counter of 32 bits in lane 3, and REDUCE.
 *
 *   void aes_gcm_init_fused(const uint8_t *key, size_t key_len, void *ctx);
 *   void aes_gcm_seal_fused(uint8_t *out, const uint8_t *data, size_t data_len, const void *ctx, const uint8_t *iv,
 *                           size_t iv_len, const uint8_t *aad, size_t aad_len);
 *   int aes_gcm_open_fused(uint8_t *out, const uint8_t *data, size_t data_len, const void *ctx, const uint8_t *iv,
 *                          size_t iv_len, const uint8_t *aad, size_t aad_len);
 */
#include "shared/assembly.h"

        .text

/* The state */
        .equ    STATE_KEYS, 0           // round keys in byte order, the last one at 224
        .equ    STATE_MORE, 240         // rounds above ten: 0, 2, 4
        .equ    STATE_POWERS, 256       // P(8) to P(1)
        .equ    STATE_SUMS, 384         // the sums of their halves: P(8), P(7); P(6), P(5); P(4), P(3); P(2), P(1)
        .equ    KEY_0_OF_10, 64         // the first key of a schedule of ten rounds
        .equ    GROUP, 128
        .equ    TAG, 16

/* Frame: saved registers, then a block */
        .equ    FRAME_D, 80
        .equ    FRAME_BLOCK, 144
        .equ    FRAME, 160

/* Kept throughout a message */
out     .req    x19
data    .req    x20
len     .req    x21
ctx     .req    x22
iv      .req    x23
iv_len  .req    x24
aad     .req    x25
aad_len .req    x26
counter .req    v8              // its words as numbers; the counter is lane 3
one     .req    v9              // 1 in lane 3
j0      .req    v10             // the first counter block
y       .req    v11             // GHASH so far, lane 0 is the upper half
fold    .req    v12             // 0xc2 << 56 in both lanes

/* Arguments of local routines, and temporaries */
from    .req    x9
count   .req    x10
hashed  .req    x11             // blocks that are hashed
powers  .req    x12
sums    .req    x13
keys    .req    x14
more    .req    x15
byte    .req    w16

/* GHASH: v16, v17 blocks, v18, v19 powers, v20 sums of their halves */
sum     .req    v24
temp    .req    v25
zero    .req    v27
low     .req    v28
high    .req    v29
middle  .req    v30
key     .req    v31

/* y = the reduced sum high 2^128 + (middle - high - low) 2^64 + low */
.macro  REDUCE
        eor     temp.16b, low.16b, high.16b
        movi    zero.2d, #0
        eor     middle.16b, middle.16b, temp.16b
        ext     temp.16b, zero.16b, middle.16b, #8
        ext     middle.16b, middle.16b, zero.16b, #8
        eor     low.16b, low.16b, temp.16b
        eor     high.16b, high.16b, middle.16b
        pmull   temp.1q, low.1d, fold.1d
        ext     low.16b, low.16b, low.16b, #8
        eor     low.16b, low.16b, temp.16b
        pmull   temp.1q, low.1d, fold.1d
        eor     y.16b, high.16b, temp.16b
        ext     y.16b, y.16b, y.16b, #8
        eor     y.16b, y.16b, low.16b
.endm

/* Lanes of \sums = the sums of the halves of \a and of \b */
.macro  HALVES sums, a, b
        trn1    \sums\().2d, \a\().2d, \b\().2d
        trn2    temp.2d, \a\().2d, \b\().2d
        eor     \sums\().16b, \sums\().16b, temp.16b
.endm

/* The next two blocks, their powers, and the sums of halves; y is added to the first block of all */
.macro  PAIR_LOAD first
        ldp     q16, q17, [hashed], #32
        ldp     q18, q19, [powers], #32
        ldr     q20, [sums], #16
        rev64   v16.16b, v16.16b
        rev64   v17.16b, v17.16b
        .if     \first
        eor     v16.16b, v16.16b, y.16b
        .endif
        HALVES  sum, v16, v17
.endm

/* Their products */
.macro  PAIR_MULTIPLY first
        .if     \first
        pmull   high.1q, v16.1d, v18.1d
        pmull2  low.1q, v16.2d, v18.2d
        pmull   middle.1q, sum.1d, v20.1d
        .else
        pmull   temp.1q, v16.1d, v18.1d
        pmull2  v16.1q, v16.2d, v18.2d
        eor     high.16b, high.16b, temp.16b
        pmull   temp.1q, sum.1d, v20.1d
        eor     low.16b, low.16b, v16.16b
        eor     middle.16b, middle.16b, temp.16b
        .endif
        pmull   temp.1q, v17.1d, v19.1d
        pmull2  v17.1q, v17.2d, v19.2d
        eor     high.16b, high.16b, temp.16b
        pmull2  sum.1q, sum.2d, v20.2d
        eor     low.16b, low.16b, v17.16b
        eor     middle.16b, middle.16b, sum.16b
.endm

.macro  TABLES
        add     powers, ctx, #STATE_POWERS
        add     sums, ctx, #STATE_SUMS
.endm

/* One round of blocks v0-v3 or v4-v7 */
.macro  ROUND4 a, b, c, d
        aese    \a\().16b, key.16b
        aesmc   \a\().16b, \a\().16b
        aese    \b\().16b, key.16b
        aesmc   \b\().16b, \b\().16b
        aese    \c\().16b, key.16b
        aesmc   \c\().16b, \c\().16b
        aese    \d\().16b, key.16b
        aesmc   \d\().16b, \d\().16b
.endm

/* One round of eight blocks, with two pieces of other work between */
.macro  ROUND8 work:vararg
        ldr     q31, [keys], #16
        ROUND4  v0, v1, v2, v3
        \work
        ROUND4  v4, v5, v6, v7
.endm

.macro  NOTHING
.endm

.macro  NEXT_COUNTER block
        rev32   \block\().16b, counter.16b
        add     counter.4s, counter.4s, one.4s
.endm

.macro  LAST_ROUND block
        aese    \block\().16b, v30.16b
.endm

/* The last key and the text */
.macro  ADD_TEXT block, text
        eor     \text\().16b, \text\().16b, key.16b
        eor     \block\().16b, \block\().16b, \text\().16b
.endm

/* The keys to start with */
.macro  FIRST_KEY
        ldr     more, [ctx, #STATE_MORE]
        add     keys, ctx, #STATE_KEYS + KEY_0_OF_10
        sub     keys, keys, more, lsl #4
.endm

/* Eight blocks of text at data to out; with \hash, eight blocks at hashed into y. */
.macro  EIGHT hash
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        NEXT_COUNTER v\n
        .endr
        FIRST_KEY
        .if     \hash
        TABLES
        .endif
        cbz     more, 2f
1:      ROUND8  NOTHING
        sub     more, more, #1
        cbnz    more, 1b
2:
        .if     \hash
        ROUND8  PAIR_LOAD 1
        ROUND8  PAIR_MULTIPLY 1
        ROUND8  PAIR_LOAD 0
        ROUND8  PAIR_MULTIPLY 0
        ROUND8  PAIR_LOAD 0
        ROUND8  PAIR_MULTIPLY 0
        ROUND8  PAIR_LOAD 0
        ROUND8  PAIR_MULTIPLY 0
        ROUND8  REDUCE
        .else
        .rept   9
        ROUND8  NOTHING
        .endr
        .endif
        ldp     q30, q31, [keys]
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        LAST_ROUND v\n
        .endr
        ldp     q16, q17, [data], #32
        ldp     q18, q19, [data], #32
        ldp     q20, q21, [data], #32
        ldp     q22, q23, [data], #32
        ADD_TEXT v0, v16
        ADD_TEXT v1, v17
        ADD_TEXT v2, v18
        ADD_TEXT v3, v19
        ADD_TEXT v4, v20
        ADD_TEXT v5, v21
        ADD_TEXT v6, v22
        ADD_TEXT v7, v23
        stp     q0, q1, [out], #32
        stp     q2, q3, [out], #32
        stp     q4, q5, [out], #32
        stp     q6, q7, [out], #32
.endm

/* v0 = AES of v0 */
LOCAL_FUNCTION encrypt_block, 0
        FIRST_KEY
        add     more, more, #9
1:      ldr     q31, [keys], #16
        aese    v0.16b, key.16b
        aesmc   v0.16b, v0.16b
        subs    more, more, #1
        b.ne    1b
        ldp     q30, q31, [keys]
        aese    v0.16b, v30.16b
        eor     v0.16b, v0.16b, key.16b
        ret
FUNCTION_END encrypt_block

/* y = GHASH from y on of count bytes at from, padded with zeros */
LOCAL_FUNCTION absorb, 0
        subs    count, count, #GROUP
        b.lo    2f
1:      mov     hashed, from
        TABLES
        PAIR_LOAD 1
        PAIR_MULTIPLY 1
        .rept   3
        PAIR_LOAD 0
        PAIR_MULTIPLY 0
        .endr
        REDUCE
        add     from, from, #GROUP
        subs    count, count, #GROUP
        b.hs    1b
2:      add     count, count, #GROUP
        ldr     q18, [ctx, #STATE_POWERS + 112]
        HALVES  v20, v18, v18
3:      subs    count, count, #16
        b.lo    4f
        ldr     q16, [from], #16
        mov     more, #0
5:      rev64   v16.16b, v16.16b
        eor     v16.16b, v16.16b, y.16b
        HALVES  sum, v16, v16
        pmull   high.1q, v16.1d, v18.1d
        pmull2  low.1q, v16.2d, v18.2d
        pmull   middle.1q, sum.1d, v20.1d
        REDUCE
        cbz     more, 3b
        ret
4:      adds    count, count, #16
        b.eq    7f
        add     more, sp, #FRAME_BLOCK          // some bytes and zeros; not 0, so it ends the loop above
        stp     xzr, xzr, [more]
6:      sub     count, count, #1
        ldrb    byte, [from, count]
        strb    byte, [more, count]
        cbnz    count, 6b
        ldr     q16, [more]
        b       5b
7:      ret
FUNCTION_END absorb

/* y = GHASH from y on of the block with x9 and x10 bytes as numbers of bits */
LOCAL_FUNCTION absorb_lengths, 0
        lsl     x9, x9, #3
        lsl     x10, x10, #3
        rev     x9, x9
        rev     x10, x10
        stp     x9, x10, [sp, #FRAME_BLOCK]
        add     from, sp, #FRAME_BLOCK
        mov     count, #16
        b       absorb
FUNCTION_END absorb_lengths

/* What is less than eight blocks, block by block */
LOCAL_FUNCTION crypt_rest, 0
        mov     x17, x30
1:      cbz     len, 3f
        NEXT_COUNTER v0
        bl      encrypt_block
        cmp     len, #16
        b.lo    2f
        ldr     q16, [data], #16
        eor     v0.16b, v0.16b, v16.16b
        str     q0, [out], #16
        sub     len, len, #16
        b       1b
2:      str     q0, [sp, #FRAME_BLOCK]
        add     from, sp, #FRAME_BLOCK
4:      ldrb    byte, [data], #1
        ldrb    w10, [from], #1
        eor     byte, byte, w10
        strb    byte, [out], #1
        subs    len, len, #1
        b.ne    4b
3:      ret     x17
FUNCTION_END crypt_rest

.macro  PROLOGUE
        sub     sp, sp, #FRAME
        stp     x29, x30, [sp]
        mov     x29, sp
        stp     x19, x20, [sp, #16]
        stp     x21, x22, [sp, #32]
        stp     x23, x24, [sp, #48]
        stp     x25, x26, [sp, #64]
        stp     d8, d9, [sp, #FRAME_D]
        stp     d10, d11, [sp, #FRAME_D + 16]
        stp     d12, d13, [sp, #FRAME_D + 32]
        stp     d14, d15, [sp, #FRAME_D + 48]
.endm

.macro  EPILOGUE
        movi    v0.2d, #0
        str     q0, [sp, #FRAME_BLOCK]          // key stream of the last block
        ldp     d14, d15, [sp, #FRAME_D + 48]
        ldp     d12, d13, [sp, #FRAME_D + 32]
        ldp     d10, d11, [sp, #FRAME_D + 16]
        ldp     d8, d9, [sp, #FRAME_D]
        ldp     x25, x26, [sp, #64]
        ldp     x23, x24, [sp, #48]
        ldp     x21, x22, [sp, #32]
        ldp     x19, x20, [sp, #16]
        ldp     x29, x30, [sp]
        add     sp, sp, #FRAME
.endm

.macro  MAKE_FOLD
        movi    fold.16b, #0xc2
        shl     fold.2d, fold.2d, #56
.endm

/* Arguments into their registers, J0, the counter after it, and the AAD into y */
.macro  START
        mov     out, x0
        mov     data, x1
        mov     len, x2
        mov     ctx, x3
        mov     iv, x4
        mov     iv_len, x5
        mov     aad, x6
        mov     aad_len, x7
        MAKE_FOLD
        movi    y.2d, #0
        movi    one.2d, #0
        mov     w9, #1
        mov     one.s[3], w9
        cmp     iv_len, #12
        b.ne    1f
        ldr     x9, [iv]
        ldr     w10, [iv, #8]
        mov     w11, #0x01000000
        fmov    d10, x9
        mov     j0.s[2], w10
        mov     j0.s[3], w11
        b       2f
1:      mov     from, iv
        mov     count, iv_len
        bl      absorb
        mov     x9, #0
        mov     x10, iv_len
        bl      absorb_lengths
        rev64   j0.16b, y.16b
        movi    y.2d, #0
2:      rev32   counter.16b, j0.16b
        add     counter.4s, counter.4s, one.4s
        mov     from, aad
        mov     count, aad_len
        bl      absorb
.endm

/* v0 = the tag; x10 is the length of the text */
.macro  FINISH
        mov     x9, aad_len
        bl      absorb_lengths
        mov     v0.16b, j0.16b
        bl      encrypt_block
        rev64   y.16b, y.16b
        eor     v0.16b, v0.16b, y.16b
.endm

FUNCTION aes_gcm_seal_fused, 0
        PROLOGUE
        START
        mov     iv_len, len                     // the length is needed in the end, the IV no more
        subs    len, len, #GROUP
        b.lo    5f
        mov     iv, out                         // HASHED: what is written and not yet hashed starts here
        EIGHT   0
        b       4f
3:      mov     hashed, iv
        EIGHT   1
        add     iv, iv, #GROUP
4:      subs    len, len, #GROUP
        b.hs    3b
        b       6f
5:      mov     iv, out
6:      add     len, len, #GROUP
        bl      crypt_rest
        mov     from, iv
        sub     count, out, iv
        bl      absorb
        mov     x10, iv_len
        FINISH
        str     q0, [out]
        EPILOGUE
        ret
FUNCTION_END aes_gcm_seal_fused

FUNCTION aes_gcm_open_fused, 0
        cmp     x2, #TAG
        b.lo    9f
        PROLOGUE
        START
        sub     len, len, #TAG
        mov     iv_len, len
        subs    len, len, #GROUP
        b.lo    4f
3:      mov     hashed, data                    // HASHED: the ciphertext of this step
        EIGHT   1
        subs    len, len, #GROUP
        b.hs    3b
4:      add     len, len, #GROUP
        mov     from, data
        mov     count, len
        bl      absorb
        bl      crypt_rest
        mov     x10, iv_len
        FINISH
        ldr     q1, [data]                      // the tag follows the ciphertext
        eor     v0.16b, v0.16b, v1.16b
        umaxv   b0, v0.16b
        fmov    w0, s0
        cmp     w0, #0
        cset    w0, eq
        b.eq    8f
        cbz     iv_len, 8f
7:      strb    wzr, [out, #-1]!
        subs    iv_len, iv_len, #1
        b.ne    7b
8:      EPILOGUE
        ret
9:      mov     w0, #0
        ret
FUNCTION_END aes_gcm_open_fused

/* Registers of init */
key_at  .req    x0
last    .req    x3              // the next key word is written here, the word before lies below
ago     .req    x4              // bytes of the key: the distance of the word that is added
words   .req    w5              // that are left to make
phase   .req    x6              // bytes until the next round constant
rcon    .req    w7
word    .req    w9
old     .req    w10

FUNCTION aes_gcm_init_fused, 0
        PROLOGUE
        mov     ctx, x2
        mov     ago, x1
        /* FIPS 197 5.2: 10, 12 or 14 rounds for 16, 24 or 32 bytes; the schedule ends where the state's keys end */
        lsr     more, ago, #2
        sub     more, more, #4
        str     more, [ctx, #STATE_MORE]
        add     last, ctx, #STATE_KEYS + KEY_0_OF_10
        sub     last, last, more, lsl #4
        mov     x9, ago
1:      ldr     x10, [key_at], #8
        str     x10, [last], #8
        subs    x9, x9, #8
        b.ne    1b
        add     x9, ctx, #STATE_KEYS + 240
        sub     x9, x9, last
        lsr     x5, x9, #2
        mov     phase, #0
        mov     rcon, #1
        movi    zero.2d, #0
2:      ldr     word, [last, #-4]
        cbnz    phase, 3f
        mov     phase, ago
        ror     word, word, #8
        dup     v0.4s, word
        aese    v0.16b, zero.16b                // all columns alike: SubWord only
        umov    word, v0.s[0]
        eor     word, word, rcon
        lsl     rcon, rcon, #1
        tst     rcon, #0x100
        mov     w11, #0x11b
        csel    w11, w11, wzr, ne
        eor     rcon, rcon, w11
        b       4f
3:      cmp     ago, #32
        ccmp    phase, #16, #0, eq
        b.ne    4f
        dup     v0.4s, word
        aese    v0.16b, zero.16b
        umov    word, v0.s[0]
4:      sub     x11, last, ago
        ldr     old, [x11]
        eor     word, word, old
        str     word, [last], #4
        sub     phase, phase, #4
        subs    words, words, #1
        b.ne    2b

        /* P(1) = H x^-1: one bit to the left, x^-1 = 1 + x + x^6 + x^127 for the bit that falls out */
        movi    v0.2d, #0
        bl      encrypt_block
        rev64   v0.16b, v0.16b
        fmov    x4, d0
        mov     x5, v0.d[1]
        asr     x6, x4, #63
        extr    x4, x4, x5, #63
        and     x7, x6, #1
        eor     x5, x7, x5, lsl #1
        mov     x7, #0xc200000000000000
        and     x6, x6, x7
        eor     x4, x4, x6
        fmov    d18, x4
        mov     v18.d[1], x5

        /* P(n + 1) = P(n) P(1) x, where x^-1 is already in P(1); the last first in memory */
        MAKE_FOLD
        HALVES  v20, v18, v18
        mov     y.16b, v18.16b
        add     powers, ctx, #STATE_SUMS
        add     sums, ctx, #STATE_POWERS
        b       6f
5:      HALVES  sum, y, y
        pmull   high.1q, y.1d, v18.1d
        pmull2  low.1q, y.2d, v18.2d
        pmull   middle.1q, sum.1d, v20.1d
        REDUCE
6:      str     q11, [powers, #-16]!
        cmp     powers, sums
        b.ne    5b
        .irp    pair, 0, 1, 2, 3
        ldp     q0, q1, [ctx, #STATE_POWERS + 32 * \pair]
        HALVES  sum, v0, v1
        str     q24, [ctx, #STATE_SUMS + 16 * \pair]
        .endr
        EPILOGUE
        ret
FUNCTION_END aes_gcm_init_fused
