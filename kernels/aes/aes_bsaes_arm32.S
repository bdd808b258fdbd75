/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes"
variant   = "bsaes"
arch      = "arm32"
provides  = ["ctr", "cbc_decrypt"]
requires  = ["neon"]
priority  = 30
min_bytes = { ctr = 128, cbc_decrypt = 128 }
constant_time = true
wipes     = true
cites     = ["Kasper-Schwabe 2009", "Boyar-Peralta 2011", "FIPS 197", "SP 800-38A 6.2, 6.5"]

[state.ek]
bytes  = 256
align  = 16
layout = "vpaes"                         # as aes_vpaes_arm32.S makes it

[state.dk]
bytes  = 256
align  = 16
layout = "vpaes-inverse"
*/
/*
 * AES bitsliced, eight blocks at a time (E. Kasper, P. Schwabe, "Faster and Timing-Attack Resistant AES-GCM", CHES
 * 2009), with the S-box circuit of J. Boyar and R. Peralta. ARM or Thumb-2, interworking.
 *
 * void aes_ctr_bsaes(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 * void aes_cbc_decrypt_bsaes(uint8_t *out, const uint8_t *data, size_t len, const void *dk, uint8_t iv[16]);
 *
 * Plane k is a q register: bit b of its byte p is bit k of byte p of block b. ShiftRows is then one permutation of
 * bytes on each plane, and a row moves to another by a rotation of words.
 *
 * The schedule is that of vpaes, described there: every key but the last is in its basis, all but the first plus 0x63,
 * those of decryption for the equivalent inverse cipher (FIPS 197 5.3.5). Each call takes the keys out of the basis and
 * spreads them to planes of 0x00 and 0xff in its frame, 2 KiB. The constant stays where it is: the S-box here has none.
 *
 * Fewer than eight blocks at the end are worked on as eight, of which the rest is thrown away.
 *
 * Alignment and aliasing: vld1.8 and vst1.8 without alignment, ldrb and strb for the tail; words and double words of
 * the frame only, which is aligned to 16. All data of eight blocks is loaded before their output is stored, so
 * out == data is allowed; other overlap is not. Nothing is read or written beyond len, nor below sp. d8 to d15 are
 * saved; the frame, which holds keys, is cleared.
 *
 * To review: SUB_PLANES, whose registers and slots were assigned by program: each line says which signal of the
 * circuit it makes. The counter is one word in the frame, to which the number of blocks is added. Branches depend on
 * lengths and the number of rounds only.
 */
#include "aes_halves.h"
#include "shared/assembly.h"

#define ROUNDS_AT 240                   /* offset of the number of rounds in a state */

/* Frame: offsets from sp, a multiple of 16. */
#define BUFFER  0                       /* eight blocks of a tail; while planes are in work, the slots of the S-box */
#define COUNTER 176                     /* CTR: the next counter block as words in machine order */
#define OUT_DATA 192                    /* p_out and p_data while planes are in work */
#define OLD_SP  200
#define ROUNDS  204
#define KEYS    208                     /* a key of eight planes; then for each round the byte permutation and a key */
#define FRAME   2368                    /* KEYS and 128 + 14 * 144, to a multiple of 32 */
#define ARG_IV  100                     /* from OLD_SP, above nine words and eight double words */

p_out   .req r0
p_data  .req r1
left    .req r2
p_keys  .req r3                         /* until the keys are planes */
count   .req r3
p_iv    .req r4
p_key   .req r12
/* Addresses of the slots at sp + 16 n. */
slot1   .req r5
slot2   .req r6
slot3   .req r7
slot4   .req r8
slot5   .req r9
slot6   .req r10
slot7   .req r11
slot8   .req lr
slot9   .req r0                         /* while planes are in work */
slot10  .req r1

        .text

        .p2align 4
        .type   enc_tables, %object
enc_tables:
        /* the inverse of T by low and by high nibble */
        .byte   0x00, 0x01, 0x5c, 0x5d, 0xe0, 0xe1, 0xbc, 0xbd, 0x50, 0x51, 0x0c, 0x0d, 0xb0, 0xb1, 0xec, 0xed
        .byte   0x00, 0x09, 0x8a, 0x83, 0xa1, 0xa8, 0x2b, 0x22, 0xe6, 0xef, 0x6c, 0x65, 0x47, 0x4e, 0xcd, 0xc4
        /* ShiftRows: where each byte comes from */
        .byte   0x00, 0x05, 0x0a, 0x0f, 0x04, 0x09, 0x0e, 0x03, 0x08, 0x0d, 0x02, 0x07, 0x0c, 0x01, 0x06, 0x0b
        .size   enc_tables, . - enc_tables
        .type   dec_tables, %object
dec_tables:
        /* the inverse of T(M) by low and by high nibble */
        .byte   0x00, 0x1f, 0xb2, 0xad, 0xab, 0xb4, 0x19, 0x06, 0x36, 0x29, 0x84, 0x9b, 0x9d, 0x82, 0x2f, 0x30
        .byte   0x00, 0xe7, 0x49, 0xae, 0x73, 0x94, 0x3a, 0xdd, 0xe9, 0x0e, 0xa0, 0x47, 0x9a, 0x7d, 0xd3, 0x34
        /* InvShiftRows */
        .byte   0x00, 0x0d, 0x0a, 0x07, 0x04, 0x01, 0x0e, 0x0b, 0x08, 0x05, 0x02, 0x0f, 0x0c, 0x09, 0x06, 0x03
        .size   dec_tables, . - dec_tables

/* The bits of x under mask << by change places with those of y under mask, which is in q8. Changes q9 and q10. */
.macro EXCHANGE x, y, by
        vshr.u8 q9, \x, #\by
        vshl.i8 q10, \y, #\by
        vbit    \y, q9, q8
        vbif    \x, q10, q8
.endm

/* Bit j of register k becomes bit k of register j, in each byte of q0 to q7: blocks to planes and back. */
.macro TRANSPOSE
        vmov.i8 q8, #0x55
        EXCHANGE q0, q1, 1
        EXCHANGE q2, q3, 1
        EXCHANGE q4, q5, 1
        EXCHANGE q6, q7, 1
        vmov.i8 q8, #0x33
        EXCHANGE q0, q2, 2
        EXCHANGE q1, q3, 2
        EXCHANGE q4, q6, 2
        EXCHANGE q5, q7, 2
        vmov.i8 q8, #0x0f
        EXCHANGE q0, q4, 4
        EXCHANGE q1, q5, 4
        EXCHANGE q2, q6, 4
        EXCHANGE q3, q7, 4
.endm

/* SubBytes without its constant of the planes q0 to q7, which then lie in q0, q2, q3, q7, q6, q4, q1, q5. */
.macro SUB_PLANES
        veor    q8, q6, q5              /* t0 */
        veor    q9, q7, q4              /* y9 */
        veor    q10, q7, q1             /* y13 */
        veor    q11, q7, q2             /* y8 */
        veor    q12, q4, q2             /* y14 */
        veor    q13, q10, q12           /* y12 */
        veor    q14, q3, q13            /* t1 */
        veor    q15, q14, q6            /* y20 */
        veor    q14, q14, q2            /* y15 */
        veor    q2, q15, q9             /* y11 */
        veor    q3, q8, q0              /* y1 */
        veor    q4, q3, q4              /* y4 */
        veor    q1, q3, q1              /* y5 */
        veor    q5, q3, q7              /* y2 */
        vand    q6, q9, q2              /* t12 */
        vst1.8  {q9}, [sp]
        veor    q9, q0, q2              /* y7 */
        vst1.8  {q15}, [slot1]
        vand    q15, q1, q3
        vst1.8  {q3}, [slot2]
        vand    q3, q5, q9
        vst1.8  {q5}, [slot3]
        veor    q5, q8, q2              /* y16 */
        veor    q7, q7, q5              /* y18 */
        veor    q8, q14, q8             /* y10 */
        vst1.8  {q9}, [slot4]
        veor    q9, q1, q11             /* y3 */
        vst1.8  {q1}, [slot5]
        vand    q1, q11, q8
        veor    q1, q1, q6              /* t15 */
        vst1.8  {q6}, [slot6]
        veor    q6, q8, q11             /* y19 */
        vst1.8  {q11}, [slot7]
        veor    q11, q10, q5            /* y21 */
        vst1.8  {q11}, [slot8]
        vand    q11, q10, q5            /* t7 */
        veor    q15, q15, q11           /* t8 */
        veor    q11, q3, q11            /* t10 */
        veor    q3, q14, q0             /* y6 */
        veor    q11, q11, q1
        veor    q11, q11, q7            /* t24 */
        vand    q7, q9, q3
        vst1.8  {q10}, [slot9]
        vand    q10, q4, q0
        vst1.8  {q5}, [slot10]
        vand    q5, q13, q14            /* t2 */
        veor    q7, q7, q5              /* t3 */
        veor    q10, q10, q5            /* t5 */
        veor    q10, q10, q1
        veor    q10, q10, q6            /* t22 */
        veor    q1, q8, q2              /* y17 */
        vand    q5, q12, q1
        vld1.8  {q6}, [slot6]
        veor    q5, q5, q6              /* t13 */
        veor    q6, q7, q5
        vld1.8  {q7}, [slot1]
        veor    q6, q6, q7              /* t21 */
        veor    q15, q15, q5
        vld1.8  {q7}, [slot8]
        veor    q15, q15, q7            /* t23 */
        veor    q5, q6, q10             /* t25 */
        vand    q6, q6, q15             /* t26 */
        veor    q7, q15, q11            /* t30 */
        vst1.8  {q1}, [slot8]
        veor    q1, q11, q6             /* t27 */
        veor    q6, q10, q6             /* t31 */
        vand    q6, q6, q7
        veor    q6, q6, q11             /* t33 */
        veor    q15, q15, q6            /* t34 */
        vand    q0, q6, q0              /* z2 */
        vand    q4, q6, q4              /* z11 */
        veor    q7, q1, q6              /* t35 */
        vand    q11, q11, q7            /* t36 */
        veor    q15, q11, q15           /* t37 */
        veor    q11, q1, q11            /* t38 */
        vand    q1, q5, q1
        veor    q10, q1, q10            /* t29 */
        vand    q9, q15, q9             /* z10 */
        vld1.8  {q7}, [slot4]
        vand    q1, q10, q7             /* z5 */
        vand    q11, q10, q11
        veor    q11, q5, q11            /* t40 */
        vand    q3, q15, q3             /* z1 */
        vld1.8  {q7}, [slot5]
        vand    q5, q11, q7             /* z13 */
        vld1.8  {q7}, [slot2]
        vand    q7, q11, q7             /* z4 */
        veor    q5, q1, q5              /* u48 */
        veor    q1, q0, q1              /* u51 */
        vst1.8  {q1}, [slot2]
        vld1.8  {q1}, [slot3]
        vand    q1, q10, q1             /* z14 */
        veor    q4, q9, q4              /* u47 */
        vst1.8  {q3}, [slot3]
        veor    q3, q10, q6             /* t42 */
        veor    q6, q6, q15             /* t44 */
        vand    q14, q6, q14            /* z0 */
        vand    q13, q6, q13            /* z9 */
        veor    q9, q13, q9             /* u49 */
        veor    q10, q10, q11           /* t43 */
        veor    q11, q11, q15           /* t41 */
        vld1.8  {q15}, [slot10]
        vand    q13, q10, q15           /* z3 */
        vld1.8  {q15}, [slot9]
        vand    q10, q10, q15           /* z12 */
        vand    q8, q11, q8             /* z8 */
        vld1.8  {q15}, [slot7]
        vand    q15, q11, q15           /* z17 */
        vld1.8  {q6}, [sp]
        vand    q6, q3, q6              /* z15 */
        veor    q11, q3, q11            /* t45 */
        vand    q2, q3, q2              /* z6 */
        veor    q0, q0, q10             /* u50 */
        veor    q14, q14, q13           /* u53 */
        veor    q0, q0, q14             /* u57 */
        vand    q12, q11, q12           /* z16 */
        vld1.8  {q3}, [slot8]
        vand    q11, q11, q3            /* z7 */
        veor    q8, q11, q8             /* u52 */
        veor    q11, q2, q11            /* u54 */
        veor    q11, q13, q11           /* u59 */
        veor    q13, q6, q12            /* u46 */
        veor    q12, q12, q15           /* u55 */
        veor    q15, q1, q0             /* u61 */
        veor    q0, q13, q0             /* u60 */
        veor    q0, q5, q0              /* bit 0 */
        veor    q10, q10, q5            /* u56 */
        veor    q13, q7, q13            /* u58 */
        veor    q1, q7, q11             /* u64 */
        veor    q9, q9, q13             /* u63 */
        veor    q8, q8, q13             /* u62 */
        veor    q13, q15, q8            /* u65 */
        veor    q2, q10, q8             /* bit 1 */
        veor    q3, q4, q13             /* bit 2 */
        veor    q8, q1, q13             /* u67 */
        veor    q4, q12, q8             /* bit 5 */
        veor    q5, q11, q9             /* bit 7 */
        vld1.8  {q15}, [slot3]
        veor    q8, q15, q9             /* u66 */
        veor    q6, q14, q8             /* bit 4 */
        veor    q1, q1, q6              /* bit 6 */
        vld1.8  {q15}, [slot2]
        veor    q7, q15, q8             /* bit 3 */
.endm

/* One plane through the byte permutation in `rows`, which may be `to`. */
.macro SHIFT to, from, rows
        vtbl.8  \to\()l, {\from\()l, \from\()h}, \rows\()l
        vtbl.8  \to\()h, {\from\()l, \from\()h}, \rows\()h
.endm

/* next = the row below x, x = the sum of the two. */
.macro ROW_BELOW x, next
        vshr.u32 \next, \x, #8
        vsli.32 \next, \x, #24
        veor    \x, \x, \next
.endm

/* One plane of MixColumns; lower is the sum of the plane below. */
.macro MIX_PLANE next, sum, lower
        veor    \next, \next, \lower
        vrev32.16 \sum, \sum
        veor    \next, \next, \sum
.endm

/* MixColumns of the planes a to the planes n: with a, b, c, d from a row on, 2 (a + b) + b + (c + d). Doubled, bit 7
 * returns to bits 0, 1, 3, 4. Changes a. */
.macro MIX a0, a1, a2, a3, a4, a5, a6, a7, n0, n1, n2, n3, n4, n5, n6, n7
        ROW_BELOW \a0, \n0
        ROW_BELOW \a1, \n1
        ROW_BELOW \a2, \n2
        ROW_BELOW \a3, \n3
        ROW_BELOW \a4, \n4
        ROW_BELOW \a5, \n5
        ROW_BELOW \a6, \n6
        ROW_BELOW \a7, \n7
        veor    \n1, \n1, \a7
        veor    \n3, \n3, \a7
        veor    \n4, \n4, \a7
        veor    \n0, \n0, \a7
        MIX_PLANE \n7, \a7, \a6
        MIX_PLANE \n6, \a6, \a5
        MIX_PLANE \n5, \a5, \a4
        MIX_PLANE \n4, \a4, \a3
        MIX_PLANE \n3, \a3, \a2
        MIX_PLANE \n2, \a2, \a1
        MIX_PLANE \n1, \a1, \a0
        vrev32.16 \a0, \a0
        veor    \n0, \n0, \a0
.endm

/* The next round key to the registers k. */
.macro NEXT_KEY k0, k1, k2, k3, k4, k5, k6, k7
        vld1.8  {\k0, \k1}, [p_key]!
        vld1.8  {\k2, \k3}, [p_key]!
        vld1.8  {\k4, \k5}, [p_key]!
        vld1.8  {\k6, \k7}, [p_key]!
.endm

/* q0 to q7 = sums with x. */
.macro SUM_LOW x0, x1, x2, x3, x4, x5, x6, x7
        veor    q0, q0, \x0
        veor    q1, q1, \x1
        veor    q2, q2, \x2
        veor    q3, q3, \x3
        veor    q4, q4, \x4
        veor    q5, q5, \x5
        veor    q6, q6, \x6
        veor    q7, q7, \x7
.endm

/* q8 to q15 = sums with x. */
.macro SUM_HIGH x0, x1, x2, x3, x4, x5, x6, x7
        veor    q8, q8, \x0
        veor    q9, q9, \x1
        veor    q10, q10, \x2
        veor    q11, q11, \x3
        veor    q12, q12, \x4
        veor    q13, q13, \x5
        veor    q14, q14, \x6
        veor    q15, q15, \x7
.endm

/* The planes q0 to q7 times (5, 0, 4, 0), after which MixColumns is InvMixColumns (14, 11, 13, 9): a + 4 (a + c).
 * Changes q8 to q15. */
.macro FIVE_FOUR
        vrev32.16 q8, q0
        vrev32.16 q9, q1
        vrev32.16 q10, q2
        vrev32.16 q11, q3
        vrev32.16 q12, q4
        vrev32.16 q13, q5
        vrev32.16 q14, q6
        vrev32.16 q15, q7
        SUM_HIGH q0, q1, q2, q3, q4, q5, q6, q7
        veor    q0, q0, q14
        veor    q3, q3, q14
        veor    q2, q2, q15
        veor    q5, q5, q15
        veor    q15, q15, q14
        veor    q1, q1, q15
        veor    q4, q4, q15
        veor    q2, q2, q8
        veor    q3, q3, q9
        veor    q4, q4, q10
        veor    q5, q5, q11
        veor    q6, q6, q12
        veor    q7, q7, q13
.endm

/* Eight blocks in q0 to q7 to planes; slots and keys are made ready. */
.macro BEGIN_PLANES
        strd    p_out, p_data, [sp, #OUT_DATA]
        ldr     count, [sp, #ROUNDS]
        add     p_key, sp, #KEYS
        add     slot9, sp, #9 * 16
        add     slot10, sp, #10 * 16
        TRANSPOSE
        NEXT_KEY q8, q9, q10, q11, q12, q13, q14, q15
.endm

/* The last key, which goes through the registers k, to the planes; back to blocks in q0 to q7. Either the planes or k
 * are q0 to q7, the others q8 to q15. */
.macro END_PLANES k0, k1, k2, k3, k4, k5, k6, k7
        NEXT_KEY \k0, \k1, \k2, \k3, \k4, \k5, \k6, \k7
        SUM_LOW q8, q9, q10, q11, q12, q13, q14, q15
        TRANSPOSE
        ldrd    p_out, p_data, [sp, #OUT_DATA]
.endm

/* FIPS 197 5.1 of eight blocks in q0 to q7. Changes everything but left, p_iv and the addresses of slots 1 to 8. */
.macro ENCRYPT_EIGHT
        BEGIN_PLANES
        SUM_LOW q8, q9, q10, q11, q12, q13, q14, q15
1:      SUB_PLANES
        vld1.8  {q15}, [p_key]!
        SHIFT   q8, q0, q15
        SHIFT   q9, q2, q15
        SHIFT   q10, q3, q15
        SHIFT   q11, q7, q15
        SHIFT   q12, q6, q15
        SHIFT   q13, q4, q15
        SHIFT   q14, q1, q15
        SHIFT   q15, q5, q15
        subs    count, count, #1
        beq     2f
        MIX     q8, q9, q10, q11, q12, q13, q14, q15, q0, q1, q2, q3, q4, q5, q6, q7
        NEXT_KEY q8, q9, q10, q11, q12, q13, q14, q15
        SUM_LOW q8, q9, q10, q11, q12, q13, q14, q15
        b       1b
2:      END_PLANES q0, q1, q2, q3, q4, q5, q6, q7
.endm

/* FIPS 197 5.3.5 of eight blocks in q0 to q7; between rounds the planes lie in q8 to q15. The inverse of the S-box is
 * M S M, where M, the inverse of the linear part of SubBytes, makes bit k of bits k + 2, k + 5 and k + 7. */
.macro DECRYPT_EIGHT
        BEGIN_PLANES
        SUM_HIGH q0, q1, q2, q3, q4, q5, q6, q7
1:
        veor    q0, q10, q13
        veor    q1, q11, q14
        veor    q2, q12, q15
        veor    q3, q13, q8
        veor    q4, q14, q9
        veor    q5, q15, q10
        veor    q6, q8, q11
        veor    q7, q9, q12
        veor    q0, q0, q15
        veor    q1, q1, q8
        veor    q2, q2, q9
        veor    q3, q3, q10
        veor    q4, q4, q11
        veor    q5, q5, q12
        veor    q6, q6, q13
        veor    q7, q7, q14
        SUB_PLANES
        veor    q8, q3, q4
        veor    q9, q7, q1
        veor    q10, q6, q5
        veor    q11, q4, q0
        veor    q12, q1, q2
        veor    q13, q5, q3
        veor    q14, q0, q7
        veor    q15, q2, q6
        veor    q8, q8, q5
        veor    q9, q9, q0
        veor    q10, q10, q2
        veor    q11, q11, q3
        veor    q12, q12, q7
        veor    q13, q13, q6
        veor    q14, q14, q4
        veor    q15, q15, q1
        vld1.8  {q7}, [p_key]!
        SHIFT   q0, q8, q7
        SHIFT   q1, q9, q7
        SHIFT   q2, q10, q7
        SHIFT   q3, q11, q7
        SHIFT   q4, q12, q7
        SHIFT   q5, q13, q7
        SHIFT   q6, q14, q7
        SHIFT   q7, q15, q7
        subs    count, count, #1
        beq     2f
        FIVE_FOUR
        MIX     q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15
        NEXT_KEY q0, q1, q2, q3, q4, q5, q6, q7
        SUM_HIGH q0, q1, q2, q3, q4, q5, q6, q7
        b       1b
2:      END_PLANES q8, q9, q10, q11, q12, q13, q14, q15
.endm

/* Saves registers and turns the round keys at p_keys into planes, with what stands at `tables`. */
.macro ENTER tables
        push    {r4-r11, lr}
        vpush   {d8-d15}
        mov     r12, sp
        sub     r5, sp, #FRAME
        bic     r5, r5, #15             /* which Thumb-2 cannot do to sp itself */
        mov     sp, r5
        str     r12, [sp, #OLD_SP]
        ldr     p_iv, [r12, #ARG_IV]
        ldrb    r5, [p_keys, #ROUNDS_AT]
        str     r5, [sp, #ROUNDS]
        FAR_ADR r12, \tables
        vld1.8  {q4, q5}, [r12]!
        vld1.8  {q6}, [r12]
        vmov.i8 q3, #0x0f
        vmov.i8 q8, #0x01
        vmov.i8 q9, #0x02
        vmov.i8 q10, #0x04
        vmov.i8 q11, #0x08
        vmov.i8 q12, #0x10
        vmov.i8 q13, #0x20
        vmov.i8 q14, #0x40
        vmov.i8 q15, #0x80
        add     p_key, sp, #KEYS
        b       2f
1:      vst1.8  {q6}, [p_key]!
        sub     r5, r5, #1
2:      vld1.8  {q0}, [p_keys]!
        cmp     r5, #0
        beq     3f                      /* the last key is in no basis */
        vshr.u8 q1, q0, #4
        vand    q0, q0, q3
        SHIFT   q2, q4, q0
        SHIFT   q0, q5, q1
        veor    q0, q0, q2
3:      vtst.8  q1, q0, q8
        vtst.8  q2, q0, q9
        vst1.8  {q1, q2}, [p_key]!
        vtst.8  q1, q0, q10
        vtst.8  q2, q0, q11
        vst1.8  {q1, q2}, [p_key]!
        vtst.8  q1, q0, q12
        vtst.8  q2, q0, q13
        vst1.8  {q1, q2}, [p_key]!
        vtst.8  q1, q0, q14
        vtst.8  q2, q0, q15
        vst1.8  {q1, q2}, [p_key]!
        cmp     r5, #0
        bne     1b
        add     slot1, sp, #1 * 16
        add     slot2, sp, #2 * 16
        add     slot3, sp, #3 * 16
        add     slot4, sp, #4 * 16
        add     slot5, sp, #5 * 16
        add     slot6, sp, #6 * 16
        add     slot7, sp, #7 * 16
        add     slot8, sp, #8 * 16
.endm

/* Clears the frame. */
.macro LEAVE
        ldr     r12, [sp, #OLD_SP]
        vmov.i8 q0, #0
        vmov.i8 q1, #0
        mov     r0, sp
        mov     r1, #FRAME
1:      vst1.8  {q0, q1}, [r0]!
        subs    r1, r1, #32
        bne     1b
        mov     sp, r12
        vpop    {d8-d15}
        pop     {r4-r11, lr}
        bx      lr
.endm

FUNCTION aes_ctr_bsaes
        cmp     left, #0
        it      eq
        bxeq    lr
        ENTER   enc_tables
        vld1.8  {q0}, [p_iv]
        vrev32.8 q0, q0
        add     r12, sp, #COUNTER
        vst1.8  {q0}, [r12]

/* Counter blocks in q0 to q7. */
4:      add     r12, sp, #COUNTER
        vld1.8  {q8}, [r12]
        vmov.i32 q9, #0
        mov     r12, #1
        vmov.32 d19[1], r12
        vrev32.8 q0, q8
        .irp    block, q1, q2, q3, q4, q5, q6, q7
        vadd.i32 q8, q8, q9
        vrev32.8 \block, q8
        .endr
        ldr     r12, [sp, #COUNTER + 12]
        add     r3, left, #15
        lsr     r3, r3, #4              /* blocks left, of which this step takes up to eight */
        cmp     r3, #8
        it      hi
        movhi   r3, #8
        add     r12, r12, r3
        str     r12, [sp, #COUNTER + 12]
        ENCRYPT_EIGHT
        subs    left, left, #128
        blo     5f
        vld1.8  {q8, q9}, [p_data]!
        vld1.8  {q10, q11}, [p_data]!
        vld1.8  {q12, q13}, [p_data]!
        vld1.8  {q14, q15}, [p_data]!
        SUM_LOW q8, q9, q10, q11, q12, q13, q14, q15
        vst1.8  {q0, q1}, [p_out]!
        vst1.8  {q2, q3}, [p_out]!
        vst1.8  {q4, q5}, [p_out]!
        vst1.8  {q6, q7}, [p_out]!
        bne     4b
        b       8f

/* 1 to 127 bytes: the key stream to the frame, then whole blocks, then bytes. */
5:      add     left, left, #128
        mov     r12, sp
        vst1.8  {q0, q1}, [r12]!
        vst1.8  {q2, q3}, [r12]!
        vst1.8  {q4, q5}, [r12]!
        vst1.8  {q6, q7}, [r12]
        mov     r12, sp
        subs    left, left, #16
        blo     7f
6:      vld1.8  {q0}, [r12]!
        vld1.8  {q1}, [p_data]!
        veor    q0, q0, q1
        vst1.8  {q0}, [p_out]!
        subs    left, left, #16
        bhs     6b
7:      adds    left, left, #16
        beq     8f
1:      ldrb    r3, [r12], #1
        ldrb    r5, [p_data], #1
        eor     r3, r3, r5
        strb    r3, [p_out], #1
        subs    left, left, #1
        bne     1b

8:      add     r12, sp, #COUNTER
        vld1.8  {q0}, [r12]
        vrev32.8 q0, q0
        vst1.8  {q0}, [p_iv]
        LEAVE
FUNCTION_END aes_ctr_bsaes

FUNCTION aes_cbc_decrypt_bsaes
        cmp     left, #0
        it      eq
        bxeq    lr
        ENTER   dec_tables

4:      mov     r12, p_data
        cmp     left, #128
        bhs     6f
        mov     r12, sp                 /* what is left, to the frame; p_data still points at it */
        mov     r3, #0
5:      add     r5, p_data, r3
        vld1.8  {q0}, [r5]
        vst1.8  {q0}, [r12]!
        add     r3, r3, #16
        cmp     r3, left
        bne     5b
        mov     r12, sp
        add     slot1, sp, #1 * 16
6:      vld1.8  {q0, q1}, [r12]!
        vld1.8  {q2, q3}, [r12]!
        vld1.8  {q4, q5}, [r12]!
        vld1.8  {q6, q7}, [r12]
        DECRYPT_EIGHT
        subs    left, left, #128
        blo     7f
        vld1.8  {q8}, [p_iv]            /* the ciphertext block before */
        vld1.8  {q9}, [p_data]!
        vld1.8  {q10, q11}, [p_data]!
        vld1.8  {q12, q13}, [p_data]!
        vld1.8  {q14, q15}, [p_data]!
        SUM_LOW q8, q9, q10, q11, q12, q13, q14, q15
        vld1.8  {q8}, [p_data]!
        vst1.8  {q8}, [p_iv]
        vst1.8  {q0, q1}, [p_out]!
        vst1.8  {q2, q3}, [p_out]!
        vst1.8  {q4, q5}, [p_out]!
        vst1.8  {q6, q7}, [p_out]!
        bne     4b
        b       8f

7:      add     left, left, #128
        mov     r12, sp
        vst1.8  {q0, q1}, [r12]!
        vst1.8  {q2, q3}, [r12]!
        vst1.8  {q4, q5}, [r12]!
        vst1.8  {q6, q7}, [r12]
        mov     r12, sp
        vld1.8  {q1}, [p_iv]
1:      vld1.8  {q0}, [r12]!
        veor    q0, q0, q1
        vld1.8  {q1}, [p_data]!
        vst1.8  {q0}, [p_out]!
        subs    left, left, #16
        bne     1b
        vst1.8  {q1}, [p_iv]

8:      LEAVE
FUNCTION_END aes_cbc_decrypt_bsaes
