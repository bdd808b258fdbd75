/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes"
variant   = "vpaes"
arch      = ["x86", "x86_64"]
provides  = ["setkey_enc", "setkey_dec", "encrypt", "decrypt", "cbc_encrypt", "cbc_decrypt", "ctr"]
requires  = ["ssse3"]
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
 * AES by byte permutations (M. Hamburg, "Accelerating AES with Vector Permute Instructions", CHES 2009): pshufb looks
 * up sixteen nibbles at once in a table that lies in a register, so that no address depends on a secret. One block at
 * a time. Both architectures run the same instructions on vectors; they differ in how arguments come (cdecl, System V), in
 * how tables are found and in the number of general registers.
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
 * written 0x80, for which pshufb gives 0 = 1/(1/0); bit 7 survives the sums.
 *
 * Below, y = 1/x is the inverse, L the linear part of SubBytes, M its inverse. The constant 0x63 of SubBytes, which
 * ShiftRows and MixColumns leave alone, is part of the round keys. Encryption keeps the state as T(s), with keys
 * T(k0), T(k1 + 63), ..., and the last as it is plus 63. Decryption is the equivalent inverse cipher on T(M(s)), with
 * keys T(M(k + 63)) of the last key and of InvMixColumns of those before it, and k0 as it is.
 *
 * Alignment and aliasing: states and tables are aligned; key, block, data, out and iv are touched by movdqu and moves
 * of words and bytes only. A block is loaded before its output is stored, so out == data is allowed; other overlap is
 * not. Nothing is read or written beyond len, nor below the stack pointer.
 *
 * To review: the derivation above, of which every table is one line; the counter is lane 3 of a vector of words, to
 * the others of which 0 is added. Branches depend on lengths and the number of rounds only.
 */
#include "shared/assembly.h"

        .intel_syntax noprefix

#define ROUNDS_AT 240                   /* offset of the number of rounds in a state */

#ifdef __x86_64__
/* Arguments of the modes; out, data and left advance. */
#define p_out   rdi
#define p_data  rsi
#define left    rdx
#define p_keys  rcx
#define p_iv    r8
/* Also used by them. */
#define p_table r9
#define p_key   r10
#define count   eax
/* Used by the key schedule, whose arguments are these. */
#define p_user  rdi
#define key_len rsi
#define p_state rdx
#define p_last  rax
#define p_word  r10                     /* the word a key length before the next; recent is the word just before that */
#define words   r11d                    /* to make: four a round key, less those of the key */
#define rounds  rcx
#define until   rdi                     /* bytes until the next constant */
#else
/* Arguments lie on the stack, above four saved registers; out, data and left advance. */
#define ARG(n)  dword ptr [esp + 20 + 4 * (n)]
#define p_out   edi
#define p_data  esi
#define left    ecx
#define p_keys  edx
#define p_iv    eax                     /* before and after the blocks */
/* Also used by the modes. */
#define p_table ebx
#define p_key   eax
#define count   ebp
/* Used by the key schedule. */
#define p_user  eax
#define key_len esi
#define p_state edx
#define p_last  ebp
#define p_word  ebp                     /* the word a key length before the next; recent is the word just before that */
#define words   edx                     /* to make: four a round key, less those of the key */
#define rounds  ecx
#define until   edi                     /* bytes until the next constant */
#endif
#define recent  eax
#define constant ecx
#define chain   xmm6                    /* CBC: the ciphertext block before; CTR: the counter as four words */
#define inverse xmm7                    /* the table INVERSE; xmm0 to xmm5 are temporary */

/* Tables: offsets from p_table. A pair is by io and by jo, or by low and by high nibble. */
#define INVERSE         0
#define INVERSE_A       16
#define LOW_NIBBLES     32
#define SHIFT_ROWS      48
#define INV_SHIFT_ROWS  64
#define ROW_BELOW       80
#define ROW_ABOVE       96
#define TWO_ROWS_ON     112
#define ENC_IN          128
#define ENC_ONCE        160
#define ENC_TWICE       192
#define ENC_BACK        224
#define DEC_IN          256
#define DEC_9           288
#define DEC_13          320
#define DEC_11          352
#define DEC_14          384
#define DEC_BACK        416
#define SBOX_CONSTANT   448
#define REDUCTION       464
#define WORD_BYTES      480
#define ONE             496

        .section .rodata
        .p2align 4
tables:
        /* INVERSE: 1/n; 1/0 = 0x80 */
        .byte   0x80, 0x01, 0x09, 0x0e, 0x0d, 0x0b, 0x07, 0x06, 0x0f, 0x02, 0x0c, 0x05, 0x0a, 0x04, 0x03, 0x08
        /* INVERSE_A: a/n */
        .byte   0x80, 0x04, 0x02, 0x0d, 0x01, 0x0a, 0x0f, 0x0b, 0x09, 0x08, 0x05, 0x07, 0x0e, 0x03, 0x0c, 0x06
        /* LOW_NIBBLES */
        .byte   0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f
        /* SHIFT_ROWS: where each byte comes from */
        .byte   0x00, 0x05, 0x0a, 0x0f, 0x04, 0x09, 0x0e, 0x03, 0x08, 0x0d, 0x02, 0x07, 0x0c, 0x01, 0x06, 0x0b
        /* INV_SHIFT_ROWS */
        .byte   0x00, 0x0d, 0x0a, 0x07, 0x04, 0x01, 0x0e, 0x0b, 0x08, 0x05, 0x02, 0x0f, 0x0c, 0x09, 0x06, 0x03
        /* ROW_BELOW: byte r of each word takes byte r + 1 */
        .byte   0x01, 0x02, 0x03, 0x00, 0x05, 0x06, 0x07, 0x04, 0x09, 0x0a, 0x0b, 0x08, 0x0d, 0x0e, 0x0f, 0x0c
        /* ROW_ABOVE: r - 1 */
        .byte   0x03, 0x00, 0x01, 0x02, 0x07, 0x04, 0x05, 0x06, 0x0b, 0x08, 0x09, 0x0a, 0x0f, 0x0c, 0x0d, 0x0e
        /* TWO_ROWS_ON: r + 2 */
        .byte   0x02, 0x03, 0x00, 0x01, 0x06, 0x07, 0x04, 0x05, 0x0a, 0x0b, 0x08, 0x09, 0x0e, 0x0f, 0x0c, 0x0d
        /* ENC_IN: T */
        .byte   0x00, 0x01, 0x9f, 0x9e, 0x1b, 0x1a, 0x84, 0x85, 0x11, 0x10, 0x8e, 0x8f, 0x0a, 0x0b, 0x95, 0x94
        .byte   0x00, 0x4d, 0xef, 0xa2, 0x45, 0x08, 0xaa, 0xe7, 0xae, 0xe3, 0x41, 0x0c, 0xeb, 0xa6, 0x04, 0x49
        /* ENC_ONCE: T(L(y)) */
        .byte   0x00, 0x0d, 0xeb, 0xfa, 0x48, 0x54, 0x11, 0x1c, 0xf7, 0xbf, 0x45, 0xae, 0x59, 0xa3, 0xb2, 0xe6
        .byte   0x00, 0x38, 0xad, 0xc0, 0x41, 0x14, 0x6d, 0x55, 0xf8, 0xb9, 0x79, 0xd4, 0x2c, 0xec, 0x81, 0x95
        /* ENC_TWICE: T(2 L(y)) */
        .byte   0x00, 0xf7, 0x6c, 0x21, 0x59, 0xe3, 0x4d, 0xba, 0xd6, 0x8f, 0xae, 0xc2, 0x14, 0x35, 0x78, 0x9b
        .byte   0x00, 0x07, 0x40, 0x3b, 0x87, 0xfb, 0x7b, 0x7c, 0x3c, 0xbb, 0x80, 0xc0, 0xfc, 0xc7, 0xbc, 0x47
        /* ENC_BACK: L(y) */
        .byte   0x00, 0xb1, 0xc0, 0xc8, 0xf1, 0x48, 0x08, 0xb9, 0x79, 0x88, 0x40, 0x80, 0xf9, 0x31, 0x39, 0x71
        .byte   0x00, 0xd3, 0xdd, 0x47, 0xa0, 0xe9, 0x9a, 0x49, 0x94, 0x34, 0x73, 0xae, 0x3a, 0x7d, 0xe7, 0x0e
        /* DEC_IN: T(M) */
        .byte   0x00, 0xcb, 0xf8, 0x33, 0xff, 0x34, 0x07, 0xcc, 0x97, 0x5c, 0x6f, 0xa4, 0x68, 0xa3, 0x90, 0x5b
        .byte   0x00, 0x5a, 0x55, 0x0f, 0x7c, 0x26, 0x29, 0x73, 0xf5, 0xaf, 0xa0, 0xfa, 0x89, 0xd3, 0xdc, 0x86
        /* DEC_9: T(M(9 y)) */
        .byte   0x00, 0x16, 0xe4, 0x9d, 0xaf, 0xc0, 0x79, 0x6f, 0x8b, 0x24, 0xb9, 0x5d, 0xd6, 0x4b, 0x32, 0xf2
        .byte   0x00, 0xdd, 0x09, 0x29, 0x9e, 0x63, 0x20, 0xfd, 0xf4, 0x6a, 0x43, 0x4a, 0xbe, 0x97, 0xb7, 0xd4
        /* DEC_13: T(M(13 y)) */
        .byte   0x00, 0x89, 0x57, 0x3b, 0xd3, 0x36, 0x6c, 0xe5, 0xb2, 0x61, 0x5a, 0x0d, 0xbf, 0x84, 0xe8, 0xde
        .byte   0x00, 0xdb, 0x6b, 0x87, 0x9a, 0xad, 0xec, 0x37, 0x5c, 0xc6, 0x41, 0x2a, 0x76, 0xf1, 0x1d, 0xb0
        /* DEC_11: T(M(11 y)) */
        .byte   0x00, 0x17, 0xa3, 0x85, 0xfa, 0xcb, 0x26, 0x31, 0x92, 0x68, 0xed, 0x4e, 0xdc, 0x59, 0x7f, 0xb4
        .byte   0x00, 0xe3, 0x8a, 0xcf, 0xda, 0x7c, 0x45, 0xa6, 0x2c, 0xf6, 0x39, 0xb3, 0x9f, 0x50, 0x15, 0x69
        /* DEC_14: T(M(14 y)) */
        .byte   0x00, 0x85, 0x26, 0xcb, 0xdc, 0xb4, 0xed, 0x68, 0x4e, 0x92, 0x59, 0x7f, 0x31, 0xfa, 0x17, 0xa3
        .byte   0x00, 0xcf, 0x45, 0x7c, 0x9f, 0x69, 0x39, 0xf6, 0xb3, 0x2c, 0x50, 0x15, 0xa6, 0xda, 0xe3, 0x8a
        /* DEC_BACK: y */
        .byte   0x00, 0x82, 0xb7, 0xe5, 0x10, 0xc0, 0x52, 0xd0, 0x67, 0x77, 0x92, 0x25, 0x42, 0xa7, 0xf5, 0x35
        .byte   0x00, 0xcd, 0x22, 0x65, 0x6c, 0xe6, 0x47, 0x8a, 0xa8, 0xc4, 0xa1, 0x83, 0x2b, 0x4e, 0x09, 0xef
        /* SBOX_CONSTANT */
        .byte   0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63
        /* REDUCTION: 2 x has passed bit 7 */
        .byte   0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b, 0x1b
        /* WORD_BYTES: to big-endian words and back */
        .byte   0x03, 0x02, 0x01, 0x00, 0x07, 0x06, 0x05, 0x04, 0x0b, 0x0a, 0x09, 0x08, 0x0f, 0x0e, 0x0d, 0x0c
        /* ONE: in lane 3 */
        .byte   0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00

        .text

#ifdef __x86_64__
.macro ENTER
        lea     p_table, [rip + tables]
        movdqa  inverse, [p_table + INVERSE]
.endm

.macro LEAVE
        ret
.endm

/* The arguments of a schedule and of a mode are where they are used. */
.macro ENTER_SCHEDULE
        ENTER
.endm

.macro ENTER_BLOCK
        ENTER
        mov     p_keys, rdx
.endm

.macro ENTER_MODE
        ENTER
.endm

.macro LOAD_P_IV
.endm
#else
        /* The address of the instruction after the call, in p_table. */
LOCAL_FUNCTION .Lprogram_counter, 0
        mov     p_table, [esp]
        ret
FUNCTION_END .Lprogram_counter

.macro ENTER
        push    ebp
        push    ebx
        push    esi
        push    edi
        call    .Lprogram_counter
        add     p_table, offset _GLOBAL_OFFSET_TABLE_
        lea     p_table, [p_table + tables@GOTOFF]
        movdqa  inverse, [p_table + INVERSE]
.endm

.macro LEAVE
        pop     edi
        pop     esi
        pop     ebx
        pop     ebp
        ret
.endm

.macro ENTER_SCHEDULE
        ENTER
        mov     p_user, ARG(0)
        mov     key_len, ARG(1)
        mov     p_state, ARG(2)
.endm

.macro ENTER_BLOCK
        ENTER
        mov     p_out, ARG(0)
        mov     p_data, ARG(1)
        mov     p_keys, ARG(2)
.endm

.macro ENTER_MODE
        ENTER
        mov     p_out, ARG(0)
        mov     p_data, ARG(1)
        mov     left, ARG(2)
        mov     p_keys, ARG(3)
.endm

.macro LOAD_P_IV
        mov     p_iv, ARG(4)
.endm
#endif

/* to = table[index], byte by byte. */
.macro LOOKUP to, table, index
        movdqa  \to, [p_table + \table]
        pshufb  \to, \index
.endm

/* The sum of two lookups, by io in xmm5 and jo in xmm3. Changes t. */
.macro BY_IO_JO to, pair, t
        LOOKUP  \to, \pair, xmm5
        LOOKUP  \t, \pair + 16, xmm3
        pxor    \to, \t
.endm

/* The high nibbles of xmm0 to xmm1, the low ones to xmm0. */
.macro NIBBLES
        movdqa  xmm1, xmm0
        psrld   xmm1, 4
        pand    xmm0, [p_table + LOW_NIBBLES]
        pand    xmm1, [p_table + LOW_NIBBLES]
.endm

/* xmm0 by a linear map, given as a pair of tables by nibbles. Changes xmm1 and xmm2. */
.macro LINEAR pair
        NIBBLES
        LOOKUP  xmm2, \pair, xmm0
        LOOKUP  xmm0, \pair + 16, xmm1
        pxor    xmm0, xmm2
.endm

/* io to xmm5 and jo to xmm3 from xmm0. Changes xmm0 to xmm4. */
.macro INVERT
        NIBBLES                         /* k, i */
        movdqa  xmm2, xmm0
        pxor    xmm2, xmm1              /* j */
        LOOKUP  xmm5, INVERSE_A, xmm0
        movdqa  xmm3, inverse
        pshufb  xmm3, xmm1
        movdqa  xmm4, inverse
        pshufb  xmm4, xmm2
        pxor    xmm3, xmm5
        pxor    xmm4, xmm5
        movdqa  xmm5, inverse
        pshufb  xmm5, xmm3
        movdqa  xmm3, inverse
        pshufb  xmm3, xmm4
        pxor    xmm5, xmm2
        pxor    xmm3, xmm1
.endm

/* x = 2 x in the field of FIPS 197, byte by byte. Changes t. */
.macro DOUBLE x, t
        pxor    \t, \t
        pcmpgtb \t, \x
        paddb   \x, \x
        pand    \t, [p_table + REDUCTION]
        pxor    \x, \t
.endm

/* FIPS 197 5.1 of xmm0. Changes xmm1 to xmm5. */
LOCAL_FUNCTION encrypt_xmm0
        movzx   count, byte ptr [p_keys + ROUNDS_AT]
        LINEAR  ENC_IN
        lea     p_key, [p_keys + 16]
        pxor    xmm0, [p_keys]
        dec     count
1:      pshufb  xmm0, [p_table + SHIFT_ROWS]
        INVERT
        BY_IO_JO xmm0, ENC_ONCE, xmm1
        BY_IO_JO xmm1, ENC_TWICE, xmm2
        movdqa  xmm2, xmm0              /* MixColumns: with a, b, c, d from a row on, */
        pshufb  xmm2, [p_table + ROW_BELOW]
        pxor    xmm1, xmm2              /* 2 a + b, */
        pshufb  xmm0, [p_table + ROW_ABOVE]
        pxor    xmm0, [p_key]           /* d, */
        pxor    xmm0, xmm1
        pshufb  xmm1, [p_table + ROW_BELOW]
        pxor    xmm0, xmm1              /* 2 b + c */
        add     p_key, 16
        dec     count
        jnz     1b
        pshufb  xmm0, [p_table + SHIFT_ROWS]
        INVERT
        BY_IO_JO xmm0, ENC_BACK, xmm1
        pxor    xmm0, [p_key]
        ret
FUNCTION_END encrypt_xmm0

/* FIPS 197 5.3.5 of xmm0. Changes xmm1 to xmm5. */
LOCAL_FUNCTION decrypt_xmm0
        movzx   count, byte ptr [p_keys + ROUNDS_AT]
        LINEAR  DEC_IN
        lea     p_key, [p_keys + 16]
        pxor    xmm0, [p_keys]
        dec     count
1:      pshufb  xmm0, [p_table + INV_SHIFT_ROWS]
        INVERT
        BY_IO_JO xmm0, DEC_9, xmm1      /* InvMixColumns: 9 times the byte three rows on, */
        .irp    pair, DEC_13, DEC_11, DEC_14
        pshufb  xmm0, [p_table + ROW_BELOW]
        BY_IO_JO xmm1, \pair, xmm2      /* 13 times that two rows on, 11 times that below, 14 times the byte itself */
        pxor    xmm0, xmm1
        .endr
        pxor    xmm0, [p_key]
        add     p_key, 16
        dec     count
        jnz     1b
        pshufb  xmm0, [p_table + INV_SHIFT_ROWS]
        INVERT
        BY_IO_JO xmm0, DEC_BACK, xmm1
        pxor    xmm0, [p_key]
        ret
FUNCTION_END decrypt_xmm0

/* SubWord of word. Changes xmm0 to xmm5. */
LOCAL_FUNCTION sub_word
        movd    xmm0, recent
        LINEAR  ENC_IN
        INVERT
        BY_IO_JO xmm0, ENC_BACK, xmm1
        pxor    xmm0, [p_table + SBOX_CONSTANT]
        movd    recent, xmm0
        ret
FUNCTION_END sub_word

/* Key schedule of p_user (key_len bytes) to p_keys, as in FIPS 197 5.2, word by word. Changes p_user and the registers
 * above, xmm0 to xmm5. */
LOCAL_FUNCTION expand
#ifdef __x86_64__
        mov     p_word, p_state
        mov     rcx, key_len
1:      mov     recent, [p_user]
        mov     [p_word], recent
        add     p_user, 4
        add     p_word, 4
        sub     rcx, 4
        jnz     1b
        sub     p_word, key_len
        mov     ecx, esi
#else
        push    p_state
        mov     p_word, p_state
        xor     ecx, ecx
1:      mov     edi, [p_user + ecx]
        mov     [p_word], edi
        add     p_word, 4
        add     ecx, 4
        cmp     ecx, key_len
        jb      1b
        sub     p_word, key_len
        mov     recent, edi
#endif
        shr     ecx, 2                  /* words of the key */
        add     ecx, 6                  /* rounds */
        mov     byte ptr [p_state + ROUNDS_AT], cl
        lea     words, [rounds + 2 * rounds + 10]
        mov     constant, 1
2:      mov     until, key_len
        call    sub_word
        ror     recent, 8               /* RotWord of a little-endian word */
        xor     recent, constant
        add     constant, constant
        cmp     constant, 0x100
        jne     3f
        mov     constant, 0x1b          /* 0x80 doubled modulo 0x11b */
3:      xor     recent, [p_word]
        mov     [p_word + key_len], recent
        add     p_word, 4
        dec     words
        jz      4f
        sub     until, 4
        jz      2b
        cmp     until, 16
        jne     3b
        cmp     key_len, 32
        jne     3b
        call    sub_word                /* the middle of eight words */
        jmp     3b
4:
#ifndef __x86_64__
        pop     p_state
#endif
        ret
FUNCTION_END expand

/* The round keys of expand into the basis, all but the first plus 0x63. */
FUNCTION aes_setkey_enc_vpaes
        ENTER_SCHEDULE
        call    expand
        movzx   count, byte ptr [p_state + ROUNDS_AT]
        movdqa  xmm0, [p_state]
        LINEAR  ENC_IN
        movdqa  [p_state], xmm0
1:      add     p_state, 16
        movdqa  xmm0, [p_state]
        pxor    xmm0, [p_table + SBOX_CONSTANT]
        dec     count
        jz      2f                      /* the last is added outside the basis */
        LINEAR  ENC_IN
        movdqa  [p_state], xmm0
        jmp     1b
2:      movdqa  [p_state], xmm0
        LEAVE
FUNCTION_END aes_setkey_enc_vpaes

/* InvMixColumns of xmm0 (FIPS 197 5.3.3): (14, 11, 13, 9) is (2, 3, 1, 1) times (5, 0, 4, 0). Then plus 0x63 and into
 * the basis of decryption. Changes xmm1 to xmm4. */
LOCAL_FUNCTION inverse_key
        movdqa  xmm1, xmm0
        pshufb  xmm1, [p_table + TWO_ROWS_ON]
        pxor    xmm1, xmm0
        DOUBLE  xmm1, xmm2
        DOUBLE  xmm1, xmm2
        pxor    xmm0, xmm1              /* a + 4 (a + c) */
        movdqa  xmm1, xmm0
        pshufb  xmm1, [p_table + ROW_BELOW]
        pxor    xmm0, xmm1              /* a + b */
        movdqa  xmm2, xmm0
        DOUBLE  xmm0, xmm3
        pshufb  xmm2, [p_table + TWO_ROWS_ON]
        pxor    xmm0, xmm1
        pxor    xmm0, xmm2              /* c + d */
FUNCTION_END inverse_key
LOCAL_FUNCTION inverse_key_outer, 0
        pxor    xmm0, [p_table + SBOX_CONSTANT]
        LINEAR  DEC_IN
        ret
FUNCTION_END inverse_key_outer

/* The round keys of expand backwards. */
FUNCTION aes_setkey_dec_vpaes
        ENTER_SCHEDULE
        call    expand
        movzx   count, byte ptr [p_state + ROUNDS_AT]
        shl     count, 4
        add     p_last, p_state         /* p_state goes up, p_last down */
        movdqa  xmm0, [p_last]
        movdqa  xmm6, [p_state]
        call    inverse_key_outer
        movdqa  [p_state], xmm0
        movdqa  [p_last], xmm6          /* the last is added outside the basis */
1:      add     p_state, 16
        sub     p_last, 16
        movdqa  xmm0, [p_last]
        movdqa  xmm5, [p_state]
        call    inverse_key
        movdqa  xmm6, xmm0
        movdqa  xmm0, xmm5
        call    inverse_key
        movdqa  [p_state], xmm6
        movdqa  [p_last], xmm0
        cmp     p_state, p_last
        jb      1b                      /* the number of rounds is even: they meet at the middle key */
        LEAVE
FUNCTION_END aes_setkey_dec_vpaes

FUNCTION aes_encrypt_vpaes
        ENTER_BLOCK
        movdqu  xmm0, [p_data]
        call    encrypt_xmm0
        movdqu  [p_out], xmm0
        LEAVE
FUNCTION_END aes_encrypt_vpaes

FUNCTION aes_decrypt_vpaes
        ENTER_BLOCK
        movdqu  xmm0, [p_data]
        call    decrypt_xmm0
        movdqu  [p_out], xmm0
        LEAVE
FUNCTION_END aes_decrypt_vpaes

FUNCTION aes_cbc_encrypt_vpaes
        ENTER_MODE
        test    left, left
        jz      9f
        LOAD_P_IV
        movdqu  chain, [p_iv]
        movdqa  xmm0, chain
1:      movdqu  xmm1, [p_data]
        pxor    xmm0, xmm1
        call    encrypt_xmm0
        movdqu  [p_out], xmm0
        add     p_data, 16
        add     p_out, 16
        sub     left, 16
        jnz     1b
        LOAD_P_IV
        movdqu  [p_iv], xmm0
9:      LEAVE
FUNCTION_END aes_cbc_encrypt_vpaes

FUNCTION aes_cbc_decrypt_vpaes
        ENTER_MODE
        test    left, left
        jz      9f
        LOAD_P_IV
        movdqu  chain, [p_iv]
1:      movdqu  xmm0, [p_data]
        call    decrypt_xmm0
        pxor    xmm0, chain
        movdqu  chain, [p_data]
        movdqu  [p_out], xmm0
        add     p_data, 16
        add     p_out, 16
        sub     left, 16
        jnz     1b
        LOAD_P_IV
        movdqu  [p_iv], chain
9:      LEAVE
FUNCTION_END aes_cbc_decrypt_vpaes

FUNCTION aes_ctr_vpaes
        ENTER_MODE
        test    left, left
        jz      9f
        LOAD_P_IV
        movdqu  chain, [p_iv]
        pshufb  chain, [p_table + WORD_BYTES]
1:      movdqa  xmm0, chain
        pshufb  xmm0, [p_table + WORD_BYTES]
        paddd   chain, [p_table + ONE]
        call    encrypt_xmm0
        sub     left, 16
        jb      2f
        movdqu  xmm1, [p_data]
        pxor    xmm0, xmm1
        movdqu  [p_out], xmm0
        lea     p_data, [p_data + 16]
        lea     p_out, [p_out + 16]
        jnz     1b
        jmp     4f

/* 1 to 15 bytes: the lowest byte of the key stream, then all of it one byte down. */
2:      add     left, 16
3:      movd    eax, xmm0
        xor     al, [p_data]
        mov     [p_out], al
        psrldq  xmm0, 1
        inc     p_data
        inc     p_out
        dec     left
        jnz     3b

4:      pshufb  chain, [p_table + WORD_BYTES]
        LOAD_P_IV
        movdqu  [p_iv], chain
9:      LEAVE
FUNCTION_END aes_ctr_vpaes
