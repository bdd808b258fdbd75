/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes"
variant   = "ce"
arch      = "aarch64"
provides  = ["setkey_enc", "setkey_dec", "encrypt", "decrypt", "cbc_encrypt", "cbc_decrypt", "ctr"]
requires  = ["aes"]
priority  = 40
constant_time = true
wipes     = true
cites     = ["FIPS 197", "SP 800-38A 6.2, 6.5", "Arm Architecture Reference Manual, AESE, AESD, AESMC, AESIMC"]

[state.ek]
bytes  = 256
align  = 16
layout = "bytes"                         # round keys in byte order from byte 0 on, the number of rounds in byte 240

[state.dk]
bytes  = 256
align  = 16
layout = "bytes-inverse"                 # the same for the equivalent inverse cipher (FIPS 197 5.3.5), in order of use
*/
/*
 * AES with the ARMv8 AES instructions. CTR and CBC decryption take eight blocks side by side, in v0 to v7, and what is
 * left one by one. All round keys stay in registers.
 *
 * void aes_setkey_enc_ce(const uint8_t *key, size_t key_len, void *ek);
 * void aes_setkey_dec_ce(const uint8_t *key, size_t key_len, void *dk);
 * void aes_encrypt_ce(uint8_t out[16], const uint8_t block[16], const void *ek);
 * void aes_decrypt_ce(uint8_t out[16], const uint8_t block[16], const void *dk);
 * void aes_cbc_encrypt_ce(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 * void aes_cbc_decrypt_ce(uint8_t *out, const uint8_t *data, size_t len, const void *dk, uint8_t iv[16]);
 * void aes_ctr_ce(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 *
 * Speed, in counted instructions a byte of 16 KiB with AES-128: CTR 1.50, CBC encryption 1.63, decryption 1.41.
 *
 * AESE adds a round key before SubBytes and ShiftRows, so that a block goes through `rounds` pairs of key and AESE, the
 * last without AESMC, and then gets the last key by eor. The last eleven keys are always in v20 to v30; a longer
 * schedule has its first two or four in v18, v19 or v16 to v19, which its blocks go through first.
 *
 * Alignment and aliasing: ld1 and st1 of bytes, which need no alignment. All data of a step is loaded before any of
 * its output is stored, so out == data is allowed; other overlap is not. Nothing is read or written beyond len, nor
 * below sp. d8 to d15 are saved where they are used.
 *
 * To review: the counter is lane 3 of a vector of words in machine order; `add .4s` wraps it without touching the other
 * lanes, to which it adds 0. Branches depend on lengths and the number of rounds only. In the key schedule SubWord is
 * AESE with a key of zeros on four equal columns, on which ShiftRows does nothing.
 */
#include "shared/assembly.h"

#define ROUNDS_AT 240                   /* offset of the number of rounds in a state */

/* Arguments of the modes; out, data and left advance. */
p_out   .req x0
p_data  .req x1
left    .req x2
p_keys  .req x3
p_iv    .req x4
/* Also used by them. */
rounds  .req w5
p_temp  .req x6
/* v0 to v7 blocks, v8 to v15 data, v16 to v30 round keys, v31 counter or chain. */

        .text

/* Key schedule from x0 (x1 bytes) to x2; changes x3 to x9, v0 and v1. FIPS 197 5.2, word by word. */
LOCAL_FUNCTION expand
        lsr     w3, w1, #2              /* words of the key */
        add     w4, w3, #6              /* rounds */
        strb    w4, [x2, #ROUNDS_AT]
        mov     x5, x2                  /* the word to come is at x5 + key length */
        mov     w6, w3
1:      ldr     w7, [x0], #4
        str     w7, [x5], #4
        subs    w6, w6, #1
        b.ne    1b
        sub     x5, x5, x1              /* now the word a key length before it; w7 is the word just before it */
        lsl     w4, w4, #2
        add     w4, w4, #4
        sub     w4, w4, w3              /* words to make */
        mov     w8, #1                  /* round constant */
        movi    v1.16b, #0
2:      mov     w6, w3                  /* words until the next constant */
        dup     v0.4s, w7
        aese    v0.16b, v1.16b
        mov     w7, v0.s[0]
        eor     w7, w8, w7, ror #8      /* RotWord of a little-endian word */
        lsl     w8, w8, #1
        cmp     w8, #0x100
        b.ne    3f
        mov     w8, #0x1b               /* 0x80 doubled modulo 0x11b */
3:      ldr     w9, [x5]
        eor     w7, w7, w9
        str     w7, [x5, x1]
        add     x5, x5, #4
        subs    w4, w4, #1
        b.eq    4f
        subs    w6, w6, #1
        b.eq    2b
        cmp     w6, #4
        b.ne    3b
        cmp     w3, #8
        b.ne    3b
        dup     v0.4s, w7               /* the middle of eight words */
        aese    v0.16b, v1.16b
        mov     w7, v0.s[0]
        b       3b
4:      movi    v0.16b, #0
        ret
FUNCTION_END expand

FUNCTION aes_setkey_enc_ce
        b       expand
FUNCTION_END aes_setkey_enc_ce

/* The schedule backwards, all keys but the outer two through InvMixColumns (FIPS 197 5.3.5). */
FUNCTION aes_setkey_dec_ce
        stp     x29, x30, [sp, #-16]!
        mov     x29, sp
        bl      expand
        ldrb    w3, [x2, #ROUNDS_AT]
        add     x3, x2, x3, lsl #4      /* x2 goes up, x3 down */
        ldr     q0, [x2]
        ldr     q1, [x3]
        str     q1, [x2], #16
        str     q0, [x3], #-16
1:      ldr     q0, [x2]
        ldr     q1, [x3]
        aesimc  v0.16b, v0.16b
        aesimc  v1.16b, v1.16b
        str     q1, [x2], #16
        str     q0, [x3], #-16
        cmp     x2, x3
        b.ls    1b                      /* the number of rounds is even: they meet at the middle key */
        movi    v0.16b, #0
        movi    v1.16b, #0
        ldp     x29, x30, [sp], #16
        ret
FUNCTION_END aes_setkey_dec_ce

/* rounds and round keys from p_keys: the last eleven to v20 to v30, the ones before them to v16 to v19. */
.macro LOAD_KEYS
        ldrb    rounds, [p_keys, #ROUNDS_AT]
        cmp     rounds, #12
        b.lo    2f
        b.eq    1f
        ld1     {v16.16b, v17.16b}, [p_keys], #32
1:      ld1     {v18.16b, v19.16b}, [p_keys], #32
2:      ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [p_keys], #64
        ld1     {v24.16b, v25.16b, v26.16b, v27.16b}, [p_keys], #64
        ld1     {v28.16b, v29.16b, v30.16b}, [p_keys]
        cmp     rounds, #12             /* every mode keeps these flags or sets them again */
.endm

/* A round of block v\block with the key v\key; of block v0; of the eight blocks v0 to v7. */
.macro ROUND aes, mix, block, key
        \aes    v\block\().16b, v\key\().16b
        \mix    v\block\().16b, v\block\().16b
.endm

.macro LAST_ROUND aes, block
        \aes    v\block\().16b, v29.16b
.endm

.macro ROUND1 aes, mix, key
        ROUND   \aes, \mix, 0, \key
.endm

.macro ROUND8 aes, mix, key
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        ROUND   \aes, \mix, \n, \key
        .endr
.endm

/* All rounds but the last key. Flags are those of `cmp rounds, #12`. */
.macro ROUNDS width, aes, mix
        b.lo    6f
        b.eq    5f
        ROUND\width \aes, \mix, 16
        ROUND\width \aes, \mix, 17
5:      ROUND\width \aes, \mix, 18
        ROUND\width \aes, \mix, 19
6:      .irp    key, 20, 21, 22, 23, 24, 25, 26, 27, 28
        ROUND\width \aes, \mix, \key
        .endr
        .if     \width == 1
        LAST_ROUND \aes, 0
        .else
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        LAST_ROUND \aes, \n
        .endr
        .endif
.endm

.macro SAVE_VECTORS
        stp     d8, d9, [sp, #-64]!
        stp     d10, d11, [sp, #16]
        stp     d12, d13, [sp, #32]
        stp     d14, d15, [sp, #48]
.endm

.macro RESTORE_VECTORS
        ldp     d10, d11, [sp, #16]
        ldp     d12, d13, [sp, #32]
        ldp     d14, d15, [sp, #48]
        ldp     d8, d9, [sp], #64
.endm

FUNCTION aes_encrypt_ce
        mov     p_keys, x2
        LOAD_KEYS
        ld1     {v0.16b}, [x1]
        ROUNDS  1, aese, aesmc
        eor     v0.16b, v0.16b, v30.16b
        st1     {v0.16b}, [x0]
        ret
FUNCTION_END aes_encrypt_ce

FUNCTION aes_decrypt_ce
        mov     p_keys, x2
        LOAD_KEYS
        ld1     {v0.16b}, [x1]
        ROUNDS  1, aesd, aesimc
        eor     v0.16b, v0.16b, v30.16b
        st1     {v0.16b}, [x0]
        ret
FUNCTION_END aes_decrypt_ce

FUNCTION aes_cbc_encrypt_ce
        cbz     left, 9f
        ld1     {v0.16b}, [p_iv]
        LOAD_KEYS
1:      ld1     {v1.16b}, [p_data], #16
        eor     v0.16b, v0.16b, v1.16b
        ROUNDS  1, aese, aesmc
        eor     v0.16b, v0.16b, v30.16b
        st1     {v0.16b}, [p_out], #16
        sub     left, left, #16
        cbnz    left, 1b
        st1     {v0.16b}, [p_iv]
9:      ret
FUNCTION_END aes_cbc_encrypt_ce

FUNCTION aes_cbc_decrypt_ce
        cbz     left, 9f
        SAVE_VECTORS
        ld1     {v31.16b}, [p_iv]
        LOAD_KEYS
        subs    left, left, #128
        b.lo    3f

/* Eight blocks: v0 to v7 are worked on, v8 to v15 keep the ciphertext. */
2:      mov     p_temp, p_data
        ld1     {v0.16b, v1.16b, v2.16b, v3.16b}, [p_data], #64
        ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [p_data], #64
        ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [p_temp], #64
        ld1     {v12.16b, v13.16b, v14.16b, v15.16b}, [p_temp]
        cmp     rounds, #12
        ROUNDS  8, aesd, aesimc
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        eor     v\n\().16b, v\n\().16b, v30.16b
        .endr
        eor     v0.16b, v0.16b, v31.16b
        eor     v1.16b, v1.16b, v8.16b
        eor     v2.16b, v2.16b, v9.16b
        eor     v3.16b, v3.16b, v10.16b
        eor     v4.16b, v4.16b, v11.16b
        eor     v5.16b, v5.16b, v12.16b
        eor     v6.16b, v6.16b, v13.16b
        eor     v7.16b, v7.16b, v14.16b
        mov     v31.16b, v15.16b
        st1     {v0.16b, v1.16b, v2.16b, v3.16b}, [p_out], #64
        st1     {v4.16b, v5.16b, v6.16b, v7.16b}, [p_out], #64
        subs    left, left, #128
        b.hs    2b

3:      adds    left, left, #128
        b.eq    8f
        cmp     rounds, #12
4:      ld1     {v8.16b}, [p_data], #16
        mov     v0.16b, v8.16b
        ROUNDS  1, aesd, aesimc
        eor     v0.16b, v0.16b, v30.16b
        eor     v0.16b, v0.16b, v31.16b
        mov     v31.16b, v8.16b
        st1     {v0.16b}, [p_out], #16
        sub     left, left, #16
        cbnz    left, 4b

8:      st1     {v31.16b}, [p_iv]
        RESTORE_VECTORS
9:      ret
FUNCTION_END aes_cbc_decrypt_ce

/* Block n of the counter in v31, which then counts one further. */
.macro COUNT n
        rev32   v\n\().16b, v31.16b
        add     v31.4s, v31.4s, v15.4s
.endm

FUNCTION aes_ctr_ce
        cbz     left, 9f
        SAVE_VECTORS
        LOAD_KEYS
        ld1     {v31.16b}, [p_iv]
        rev32   v31.16b, v31.16b        /* four words; lane 3 is the counter */
        movi    v15.4s, #0
        mov     w7, #1
        mov     v15.s[3], w7
        subs    left, left, #128
        b.lo    3f

2:      .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        COUNT   \n
        .endr
        cmp     rounds, #12
        ROUNDS  8, aese, aesmc
        ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [p_data], #64
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        eor     v\n\().16b, v\n\().16b, v30.16b
        .endr
        eor     v0.16b, v0.16b, v8.16b
        eor     v1.16b, v1.16b, v9.16b
        eor     v2.16b, v2.16b, v10.16b
        eor     v3.16b, v3.16b, v11.16b
        ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [p_data], #64
        eor     v4.16b, v4.16b, v8.16b
        eor     v5.16b, v5.16b, v9.16b
        eor     v6.16b, v6.16b, v10.16b
        eor     v7.16b, v7.16b, v11.16b
        st1     {v0.16b, v1.16b, v2.16b, v3.16b}, [p_out], #64
        st1     {v4.16b, v5.16b, v6.16b, v7.16b}, [p_out], #64
        subs    left, left, #128
        b.hs    2b

3:      adds    left, left, #128
        b.eq    8f
4:      COUNT   0
        cmp     rounds, #12
        ROUNDS  1, aese, aesmc
        eor     v0.16b, v0.16b, v30.16b
        subs    left, left, #16
        b.lo    7f
        ld1     {v8.16b}, [p_data], #16
        eor     v0.16b, v0.16b, v8.16b
        st1     {v0.16b}, [p_out], #16
        b.ne    4b
        b       8f

/* 1 to 15 bytes: the lowest byte of the key stream, then all of it one byte down. */
7:      add     left, left, #16
        movi    v1.16b, #0
1:      mov     w7, v0.s[0]
        ldrb    w8, [p_data], #1
        eor     w8, w8, w7
        strb    w8, [p_out], #1
        ext     v0.16b, v0.16b, v1.16b, #1
        subs    left, left, #1
        b.ne    1b

8:      rev32   v31.16b, v31.16b
        st1     {v31.16b}, [p_iv]
        RESTORE_VECTORS
9:      ret
FUNCTION_END aes_ctr_ce
