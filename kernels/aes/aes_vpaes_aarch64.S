/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes"
variant   = "vpaes"
arch      = "aarch64"
provides  = ["setkey_enc", "setkey_dec", "encrypt", "decrypt", "cbc_encrypt", "cbc_decrypt", "ctr"]
requires  = ["neon"]
priority  = 20
constant_time = true
wipes     = true
cites     = ["Hamburg 2009", "FIPS 197", "SP 800-38A 6.2, 6.5"]

[state.ek]
bytes  = 256
align  = 16
layout = "vpaes"                         # round keys from byte 0 on in the basis described below, rounds in byte 240

[state.dk]
bytes  = 256
align  = 16
layout = "vpaes-inverse"                 # the same for the equivalent inverse cipher (FIPS 197 5.3.5), in order of use
*/
/*
 * AES by byte permutations (M. Hamburg, "Accelerating AES with Vector Permute Instructions", CHES 2009): tbl looks up
 * sixteen nibbles at once in a table that lies in a register, so that no address depends on a secret. One block at a
 * time; all tables stay in registers.
 *
 * void aes_setkey_enc_vpaes(const uint8_t *key, size_t key_len, void *ek);
 * void aes_setkey_dec_vpaes(const uint8_t *key, size_t key_len, void *dk);
 * void aes_encrypt_vpaes(uint8_t out[16], const uint8_t block[16], const void *ek);
 * void aes_decrypt_vpaes(uint8_t out[16], const uint8_t block[16], const void *dk);
 * void aes_cbc_encrypt_vpaes(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 * void aes_cbc_decrypt_vpaes(uint8_t *out, const uint8_t *data, size_t len, const void *dk, uint8_t iv[16]);
 * void aes_ctr_vpaes(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 *
 * The basis of the field, T, L, M, y, io and jo are in aes_vpaes.h, with the tables.
 *
 * Alignment and aliasing: ld1 and st1 of bytes, key words by ldr, none of which needs alignment. A block is loaded
 * before its output is stored, so out == data is allowed; other overlap is not. Nothing is read or written beyond len,
 * nor below sp, and v8 to v15 are not used.
 *
 * To review: aes_vpaes.h; the counter is lane 3 of a vector of words, to the others of which 0 is added. Branches depend
 * on lengths and the number of rounds only.
 */
#include "aes_vpaes.h"
#include "shared/assembly.h"

#define ROUNDS_AT 240                   /* offset of the number of rounds in a state */

/* Arguments of the modes; out, data and left advance. */
p_out   .req x0
p_data  .req x1
left    .req x2
p_keys  .req x3
p_iv    .req x4
/* Also used by them. */
rounds  .req w5                         /* less one */
p_key   .req x6
count   .req w7
temp    .req w8
p_temp  .req x9
back    .req x10                        /* the return address of a function that calls */

/* v0 to v4 are temporary, v5 chain or counter, v6 nibble mask, v7 one in lane 3; v16 to v31 tables, in memory order. */
#define chain      v5
#define nibbles    v6
#define one        v7
#define inverse    v16
#define inverse_a  v17
#define rows       v26                  /* ShiftRows or its inverse */
#define row_below  v27
/* Encryption. */
#define once_io    v18
#define once_jo    v19
#define twice_io   v20
#define twice_jo   v21
#define eback_io   v22
#define eback_jo   v23
#define ein_low    v24
#define ein_high   v25
#define row_above  v28
/* Decryption: v18 to v25 by 9, 13, 11 and 14. */
#define din_low    v28
#define din_high   v29
#define dback_io   v30
#define dback_jo   v31

        .text

        .p2align 4
        .type   enc_tables, %object
enc_tables:
        .byte   T_INVERSE
        .byte   T_INVERSE_A
        .byte   T_ENC_ONCE
        .byte   T_ENC_TWICE
        .byte   T_ENC_BACK
        .byte   T_ENC_IN
        .byte   T_SHIFT_ROWS
        .byte   T_ROW_BELOW
        .byte   T_ROW_ABOVE
        .size   enc_tables, . - enc_tables
        .type   dec_tables, %object
dec_tables:
        .byte   T_INVERSE
        .byte   T_INVERSE_A
        .byte   T_DEC_9
        .byte   T_DEC_13
        .byte   T_DEC_11
        .byte   T_DEC_14
        .byte   T_INV_SHIFT_ROWS
        .byte   T_ROW_BELOW
        .byte   T_DEC_IN
        .byte   T_DEC_BACK
        .size   dec_tables, . - dec_tables

/* to = table[index], byte by byte. */
.macro LOOKUP to, table, index
        tbl     \to\().16b, {\table\().16b}, \index\().16b
.endm

.macro SUM to, x, y
        eor     \to\().16b, \x\().16b, \y\().16b
.endm

/* The sum of two lookups, by io in v3 and jo in v4. Changes t. */
.macro BY_IO_JO to, table_io, table_jo, t
        LOOKUP  \to, \table_io, v3
        LOOKUP  \t, \table_jo, v4
        SUM     \to, \to, \t
.endm

/* v0 by a linear map, given as two tables by nibbles. Changes v1. */
.macro LINEAR low, high
        ushr    v1.16b, v0.16b, #4
        and     v0.16b, v0.16b, nibbles.16b
        LOOKUP  v0, \low, v0
        LOOKUP  v1, \high, v1
        SUM     v0, v0, v1
.endm

/* io to v3 and jo to v4 from v0. Changes v0 to v2. */
.macro INVERT
        ushr    v1.16b, v0.16b, #4      /* i */
        and     v0.16b, v0.16b, nibbles.16b /* k */
        SUM     v2, v0, v1              /* j */
        LOOKUP  v0, inverse_a, v0
        LOOKUP  v3, inverse, v1
        LOOKUP  v4, inverse, v2
        SUM     v3, v3, v0
        SUM     v4, v4, v0
        LOOKUP  v3, inverse, v3
        LOOKUP  v4, inverse, v4
        SUM     v3, v3, v2
        SUM     v4, v4, v1
.endm

/* d = 2 s in the field of FIPS 197, byte by byte; v31 is 0x1b. Changes t. */
.macro DOUBLE d, s, t
        sshr    \t\().16b, \s\().16b, #7
        add     \d\().16b, \s\().16b, \s\().16b
        and     \t\().16b, \t\().16b, v31.16b
        SUM     \d, \d, \t
.endm

/* FIPS 197 5.1 of v0. Changes v1 to v4. */
LOCAL_FUNCTION encrypt_v0
        mov     p_key, p_keys
        mov     count, rounds
        ld1     {v2.16b}, [p_key], #16
        LINEAR  ein_low, ein_high
        SUM     v0, v0, v2
1:      LOOKUP  v0, v0, rows
        INVERT
        subs    count, count, #1
        BY_IO_JO v0, once_io, once_jo, v2
        BY_IO_JO v1, twice_io, twice_jo, v2
        ld1     {v4.16b}, [p_key], #16
        LOOKUP  v2, v0, row_below       /* MixColumns: with a, b, c, d from a row on, */
        SUM     v1, v1, v2              /* 2 a + b, */
        LOOKUP  v0, v0, row_above       /* d, */
        LOOKUP  v2, v1, row_below       /* 2 b + c */
        SUM     v0, v0, v1
        SUM     v2, v2, v4
        SUM     v0, v0, v2
        b.ne    1b
        LOOKUP  v0, v0, rows
        INVERT
        ld1     {v2.16b}, [p_key]
        BY_IO_JO v0, eback_io, eback_jo, v1
        SUM     v0, v0, v2
        ret
FUNCTION_END encrypt_v0

/* FIPS 197 5.3.5 of v0. Changes v1 to v4. */
LOCAL_FUNCTION decrypt_v0
        mov     p_key, p_keys
        mov     count, rounds
        ld1     {v2.16b}, [p_key], #16
        LINEAR  din_low, din_high
        SUM     v0, v0, v2
1:      LOOKUP  v0, v0, rows
        INVERT
        subs    count, count, #1
        BY_IO_JO v0, v18, v19, v1       /* InvMixColumns: 9 times the byte three rows on, */
        LOOKUP  v2, v0, row_below
        BY_IO_JO v0, v20, v21, v1       /* 13 times that two rows on, */
        SUM     v0, v0, v2
        LOOKUP  v2, v0, row_below
        BY_IO_JO v0, v22, v23, v1       /* 11 times that below, */
        SUM     v0, v0, v2
        LOOKUP  v2, v0, row_below
        BY_IO_JO v0, v24, v25, v1       /* 14 times the byte itself */
        ld1     {v1.16b}, [p_key], #16
        SUM     v0, v0, v2
        SUM     v0, v0, v1
        b.ne    1b
        LOOKUP  v0, v0, rows
        INVERT
        ld1     {v2.16b}, [p_key]
        BY_IO_JO v0, dback_io, dback_jo, v1
        SUM     v0, v0, v2
        ret
FUNCTION_END decrypt_v0

.macro LOAD_ENC_TABLES
        adr     p_temp, enc_tables
        ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [p_temp], #64
        ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [p_temp], #64
        ld1     {v24.16b, v25.16b, v26.16b, v27.16b}, [p_temp], #64
        ld1     {v28.16b}, [p_temp]
        movi    nibbles.16b, #0x0f
.endm

.macro ENCRYPTING
        mov     back, x30
        LOAD_ENC_TABLES
        ldrb    rounds, [p_keys, #ROUNDS_AT]
        sub     rounds, rounds, #1
.endm

.macro DECRYPTING
        mov     back, x30
        adr     p_temp, dec_tables
        ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [p_temp], #64
        ld1     {v20.16b, v21.16b, v22.16b, v23.16b}, [p_temp], #64
        ld1     {v24.16b, v25.16b, v26.16b, v27.16b}, [p_temp], #64
        ld1     {v28.16b, v29.16b, v30.16b, v31.16b}, [p_temp]
        movi    nibbles.16b, #0x0f
        ldrb    rounds, [p_keys, #ROUNDS_AT]
        sub     rounds, rounds, #1
.endm

.macro LEAVE
        mov     x30, back
        ret
.endm

/* SubWord of w7; v7 is 0x63. Changes v0 to v4. */
LOCAL_FUNCTION sub_word
        fmov    s0, w7
        LINEAR  ein_low, ein_high
        INVERT
        BY_IO_JO v0, eback_io, eback_jo, v1
        SUM     v0, v0, v7
        fmov    w7, s0
        ret
FUNCTION_END sub_word

/* Key schedule from x0 (x1 bytes) to x2, as in FIPS 197 5.2, word by word; w4 is then the number of rounds. Changes
 * x0, x3, x5 to x9, x11, x12, v0 to v4; leaves the tables of encryption and 0x63 in v7. */
LOCAL_FUNCTION expand
        mov     x12, x30
        LOAD_ENC_TABLES
        movi    v7.16b, #0x63
        lsr     w3, w1, #2              /* words of the key */
        add     w4, w3, #6              /* rounds */
        strb    w4, [x2, #ROUNDS_AT]
        mov     x5, x2
        mov     w6, w3
1:      ldr     w7, [x0], #4
        str     w7, [x5], #4
        subs    w6, w6, #1
        b.ne    1b
        sub     x5, x5, x1              /* the word a key length before the next; w7 is the word just before that */
        lsl     w9, w4, #2
        add     w9, w9, #4
        sub     w9, w9, w3              /* words to make */
        mov     w8, #1                  /* round constant */

2:      mov     w6, w3                  /* words until the next constant */
        bl      sub_word
        eor     w7, w8, w7, ror #8      /* RotWord of a little-endian word */
        lsl     w8, w8, #1
        cmp     w8, #0x100
        b.ne    3f
        mov     w8, #0x1b               /* 0x80 doubled modulo 0x11b */
3:      ldr     w11, [x5]
        eor     w7, w7, w11
        str     w7, [x5, x1]
        add     x5, x5, #4
        subs    w9, w9, #1
        b.eq    4f
        subs    w6, w6, #1
        b.eq    2b
        cmp     w6, #4
        b.ne    3b
        cmp     w3, #8
        b.ne    3b
        bl      sub_word                /* the middle of eight words */
        b       3b
4:      mov     x30, x12
        ret
FUNCTION_END expand

/* The round keys of expand into the basis, all but the first plus 0x63. */
FUNCTION aes_setkey_enc_vpaes
        mov     back, x30
        bl      expand
        ld1     {v0.16b}, [x2]
        LINEAR  ein_low, ein_high
        st1     {v0.16b}, [x2], #16
1:      ld1     {v0.16b}, [x2]
        SUM     v0, v0, v7
        subs    w4, w4, #1
        b.eq    2f                      /* the last is added outside the basis */
        LINEAR  ein_low, ein_high
        st1     {v0.16b}, [x2], #16
        b       1b
2:      st1     {v0.16b}, [x2]
        LEAVE
FUNCTION_END aes_setkey_enc_vpaes

/* InvMixColumns of v0 (FIPS 197 5.3.3): (14, 11, 13, 9) is (2, 3, 1, 1) times (5, 0, 4, 0). Then plus 0x63 and into
 * the basis of decryption, whose tables are in v29 and v30. Changes v1 to v3. */
LOCAL_FUNCTION inverse_key
        rev32   v1.8h, v0.8h
        SUM     v1, v1, v0
        DOUBLE  v1, v1, v2
        DOUBLE  v1, v1, v2
        SUM     v0, v0, v1              /* a + 4 (a + c) */
        LOOKUP  v1, v0, row_below
        SUM     v2, v0, v1              /* a + b */
        DOUBLE  v3, v2, v0
        rev32   v2.8h, v2.8h            /* c + d */
        SUM     v0, v1, v2
        SUM     v0, v0, v3
FUNCTION_END inverse_key
LOCAL_FUNCTION inverse_key_outer, 0
        SUM     v0, v0, v7
        LINEAR  v29, v30
        ret
FUNCTION_END inverse_key_outer

/* The round keys of expand backwards. */
FUNCTION aes_setkey_dec_vpaes
        mov     back, x30
        bl      expand
        adr     p_temp, dec_tables
        add     p_temp, p_temp, #192    /* the pair that leads into the basis */
        ld1     {v29.16b, v30.16b}, [p_temp]
        movi    v31.16b, #0x1b
        add     x3, x2, w4, uxtw #4     /* x3 goes down, x2 up */
        mov     x5, #-16
        ld1     {v0.16b}, [x3]
        ld1     {v5.16b}, [x2]
        bl      inverse_key_outer
        st1     {v0.16b}, [x2], #16
        st1     {v5.16b}, [x3], x5      /* the last is added outside the basis */
1:      ld1     {v0.16b}, [x3]
        ld1     {v4.16b}, [x2]
        bl      inverse_key
        mov     v5.16b, v0.16b
        mov     v0.16b, v4.16b
        bl      inverse_key
        st1     {v5.16b}, [x2], #16
        st1     {v0.16b}, [x3], x5
        cmp     x2, x3
        b.ls    1b                      /* the number of rounds is even: they meet at the middle key */
        LEAVE
FUNCTION_END aes_setkey_dec_vpaes

FUNCTION aes_encrypt_vpaes
        mov     p_keys, x2
        ENCRYPTING
        ld1     {v0.16b}, [x1]
        bl      encrypt_v0
        st1     {v0.16b}, [x0]
        LEAVE
FUNCTION_END aes_encrypt_vpaes

FUNCTION aes_decrypt_vpaes
        mov     p_keys, x2
        DECRYPTING
        ld1     {v0.16b}, [x1]
        bl      decrypt_v0
        st1     {v0.16b}, [x0]
        LEAVE
FUNCTION_END aes_decrypt_vpaes

FUNCTION aes_cbc_encrypt_vpaes
        cbz     left, 9f
        ENCRYPTING
        ld1     {v0.16b}, [p_iv]
1:      ld1     {v1.16b}, [p_data], #16
        SUM     v0, v0, v1
        bl      encrypt_v0
        subs    left, left, #16
        st1     {v0.16b}, [p_out], #16
        b.ne    1b
        st1     {v0.16b}, [p_iv]
        mov     x30, back
9:      ret
FUNCTION_END aes_cbc_encrypt_vpaes

FUNCTION aes_cbc_decrypt_vpaes
        cbz     left, 9f
        DECRYPTING
        ld1     {chain.16b}, [p_iv]
1:      ld1     {v0.16b}, [p_data]
        bl      decrypt_v0
        subs    left, left, #16
        SUM     v0, v0, chain
        ld1     {chain.16b}, [p_data], #16
        st1     {v0.16b}, [p_out], #16
        b.ne    1b
        st1     {chain.16b}, [p_iv]
        mov     x30, back
9:      ret
FUNCTION_END aes_cbc_decrypt_vpaes

FUNCTION aes_ctr_vpaes
        cbz     left, 9f
        ENCRYPTING
        mov     temp, #1
        movi    one.4s, #0
        mov     one.s[3], temp
        ld1     {chain.16b}, [p_iv]
        rev32   chain.16b, chain.16b    /* four words; lane 3 is the counter */
1:      rev32   v0.16b, chain.16b
        add     chain.4s, chain.4s, one.4s
        bl      encrypt_v0
        subs    left, left, #16
        b.lo    2f
        ld1     {v1.16b}, [p_data], #16
        SUM     v0, v0, v1
        st1     {v0.16b}, [p_out], #16
        b.ne    1b
        b       4f

/* 1 to 15 bytes: the lowest byte of the key stream, then all of it one byte down. */
2:      add     left, left, #16
3:      umov    count, v0.b[0]
        ldrb    temp, [p_data], #1
        eor     temp, temp, count
        strb    temp, [p_out], #1
        ext     v0.16b, v0.16b, v0.16b, #1
        subs    left, left, #1
        b.ne    3b

4:      rev32   chain.16b, chain.16b
        st1     {chain.16b}, [p_iv]
        mov     x30, back
9:      ret
FUNCTION_END aes_ctr_vpaes
