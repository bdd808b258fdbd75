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
 * The basis of the field, T, L, M, y, io and jo are in aes_vpaes.h, with the tables.
 *
 * Alignment and aliasing: states and tables are aligned; key, block, data, out and iv are touched by movdqu and moves
 * of words and bytes only. A block is loaded before its output is stored, so out == data is allowed; other overlap is
 * not. Nothing is read or written beyond len, nor below the stack pointer.
 *
 * To review: aes_vpaes.h; the counter is lane 3 of a vector of words, to the others of which 0 is added. Branches depend
 * on lengths and the number of rounds only.
 */
#include "aes_vpaes.h"
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
        .byte   T_INVERSE
        .byte   T_INVERSE_A
        /* LOW_NIBBLES */
        .byte   0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f
        .byte   T_SHIFT_ROWS
        .byte   T_INV_SHIFT_ROWS
        .byte   T_ROW_BELOW
        .byte   T_ROW_ABOVE
        /* TWO_ROWS_ON: r + 2 */
        .byte   0x02, 0x03, 0x00, 0x01, 0x06, 0x07, 0x04, 0x05, 0x0a, 0x0b, 0x08, 0x09, 0x0e, 0x0f, 0x0c, 0x0d
        .byte   T_ENC_IN
        .byte   T_ENC_ONCE
        .byte   T_ENC_TWICE
        .byte   T_ENC_BACK
        .byte   T_DEC_IN
        .byte   T_DEC_9
        .byte   T_DEC_13
        .byte   T_DEC_11
        .byte   T_DEC_14
        .byte   T_DEC_BACK
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
