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
 * Basis: GF(2^4) is the subfield of the field of FIPS 197, a nibble in it the sum of powers of g = 0x5c, of which
 * g^4 = g + 1. T writes a byte x = i alpha + k, alpha = 0x09, as the nibbles i (high) and k (low). With
 * a = alpha + alpha^16 = alpha^17 = 0xe0 the norm of x is N = k^2 + a i k + a i^2 and 1/x = (k + a i + i alpha) / N.
 * With j = i + k,
 *     io = 1/(1/i + a/k) + j = N/(k + a i)        jo = 1/(1/j + a/k) + i = N/(k + a i + a k),
 * so 1/x is a sum of multiples of 1/io and 1/jo, and so is every linear map of it: two lookups and a sum. 1/0 is
 * written 0x80, which as an index of vtbl is out of range and gives 0 = 1/(1/0); it survives the sums.
 *
 * Below, y = 1/x is the inverse, L the linear part of SubBytes, M its inverse. The constant 0x63 of SubBytes, which
 * ShiftRows and MixColumns leave alone, is part of the round keys. Encryption keeps the state as T(s), with keys
 * T(k0), T(k1 + 63), ..., and the last as it is plus 63. Decryption is the equivalent inverse cipher on T(M(s)), with
 * keys T(M(k + 63)) of the last key and of InvMixColumns of those before it, and k0 as it is.
 *
 * Alignment and aliasing: vld1.8 and vst1.8 without alignment; key words by ldr, tail bytes by ldrb and strb; states
 * are aligned. A block is loaded before its output is stored, so out == data is allowed; other overlap is not. Nothing
 * is read or written beyond len, nor below sp. d8 to d15 are saved.
 *
 * To review: the derivation above, of which every table is one line; the counter is lane 3 of a vector of words, to
 * the others of which 0 is added. Branches depend on lengths and the number of rounds only.
 */
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

/* Halves of q registers by the names that the macros below form. */
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

        .text

/* Encryption: seven tables that stay in q8 to q14, then two pairs. */
        .p2align 4
        .type   enc_tables, %object
enc_tables:
        /* 1/n; 1/0 = 0x80 */
        .byte   0x80, 0x01, 0x09, 0x0e, 0x0d, 0x0b, 0x07, 0x06, 0x0f, 0x02, 0x0c, 0x05, 0x0a, 0x04, 0x03, 0x08
        /* a/n */
        .byte   0x80, 0x04, 0x02, 0x0d, 0x01, 0x0a, 0x0f, 0x0b, 0x09, 0x08, 0x05, 0x07, 0x0e, 0x03, 0x0c, 0x06
        /* T(L(y)) by io and by jo */
        .byte   0x00, 0x0d, 0xeb, 0xfa, 0x48, 0x54, 0x11, 0x1c, 0xf7, 0xbf, 0x45, 0xae, 0x59, 0xa3, 0xb2, 0xe6
        .byte   0x00, 0x38, 0xad, 0xc0, 0x41, 0x14, 0x6d, 0x55, 0xf8, 0xb9, 0x79, 0xd4, 0x2c, 0xec, 0x81, 0x95
        /* T(2 L(y)) by io and by jo */
        .byte   0x00, 0xf7, 0x6c, 0x21, 0x59, 0xe3, 0x4d, 0xba, 0xd6, 0x8f, 0xae, 0xc2, 0x14, 0x35, 0x78, 0x9b
        .byte   0x00, 0x07, 0x40, 0x3b, 0x87, 0xfb, 0x7b, 0x7c, 0x3c, 0xbb, 0x80, 0xc0, 0xfc, 0xc7, 0xbc, 0x47
        /* ShiftRows: where each byte comes from */
        .byte   0x00, 0x05, 0x0a, 0x0f, 0x04, 0x09, 0x0e, 0x03, 0x08, 0x0d, 0x02, 0x07, 0x0c, 0x01, 0x06, 0x0b
enc_in:
        /* T by low and by high nibble */
        .byte   0x00, 0x01, 0x9f, 0x9e, 0x1b, 0x1a, 0x84, 0x85, 0x11, 0x10, 0x8e, 0x8f, 0x0a, 0x0b, 0x95, 0x94
        .byte   0x00, 0x4d, 0xef, 0xa2, 0x45, 0x08, 0xaa, 0xe7, 0xae, 0xe3, 0x41, 0x0c, 0xeb, 0xa6, 0x04, 0x49
enc_back:
        /* L(y) by io and by jo */
        .byte   0x00, 0xb1, 0xc0, 0xc8, 0xf1, 0x48, 0x08, 0xb9, 0x79, 0x88, 0x40, 0x80, 0xf9, 0x31, 0x39, 0x71
        .byte   0x00, 0xd3, 0xdd, 0x47, 0xa0, 0xe9, 0x9a, 0x49, 0x94, 0x34, 0x73, 0xae, 0x3a, 0x7d, 0xe7, 0x0e
        .size   enc_tables, . - enc_tables

/* Decryption: ten tables that stay in q6 to q15. */
        .type   dec_tables, %object
dec_tables:
        /* 1/n; 1/0 = 0x80 */
        .byte   0x80, 0x01, 0x09, 0x0e, 0x0d, 0x0b, 0x07, 0x06, 0x0f, 0x02, 0x0c, 0x05, 0x0a, 0x04, 0x03, 0x08
        /* a/n */
        .byte   0x80, 0x04, 0x02, 0x0d, 0x01, 0x0a, 0x0f, 0x0b, 0x09, 0x08, 0x05, 0x07, 0x0e, 0x03, 0x0c, 0x06
        /* T(M(9 y)) by io and by jo */
        .byte   0x00, 0x16, 0xe4, 0x9d, 0xaf, 0xc0, 0x79, 0x6f, 0x8b, 0x24, 0xb9, 0x5d, 0xd6, 0x4b, 0x32, 0xf2
        .byte   0x00, 0xdd, 0x09, 0x29, 0x9e, 0x63, 0x20, 0xfd, 0xf4, 0x6a, 0x43, 0x4a, 0xbe, 0x97, 0xb7, 0xd4
        /* T(M(13 y)) by io and by jo */
        .byte   0x00, 0x89, 0x57, 0x3b, 0xd3, 0x36, 0x6c, 0xe5, 0xb2, 0x61, 0x5a, 0x0d, 0xbf, 0x84, 0xe8, 0xde
        .byte   0x00, 0xdb, 0x6b, 0x87, 0x9a, 0xad, 0xec, 0x37, 0x5c, 0xc6, 0x41, 0x2a, 0x76, 0xf1, 0x1d, 0xb0
        /* T(M(11 y)) by io and by jo */
        .byte   0x00, 0x17, 0xa3, 0x85, 0xfa, 0xcb, 0x26, 0x31, 0x92, 0x68, 0xed, 0x4e, 0xdc, 0x59, 0x7f, 0xb4
        .byte   0x00, 0xe3, 0x8a, 0xcf, 0xda, 0x7c, 0x45, 0xa6, 0x2c, 0xf6, 0x39, 0xb3, 0x9f, 0x50, 0x15, 0x69
        /* T(M(14 y)) by io and by jo */
        .byte   0x00, 0x85, 0x26, 0xcb, 0xdc, 0xb4, 0xed, 0x68, 0x4e, 0x92, 0x59, 0x7f, 0x31, 0xfa, 0x17, 0xa3
        .byte   0x00, 0xcf, 0x45, 0x7c, 0x9f, 0x69, 0x39, 0xf6, 0xb3, 0x2c, 0x50, 0x15, 0xa6, 0xda, 0xe3, 0x8a
dec_rows:
        /* InvShiftRows */
        .byte   0x00, 0x0d, 0x0a, 0x07, 0x04, 0x01, 0x0e, 0x0b, 0x08, 0x05, 0x02, 0x0f, 0x0c, 0x09, 0x06, 0x03
dec_in:
        /* T(M) by low and by high nibble */
        .byte   0x00, 0xcb, 0xf8, 0x33, 0xff, 0x34, 0x07, 0xcc, 0x97, 0x5c, 0x6f, 0xa4, 0x68, 0xa3, 0x90, 0x5b
        .byte   0x00, 0x5a, 0x55, 0x0f, 0x7c, 0x26, 0x29, 0x73, 0xf5, 0xaf, 0xa0, 0xfa, 0x89, 0xd3, 0xdc, 0x86
dec_back:
        /* y by io and by jo */
        .byte   0x00, 0x82, 0xb7, 0xe5, 0x10, 0xc0, 0x52, 0xd0, 0x67, 0x77, 0x92, 0x25, 0x42, 0xa7, 0xf5, 0x35
        .byte   0x00, 0xcd, 0x22, 0x65, 0x6c, 0xe6, 0x47, 0x8a, 0xa8, 0xc4, 0xa1, 0x83, 0x2b, 0x4e, 0x09, 0xef
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
