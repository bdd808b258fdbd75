/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes"
variant   = "ce"
arch      = "arm32"
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
 * AES with the ARMv8 AES instructions in AArch32. CTR and CBC decryption take four blocks side by side, in q0 to q3,
 * with round keys loaded two at a time, and what is left one by one. CBC encryption keeps eleven round keys in
 * registers.
 *
 * void aes_setkey_enc_ce(const uint8_t *key, size_t key_len, void *ek);
 * void aes_setkey_dec_ce(const uint8_t *key, size_t key_len, void *dk);
 * void aes_encrypt_ce(uint8_t out[16], const uint8_t block[16], const void *ek);
 * void aes_decrypt_ce(uint8_t out[16], const uint8_t block[16], const void *dk);
 * void aes_cbc_encrypt_ce(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 * void aes_cbc_decrypt_ce(uint8_t *out, const uint8_t *data, size_t len, const void *dk, uint8_t iv[16]);
 * void aes_ctr_ce(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 *
 * Speed, in counted instructions a byte of 16 KiB with AES-128: CTR 1.67, CBC encryption 1.69, decryption 1.61.
 *
 * AESE adds a round key before SubBytes and ShiftRows, so that a block goes through `rounds` pairs of key and AESE, the
 * last without AESMC, and then gets the last key by veor.
 *
 * Alignment and aliasing: vld1.8 and vst1.8, which need no alignment, and single words and bytes of key and data; the
 * ARMv8 CPU that this needs loads unaligned words. All data of a step is loaded before any of its output is stored, so
 * out == data is allowed; other overlap is not. Nothing is read or written beyond len, nor below sp. CBC encryption
 * saves d10 to d15, the others use none of d8 to d15.
 *
 * To review: the counter is lane 3 of a vector of words in machine order; vadd.i32 wraps it without touching the other
 * lanes, to which it adds 0. Branches depend on lengths and the number of rounds only. In the key schedule SubWord is
 * AESE with a key of zeros on four equal columns, on which ShiftRows does nothing.
 */
#include "shared/assembly.h"

#define ROUNDS_AT 240                   /* offset of the number of rounds in a state */

/* Arguments of the modes; out, data and left advance. */
p_out   .req r0
p_data  .req r1
left    .req r2
p_keys  .req r3
p_iv    .req r4
/* Also used by them. */
rounds  .req r5
p_key   .req r6
temp    .req r12
/* q0 to q3 blocks, q8 and q9 round keys, q10 counter or chain, q11 one in lane 3, q12 to q15 data. */

        .text

/* Key schedule from r0 (r1 bytes) to r2; changes r0, r3, r12, q0 and q1. FIPS 197 5.2, word by word. */
LOCAL_FUNCTION expand
        push    {r4-r9}
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
        add     r4, r4, #1
        rsb     r4, r3, r4, lsl #2      /* words to make */
        mov     r8, #1                  /* round constant */
        vmov.i32 q1, #0
2:      mov     r6, r3                  /* words until the next constant */
        vdup.32 q0, r7
        aese.8  q0, q1
        vmov.32 r7, d0[0]
        eor     r7, r8, r7, ror #8      /* RotWord of a little-endian word */
        lsl     r8, r8, #1
        cmp     r8, #0x100
        it      eq
        moveq   r8, #0x1b               /* 0x80 doubled modulo 0x11b */
3:      ldr     r9, [r5]
        eor     r7, r7, r9
        str     r7, [r5, r1]
        add     r5, r5, #4
        subs    r4, r4, #1
        beq     4f
        subs    r6, r6, #1
        beq     2b
        cmp     r6, #4
        it      eq
        cmpeq   r3, #8
        bne     3b
        vdup.32 q0, r7                  /* the middle of eight words */
        aese.8  q0, q1
        vmov.32 r7, d0[0]
        b       3b
4:      vmov.i32 q0, #0
        pop     {r4-r9}
        bx      lr
FUNCTION_END expand

FUNCTION aes_setkey_enc_ce
        b       expand
FUNCTION_END aes_setkey_enc_ce

/* The schedule backwards, all keys but the outer two through InvMixColumns (FIPS 197 5.3.5). */
FUNCTION aes_setkey_dec_ce
        push    {r4, lr}
        bl      expand
        ldrb    r3, [r2, #ROUNDS_AT]
        mvn     r12, #15                /* r3 goes down by 16 */
        add     r3, r2, r3, lsl #4      /* r2 goes up */
        vld1.8  {q0}, [r2]
        vld1.8  {q1}, [r3]
        vst1.8  {q1}, [r2]!
        vst1.8  {q0}, [r3], r12
1:      vld1.8  {q0}, [r2]
        vld1.8  {q1}, [r3]
        aesimc.8 q0, q0
        aesimc.8 q1, q1
        vst1.8  {q1}, [r2]!
        vst1.8  {q0}, [r3], r12
        cmp     r2, r3
        bls     1b                      /* the number of rounds is even: they meet at the middle key */
        vmov.i32 q0, #0
        vmov.i32 q1, #0
        pop     {r4, lr}
        bx      lr
FUNCTION_END aes_setkey_dec_ce

/* A round with key register `key` of q0, or of q0 to q3. */
.macro ROUND1 aes, mix, key
        \aes    q0, \key
        \mix    q0, q0
.endm

.macro ROUND4 aes, mix, key
        .irp    block, q0, q1, q2, q3
        \aes    \block, \key
        \mix    \block, \block
        .endr
.endm

/* Two rounds with the next two keys. */
.macro TWO_ROUNDS width, aes, mix
        vld1.8  {q8, q9}, [p_key]!
        ROUND\width \aes, \mix, q8
        ROUND\width \aes, \mix, q9
.endm

/* All rounds; q8 is then the last key, which is still to be added. */
.macro ROUNDS width, aes, mix
        mov     p_key, p_keys
        cmp     rounds, #12
        TWO_ROUNDS \width, \aes, \mix
        TWO_ROUNDS \width, \aes, \mix
        TWO_ROUNDS \width, \aes, \mix
        TWO_ROUNDS \width, \aes, \mix
        blo     6f
        TWO_ROUNDS \width, \aes, \mix
        beq     6f
        TWO_ROUNDS \width, \aes, \mix
6:      vld1.8  {q8, q9}, [p_key]!
        ROUND\width \aes, \mix, q8
        vld1.8  {q8}, [p_key]
        .if     \width == 1
        \aes    q0, q9
        .else
        .irp    block, q0, q1, q2, q3
        \aes    \block, q9
        .endr
        .endif
.endm

/* Saves registers and fetches iv and rounds. */
.macro ENTER
        push    {r4-r6, lr}
        ldr     p_iv, [sp, #16]
        ldrb    rounds, [p_keys, #ROUNDS_AT]
.endm

.macro LEAVE
        pop     {r4-r6, lr}
        bx      lr
.endm

/* The whole of a function on one block. */
.macro BLOCK_FUNCTION aes, mix
        push    {r4-r6, lr}
        mov     p_keys, r2
        ldrb    rounds, [p_keys, #ROUNDS_AT]
        vld1.8  {q0}, [r1]
        ROUNDS  1, \aes, \mix
        veor    q0, q0, q8
        vst1.8  {q0}, [r0]
        LEAVE
.endm

FUNCTION aes_encrypt_ce
        BLOCK_FUNCTION aese.8, aesmc.8
FUNCTION_END aes_encrypt_ce

FUNCTION aes_decrypt_ce
        BLOCK_FUNCTION aesd.8, aesimc.8
FUNCTION_END aes_decrypt_ce

/* CBC encryption: the last eleven keys are in q5 to q15, the two or four before them come from memory. */
FUNCTION aes_cbc_encrypt_ce
        cmp     left, #0
        it      eq
        bxeq    lr
        ENTER
        vpush   {d10-d15}
        vld1.8  {q0}, [p_iv]
        sub     p_key, rounds, #10
        add     p_key, p_keys, p_key, lsl #4
        vld1.8  {q5, q6}, [p_key]!
        vld1.8  {q7, q8}, [p_key]!
        vld1.8  {q9, q10}, [p_key]!
        vld1.8  {q11, q12}, [p_key]!
        vld1.8  {q13, q14}, [p_key]!
        vld1.8  {q15}, [p_key]
1:      vld1.8  {q1}, [p_data]!
        cmp     rounds, #12
        veor    q0, q0, q1
        blo     3f
        mov     p_key, p_keys
        vld1.8  {q2, q3}, [p_key]!
        ROUND1  aese.8, aesmc.8, q2
        ROUND1  aese.8, aesmc.8, q3
        beq     3f
        vld1.8  {q2, q3}, [p_key]
        ROUND1  aese.8, aesmc.8, q2
        ROUND1  aese.8, aesmc.8, q3
3:      .irp    key, q5, q6, q7, q8, q9, q10, q11, q12, q13
        ROUND1  aese.8, aesmc.8, \key
        .endr
        aese.8  q0, q14
        subs    left, left, #16
        veor    q0, q0, q15
        vst1.8  {q0}, [p_out]!
        bne     1b
        vst1.8  {q0}, [p_iv]
        vpop    {d10-d15}
        LEAVE
FUNCTION_END aes_cbc_encrypt_ce

FUNCTION aes_cbc_decrypt_ce
        cmp     left, #0
        it      eq
        bxeq    lr
        ENTER
        vld1.8  {q10}, [p_iv]
        subs    left, left, #64
        blo     3f

/* Four blocks: q0 to q3 are worked on, q12 to q15 keep the ciphertext. */
2:      mov     temp, p_data
        vld1.8  {q0, q1}, [p_data]!
        vld1.8  {q2, q3}, [p_data]!
        vld1.8  {q12, q13}, [temp]!
        vld1.8  {q14, q15}, [temp]
        ROUNDS  4, aesd.8, aesimc.8
        veor    q0, q0, q8
        veor    q1, q1, q8
        veor    q2, q2, q8
        veor    q3, q3, q8
        veor    q0, q0, q10
        veor    q1, q1, q12
        veor    q2, q2, q13
        veor    q3, q3, q14
        vmov    q10, q15
        vst1.8  {q0, q1}, [p_out]!
        vst1.8  {q2, q3}, [p_out]!
        subs    left, left, #64
        bhs     2b

3:      adds    left, left, #64
        beq     8f
4:      vld1.8  {q12}, [p_data]!
        vmov    q0, q12
        ROUNDS  1, aesd.8, aesimc.8
        veor    q0, q0, q8
        veor    q0, q0, q10
        vmov    q10, q12
        vst1.8  {q0}, [p_out]!
        subs    left, left, #16
        bne     4b

8:      vst1.8  {q10}, [p_iv]
        LEAVE
FUNCTION_END aes_cbc_decrypt_ce

FUNCTION aes_ctr_ce
        cmp     left, #0
        it      eq
        bxeq    lr
        ENTER
        vld1.8  {q10}, [p_iv]
        vrev32.8 q10, q10               /* four words; lane 3 is the counter */
        mov     temp, #1
        vmov.i32 q11, #0
        vmov.32 d23[1], temp
        subs    left, left, #64
        blo     3f

2:      .irp    block, q0, q1, q2, q3
        vrev32.8 \block, q10
        vadd.i32 q10, q10, q11
        .endr
        ROUNDS  4, aese.8, aesmc.8
        vld1.8  {q12, q13}, [p_data]!
        vld1.8  {q14, q15}, [p_data]!
        veor    q0, q0, q8
        veor    q1, q1, q8
        veor    q2, q2, q8
        veor    q3, q3, q8
        veor    q0, q0, q12
        veor    q1, q1, q13
        veor    q2, q2, q14
        veor    q3, q3, q15
        vst1.8  {q0, q1}, [p_out]!
        vst1.8  {q2, q3}, [p_out]!
        subs    left, left, #64
        bhs     2b

3:      adds    left, left, #64
        beq     8f
4:      vrev32.8 q0, q10
        vadd.i32 q10, q10, q11
        ROUNDS  1, aese.8, aesmc.8
        veor    q0, q0, q8
        subs    left, left, #16
        blo     7f
        vld1.8  {q12}, [p_data]!
        veor    q0, q0, q12
        vst1.8  {q0}, [p_out]!
        bne     4b
        b       8f

/* 1 to 15 bytes: the lowest byte of the key stream, then all of it one byte down. */
7:      add     left, left, #16
1:      vmov.u8 rounds, d0[0]
        ldrb    temp, [p_data], #1
        eor     temp, temp, rounds
        strb    temp, [p_out], #1
        vext.8  q0, q0, q0, #1
        subs    left, left, #1
        bne     1b

8:      vrev32.8 q10, q10
        vst1.8  {q10}, [p_iv]
        LEAVE
FUNCTION_END aes_ctr_ce
