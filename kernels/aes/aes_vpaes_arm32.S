/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes"
variant   = "vpaes"
arch      = "arm32"
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
 * AES by byte permutations (M. Hamburg, "Accelerating AES with Vector Permute Instructions", CHES 2009): vtbl looks up
 * sixteen nibbles at once in a table that lies in registers, so that no address depends on a secret. One block at a
 * time, ARM or Thumb-2, interworking.
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
 * Alignment and aliasing: vld1.8 and vst1.8 without alignment; key words by ldr, tail bytes by ldrb and strb; states
 * are aligned. A block is loaded before its output is stored, so out == data is allowed; other overlap is not. Nothing
 * is read or written beyond len, nor below sp. d8 to d15 are saved.
 *
 * To review: aes_vpaes.h; the counter is lane 3 of a vector of words, to the others of which 0 is added. Branches depend
 * on lengths and the number of rounds only.
 */
#include "aes_vpaes.h"
#include "aes_halves.h"
#include "shared/assembly.h"

#define ROUNDS_AT 240                   /* offset of the number of rounds in a state */
#define ARG_IV  96                      /* the fifth argument, above eight words and eight double words */

/* Arguments of the modes; out, data and left advance. */
p_out   .req r0
p_data  .req r1
left    .req r2
p_keys  .req r3
p_iv    .req r4
/* Also used by them. */
rounds  .req r5                         /* less one */
p_in    .req r6                         /* the tables of the way into the basis, */
p_back  .req r7                         /* of the last round, */
p_rows  .req r8                         /* and InvShiftRows */
p_key   .req r9
count   .req r10
temp    .req r12

        .text

/* Encryption: seven tables that stay in q8 to q14, then two pairs. */
        .p2align 4
        .type   enc_tables, %object
enc_tables:
        .byte   T_INVERSE
        .byte   T_INVERSE_A
        .byte   T_ENC_ONCE
        .byte   T_ENC_TWICE
        .byte   T_SHIFT_ROWS
enc_in:
        .byte   T_ENC_IN
enc_back:
        .byte   T_ENC_BACK
        .size   enc_tables, . - enc_tables

/* Decryption: ten tables that stay in q6 to q15. */
        .type   dec_tables, %object
dec_tables:
        .byte   T_INVERSE
        .byte   T_INVERSE_A
        .byte   T_DEC_9
        .byte   T_DEC_13
        .byte   T_DEC_11
        .byte   T_DEC_14
dec_rows:
        .byte   T_INV_SHIFT_ROWS
dec_in:
        .byte   T_DEC_IN
dec_back:
        .byte   T_DEC_BACK
        .size   dec_tables, . - dec_tables

/* to = table[index], byte by byte; to may be index, not table. */
.macro LOOKUP to, table, index
        vtbl.8  \to\()l, {\table\()l, \table\()h}, \index\()l
        vtbl.8  \to\()h, {\table\()l, \table\()h}, \index\()h
.endm

/* The sum of two lookups, by io in q3 and jo in q4. Changes t. */
.macro BY_IO_JO to, table_io, table_jo, t
        LOOKUP  \to, \table_io, q3
        LOOKUP  \t, \table_jo, q4
        veor    \to, \to, \t
.endm

/* The row below: byte r of each word takes byte r + 1. */
.macro ROW_BELOW to, from
        vshr.u32 \to, \from, #8
        vsli.32 \to, \from, #24
.endm

/* io to q3 and jo to q4 from the bytes of x, which may be q0 or q1. Changes q0 to q2. */
.macro INVERT x, inverse, inverse_a, nibbles
        vand    q0, \x, \nibbles        /* k */
        vshr.u8 q1, \x, #4              /* i */
        veor    q2, q0, q1              /* j */
        LOOKUP  q0, \inverse_a, q0
        LOOKUP  q3, \inverse, q1
        LOOKUP  q4, \inverse, q2
        veor    q3, q3, q0
        veor    q4, q4, q0
        LOOKUP  q3, \inverse, q3
        LOOKUP  q4, \inverse, q4
        veor    q3, q3, q2
        veor    q4, q4, q1
.endm

/* q0 into the basis, with the pair of tables `low`, `high`. Changes q1. */
.macro INTO_BASIS low, high, nibbles
        vshr.u8 q1, q0, #4
        vand    q0, q0, \nibbles
        LOOKUP  q0, \low, q0
        LOOKUP  q1, \high, q1
        veor    q0, q0, q1
.endm

/* d = 2 s in the field of FIPS 197, byte by byte; `reduction` is 0x1b. Changes t. */
.macro DOUBLE d, s, t, reduction
        vshr.s8 \t, \s, #7
        vadd.i8 \d, \s, \s
        vand    \t, \t, \reduction
        veor    \d, \d, \t
.endm

/* FIPS 197 5.1 of q0. Changes q1 to q4, q6 and q7. */
LOCAL_FUNCTION encrypt_q0
        vldmia  p_in, {d12-d15}
        mov     p_key, p_keys
        vld1.8  {q2}, [p_key]!
        mov     count, rounds
        INTO_BASIS q6, q7, q15
        vldmia  p_back, {d12-d15}
        veor    q0, q0, q2
1:      vtbl.8  d2, {d0, d1}, d28       /* ShiftRows */
        vtbl.8  d3, {d0, d1}, d29
        INVERT  q1, q8, q9, q15
        subs    count, count, #1
        BY_IO_JO q0, q10, q11, q2
        BY_IO_JO q1, q12, q13, q2       /* its double */
        vld1.8  {q4}, [p_key]!
        ROW_BELOW q2, q0
        veor    q1, q1, q2              /* MixColumns: with a, b, c, d from a row on, 2 a + b, */
        vshr.u32 q3, q0, #24
        vsli.32 q3, q0, #8              /* d, */
        ROW_BELOW q2, q1                /* 2 b + c */
        veor    q0, q1, q3
        veor    q2, q2, q4
        veor    q0, q0, q2
        bne     1b
        vtbl.8  d2, {d0, d1}, d28
        vtbl.8  d3, {d0, d1}, d29
        INVERT  q1, q8, q9, q15
        vld1.8  {q2}, [p_key]
        BY_IO_JO q0, q6, q7, q1
        veor    q0, q0, q2
        bx      lr
FUNCTION_END encrypt_q0

/* FIPS 197 5.3.5 of q0. Changes q1 to q4. */
LOCAL_FUNCTION decrypt_q0
        vldmia  p_in, {d4-d7}
        mov     p_key, p_keys
        vld1.8  {q4}, [p_key]!
        mov     count, rounds
        INTO_BASIS q2, q3, q5
        veor    q0, q0, q4
1:      vld1.8  {q2}, [p_rows]
        vtbl.8  d2, {d0, d1}, d4        /* InvShiftRows */
        vtbl.8  d3, {d0, d1}, d5
        INVERT  q1, q6, q7, q5
        subs    count, count, #1
        BY_IO_JO q0, q8, q9, q1         /* InvMixColumns: 9 times the byte three rows on, */
        ROW_BELOW q2, q0
        BY_IO_JO q0, q10, q11, q1       /* 13 times that two rows on, */
        veor    q0, q0, q2
        ROW_BELOW q2, q0
        BY_IO_JO q0, q12, q13, q1       /* 11 times that below, */
        veor    q0, q0, q2
        ROW_BELOW q2, q0
        BY_IO_JO q0, q14, q15, q1       /* 14 times the byte itself */
        vld1.8  {q1}, [p_key]!
        veor    q0, q0, q2
        veor    q0, q0, q1
        bne     1b
        vld1.8  {q2}, [p_rows]
        vtbl.8  d2, {d0, d1}, d4
        vtbl.8  d3, {d0, d1}, d5
        INVERT  q1, q6, q7, q5
        vldmia  p_back, {d0-d3}
        LOOKUP  q2, q0, q3
        LOOKUP  q3, q1, q4
        vld1.8  {q0}, [p_key]
        veor    q2, q2, q3
        veor    q0, q0, q2
        bx      lr
FUNCTION_END decrypt_q0

/* Saves registers, fetches rounds, and loads the tables of encryption or decryption. */
.macro ENTER
        push    {r4-r10, lr}
        vpush   {d8-d15}
.endm

.macro ENCRYPTING
        ldrb    rounds, [p_keys, #ROUNDS_AT]
        FAR_ADR temp, enc_tables
        FAR_ADR p_in, enc_in
        FAR_ADR p_back, enc_back
        vldmia  temp, {d16-d29}
        vmov.i8 q15, #0x0f
        sub     rounds, rounds, #1
.endm

.macro DECRYPTING
        ldrb    rounds, [p_keys, #ROUNDS_AT]
        FAR_ADR temp, dec_tables
        FAR_ADR p_in, dec_in
        FAR_ADR p_back, dec_back
        FAR_ADR p_rows, dec_rows
        vldmia  temp!, {d12-d15}
        vldmia  temp, {d16-d31}
        vmov.i8 q5, #0x0f
        sub     rounds, rounds, #1
.endm

.macro LEAVE
        vpop    {d8-d15}
        pop     {r4-r10, lr}
        bx      lr
.endm

/* SubWord of r7, with the registers that expand loads. Changes d0 to d4. */
LOCAL_FUNCTION sub_word
        vdup.32 d0, r7
        vshr.u8 d1, d0, #4
        vand    d0, d0, d28
        vtbl.8  d0, {d20, d21}, d0      /* into the basis */
        vtbl.8  d1, {d22, d23}, d1
        veor    d0, d0, d1
        vshr.u8 d1, d0, #4              /* as INVERT */
        vand    d0, d0, d28
        veor    d2, d0, d1
        vtbl.8  d0, {d18, d19}, d0
        vtbl.8  d3, {d16, d17}, d1
        vtbl.8  d4, {d16, d17}, d2
        veor    d3, d3, d0
        veor    d4, d4, d0
        vtbl.8  d3, {d16, d17}, d3
        vtbl.8  d4, {d16, d17}, d4
        veor    d3, d3, d2
        veor    d4, d4, d1
        vtbl.8  d0, {d24, d25}, d3      /* L of the inverse */
        vtbl.8  d1, {d26, d27}, d4
        veor    d0, d0, d1
        veor    d0, d0, d30
        vmov.32 r7, d0[0]
        bx      lr
FUNCTION_END sub_word

/* Key schedule from r0 (r1 bytes) to r2, as in FIPS 197 5.2, word by word; r4 is then the number of rounds. Changes
 * r0, r3 and r5 to r10, d0 to d4; leaves enc_in in q10 and q11, 0x0f in q14, 0x63 in q15. */
LOCAL_FUNCTION expand
        mov     r10, lr
        FAR_ADR r3, enc_tables
        vldmia  r3, {d16-d19}
        FAR_ADR r3, enc_in
        vldmia  r3, {d20-d27}           /* enc_back is next to it */
        vmov.i8 q14, #0x0f
        vmov.i8 q15, #0x63
        lsr     r3, r1, #2              /* words of the key */
        add     r4, r3, #6              /* rounds */
        strb    r4, [r2, #ROUNDS_AT]
        mov     r5, r2
        mov     r6, r3
1:      ldr     r7, [r0], #4
        str     r7, [r5], #4
        subs    r6, r6, #1
        bne     1b
        sub     r5, r5, r1              /* the word a key length before the next; r7 is the word just before that */
        add     r9, r4, #1
        rsb     r9, r3, r9, lsl #2      /* words to make */
        mov     r8, #1                  /* round constant */

2:      mov     r6, r3                  /* words until the next constant */
        bl      sub_word
        eor     r7, r8, r7, ror #8      /* RotWord of a little-endian word */
        lsl     r8, r8, #1
        cmp     r8, #0x100
        it      eq
        moveq   r8, #0x1b               /* 0x80 doubled modulo 0x11b */
3:      ldr     r0, [r5]
        eor     r7, r7, r0
        str     r7, [r5, r1]
        add     r5, r5, #4
        subs    r9, r9, #1
        it      eq
        bxeq    r10
        subs    r6, r6, #1
        beq     2b
        cmp     r6, #4
        it      eq
        cmpeq   r3, #8
        bne     3b
        bl      sub_word                /* the middle of eight words */
        b       3b
FUNCTION_END expand

/* The round keys of expand into the basis, all but the first plus 0x63. */
FUNCTION aes_setkey_enc_vpaes
        push    {r4-r10, lr}
        bl      expand
        vld1.8  {q0}, [r2]
        INTO_BASIS q10, q11, q14
        vst1.8  {q0}, [r2]!
1:      vld1.8  {q0}, [r2]
        veor    q0, q0, q15
        subs    r4, r4, #1
        beq     2f                      /* the last is added outside the basis */
        INTO_BASIS q10, q11, q14
        vst1.8  {q0}, [r2]!
        b       1b
2:      vst1.8  {q0}, [r2]
        pop     {r4-r10, lr}
        bx      lr
FUNCTION_END aes_setkey_enc_vpaes

/* InvMixColumns of q0 (FIPS 197 5.3.3): (14, 11, 13, 9) is (2, 3, 1, 1) times (5, 0, 4, 0). Then plus 0x63 and into
 * the basis of decryption, whose tables are in q10 and q11. Changes q1 to q3. */
LOCAL_FUNCTION inverse_key
        vrev32.16 q1, q0
        veor    q1, q1, q0
        DOUBLE  q1, q1, q2, q12
        DOUBLE  q1, q1, q2, q12
        veor    q0, q0, q1              /* a + 4 (a + c) */
        ROW_BELOW q1, q0
        veor    q2, q0, q1              /* a + b */
        DOUBLE  q3, q2, q0, q12
        vrev32.16 q2, q2                /* c + d */
        veor    q0, q1, q2
        veor    q0, q0, q3
FUNCTION_END inverse_key
LOCAL_FUNCTION inverse_key_outer, 0
        veor    q0, q0, q15
        INTO_BASIS q10, q11, q14
        bx      lr
FUNCTION_END inverse_key_outer

/* The round keys of expand backwards. */
FUNCTION aes_setkey_dec_vpaes
        push    {r4-r10, lr}
        bl      expand
        FAR_ADR r3, dec_in
        vldmia  r3, {d20-d23}
        vmov.i8 q12, #0x1b
        mvn     r12, #15                /* r3 goes down by 16 */
        add     r3, r2, r4, lsl #4      /* r2 goes up */
        vld1.8  {q0}, [r3]
        vld1.8  {q8}, [r2]
        bl      inverse_key_outer
        vst1.8  {q0}, [r2]!
        vst1.8  {q8}, [r3], r12         /* the last is added outside the basis */
1:      vld1.8  {q0}, [r3]
        vld1.8  {q8}, [r2]
        bl      inverse_key
        vmov    q9, q0
        vmov    q0, q8
        bl      inverse_key
        vst1.8  {q9}, [r2]!
        vst1.8  {q0}, [r3], r12
        cmp     r2, r3
        bls     1b                      /* the number of rounds is even: they meet at the middle key */
        pop     {r4-r10, lr}
        bx      lr
FUNCTION_END aes_setkey_dec_vpaes

FUNCTION aes_encrypt_vpaes
        ENTER
        mov     p_keys, r2
        ENCRYPTING
        vld1.8  {q0}, [r1]
        bl      encrypt_q0
        vst1.8  {q0}, [r0]
        LEAVE
FUNCTION_END aes_encrypt_vpaes

FUNCTION aes_decrypt_vpaes
        ENTER
        mov     p_keys, r2
        DECRYPTING
        vld1.8  {q0}, [r1]
        bl      decrypt_q0
        vst1.8  {q0}, [r0]
        LEAVE
FUNCTION_END aes_decrypt_vpaes

FUNCTION aes_cbc_encrypt_vpaes
        cmp     left, #0
        it      eq
        bxeq    lr
        ENTER
        ldr     p_iv, [sp, #ARG_IV]
        ENCRYPTING
        vld1.8  {q0}, [p_iv]
1:      vld1.8  {q1}, [p_data]!
        veor    q0, q0, q1
        bl      encrypt_q0
        subs    left, left, #16
        vst1.8  {q0}, [p_out]!
        bne     1b
        vst1.8  {q0}, [p_iv]
        LEAVE
FUNCTION_END aes_cbc_encrypt_vpaes

/* The ciphertext block before is kept in iv, since no register is free. */
FUNCTION aes_cbc_decrypt_vpaes
        cmp     left, #0
        it      eq
        bxeq    lr
        ENTER
        ldr     p_iv, [sp, #ARG_IV]
        DECRYPTING
1:      vld1.8  {q0}, [p_data]
        bl      decrypt_q0
        vld1.8  {q1}, [p_iv]
        vld1.8  {q2}, [p_data]!
        veor    q0, q0, q1
        subs    left, left, #16
        vst1.8  {q2}, [p_iv]
        vst1.8  {q0}, [p_out]!
        bne     1b
        LEAVE
FUNCTION_END aes_cbc_decrypt_vpaes

FUNCTION aes_ctr_vpaes
        cmp     left, #0
        it      eq
        bxeq    lr
        ENTER
        ldr     p_iv, [sp, #ARG_IV]
        ENCRYPTING
        vld1.8  {q5}, [p_iv]
        vrev32.8 q5, q5                 /* four words; lane 3 is the counter */
        mov     temp, #1
1:      vrev32.8 q0, q5
        vmov.i32 q1, #0
        vmov.32 d3[1], temp
        vadd.i32 q5, q5, q1
        bl      encrypt_q0
        subs    left, left, #16
        blo     2f
        vld1.8  {q1}, [p_data]!
        veor    q0, q0, q1
        vst1.8  {q0}, [p_out]!
        bne     1b
        b       4f

/* 1 to 15 bytes: the lowest byte of the key stream, then all of it one byte down. */
2:      add     left, left, #16
3:      vmov.u8 count, d0[0]
        ldrb    temp, [p_data], #1
        eor     temp, temp, count
        strb    temp, [p_out], #1
        vext.8  q0, q0, q0, #1
        subs    left, left, #1
        bne     3b

4:      vrev32.8 q5, q5
        vst1.8  {q5}, [p_iv]
        LEAVE
FUNCTION_END aes_ctr_vpaes
