/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes"
variant   = "aesni"
arch      = "x86_64"
provides  = ["setkey_enc", "setkey_dec", "encrypt", "decrypt", "cbc_encrypt", "cbc_decrypt", "ctr"]
requires  = ["aesni"]
priority  = 40
constant_time = true
wipes     = true
cites     = ["FIPS 197", "SP 800-38A 6.2, 6.5", "Gueron, Intel AES New Instructions white paper, 2010"]

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
 * AES with AESENC and AESDEC. CTR and CBC decryption take eight blocks side by side, one in each of xmm0 to xmm7, and
 * what is left one by one. CBC encryption keeps eleven round keys in registers.
 *
 * void aes_setkey_enc_aesni(const uint8_t *key, size_t key_len, void *ek);
 * void aes_setkey_dec_aesni(const uint8_t *key, size_t key_len, void *dk);
 * void aes_encrypt_aesni(uint8_t out[16], const uint8_t block[16], const void *ek);
 * void aes_decrypt_aesni(uint8_t out[16], const uint8_t block[16], const void *dk);
 * void aes_cbc_encrypt_aesni(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 * void aes_cbc_decrypt_aesni(uint8_t *out, const uint8_t *data, size_t len, const void *dk, uint8_t iv[16]);
 * void aes_ctr_aesni(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 *
 * Speed, in counted instructions a byte of 16 KiB with AES-128: CTR 1.26, CBC encryption 1.25, decryption 1.07.
 *
 * Counter blocks lie in the frame with the first round key already added. Only their last words change; those of the
 * next eight blocks are written while the present eight are in work, long before they are loaded.
 *
 * Alignment and aliasing: states are aligned to 16 bytes; key, block, data, out and iv are touched by movdqu, movq, and
 * moves of words and bytes only. All data of a step is loaded before any of its output is stored, so out == data is
 * allowed; other overlap is not. Nothing is read or written beyond len, nor below rsp.
 *
 * To review: the counter is a 32-bit register that wraps; bytes 0 to 11 of iv are never written. The frame, which holds
 * the first round key under a public mask, is cleared. Branches depend on lengths and on the number of rounds only.
 * The key schedule is in aes_aesni.h.
 */
#include "shared/assembly.h"

        .intel_syntax noprefix

/* Arguments of the modes; out, data and left advance. */
#define p_out   rdi
#define p_data  rsi
#define left    rdx
#define p_keys  rcx
#define p_iv    r8
/* Also used by them. */
#define rounds  r9d
#define p_last  r10                     /* the last round key */
#define counter eax                     /* of the next block */
#define temp    r11d
#define p_temp  r11
#define first_key_word ebx              /* CTR: the last word of the first round key */
#define key     xmm8
#define mixed   xmm9                    /* the last round key plus what the output is to be added to */
#define chain   xmm15                   /* CBC: the ciphertext block before */

#define FRAME   128                     /* eight counter blocks plus the first round key */

        .text

#include "aes_aesni.h"

/* One block in xmm0 through all rounds after the first key; `round` is aesenc or aesdec. */
.macro ONE_BLOCK round
        lea     p_temp, [p_keys + 16]
1:      \round  xmm0, [p_temp]
        add     p_temp, 16
        cmp     p_temp, p_last
        jne     1b
        \round\()last xmm0, [p_last]
.endm

/* p_last and rounds from the state at `keys`. */
.macro FIND_LAST keys
        movzx   rounds, byte ptr [\keys + ROUNDS_AT]
        mov     r10d, rounds
        shl     r10d, 4
        add     p_last, \keys
.endm

FUNCTION aes_encrypt_aesni
        mov     p_keys, rdx
        FIND_LAST p_keys
        movdqu  xmm0, [rsi]
        pxor    xmm0, [p_keys]
        ONE_BLOCK aesenc
        movdqu  [rdi], xmm0
        ret
FUNCTION_END aes_encrypt_aesni

FUNCTION aes_decrypt_aesni
        mov     p_keys, rdx
        FIND_LAST p_keys
        movdqu  xmm0, [rsi]
        pxor    xmm0, [p_keys]
        ONE_BLOCK aesdec
        movdqu  [rdi], xmm0
        ret
FUNCTION_END aes_decrypt_aesni

/* CBC encryption: the last eleven round keys are in xmm5 to xmm15; longer schedules take the others from memory. */
FUNCTION aes_cbc_encrypt_aesni
        movdqu  xmm0, [p_iv]
        sub     left, 16
        jb      9f
        FIND_LAST p_keys
        .irp    n, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movdqa  xmm\n, [p_last + (\n - 15) * 16]
        .endr
1:      movdqu  xmm1, [p_data]
        pxor    xmm0, [p_keys]
        pxor    xmm0, xmm1
        cmp     rounds, 12
        jb      3f
        aesenc  xmm0, [p_keys + 16]
        je      2f
        aesenc  xmm0, [p_keys + 32]
        aesenc  xmm0, [p_keys + 48]
2:      aesenc  xmm0, xmm5
3:      .irp    n, 6, 7, 8, 9, 10, 11, 12, 13, 14
        aesenc  xmm0, xmm\n
        .endr
        aesenclast xmm0, xmm15
        movdqu  [p_out], xmm0
        add     p_data, 16
        add     p_out, 16
        sub     left, 16
        jae     1b
        movdqu  [p_iv], xmm0
9:      ret
FUNCTION_END aes_cbc_encrypt_aesni

/* Round `number` of eight blocks. */
.macro EIGHT round, number
        movdqa  key, [p_keys + \number * 16]
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        \round  xmm\n, key
        .endr
.endm

/* Rounds 10 to 13 of eight blocks, as many as the key has; then the last round key is loaded. */
.macro EIGHT_MORE round
        cmp     rounds, 12
        jb      2f
        EIGHT   \round, 10
        EIGHT   \round, 11
        je      2f
        EIGHT   \round, 12
        EIGHT   \round, 13
2:      movdqa  key, [p_last]
.endm

FUNCTION aes_cbc_decrypt_aesni
        movdqu  chain, [p_iv]
        FIND_LAST p_keys
        sub     left, FRAME
        jb      4f

/* Eight blocks. All ciphertext is loaded again before the first plaintext is stored. */
1:      movdqa  key, [p_keys]
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movdqu  xmm\n, [p_data + \n * 16]
        pxor    xmm\n, key
        .endr
        .irp    number, 1, 2, 3, 4, 5, 6, 7, 8, 9
        EIGHT   aesdec, \number
        .endr
        EIGHT_MORE aesdec
        pxor    chain, key
        aesdeclast xmm0, chain
        .irp    n, 1, 2, 3, 4, 5, 6, 7
        movdqu  mixed, [p_data + (\n - 1) * 16]
        pxor    mixed, key
        aesdeclast xmm\n, mixed
        .endr
        movdqu  chain, [p_data + 7 * 16]
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movdqu  [p_out + \n * 16], xmm\n
        .endr
        add     p_data, FRAME
        add     p_out, FRAME
        sub     left, FRAME
        jae     1b

4:      add     left, FRAME - 16
        jnc     9f                      /* less than a block is left */
5:      movdqu  mixed, [p_data]
        movdqa  xmm0, mixed
        pxor    xmm0, [p_keys]
        ONE_BLOCK aesdec
        pxor    xmm0, chain
        movdqa  chain, mixed
        movdqu  [p_out], xmm0
        add     p_data, 16
        add     p_out, 16
        sub     left, 16
        jae     5b
9:      movdqu  [p_iv], chain
        ret
FUNCTION_END aes_cbc_decrypt_aesni

/* The last word of counter block n in the frame, for the block `ahead` after the next one. */
.macro SET_COUNTER n, ahead
        lea     temp, [rax + \ahead]
        bswap   temp
        xor     temp, first_key_word
        mov     [rsp + \n * 16 + 12], temp
.endm

FUNCTION aes_ctr_aesni
        test    left, left
        jz      9f
        push    rbp
        push    rbx
        mov     rbp, rsp
        sub     rsp, FRAME
        and     rsp, -16
        FIND_LAST p_keys
        mov     first_key_word, [p_keys + 12]
        mov     counter, [p_iv + 12]
        bswap   counter
        movdqu  xmm0, [p_iv]
        pxor    xmm0, [p_keys]
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movdqa  [rsp + \n * 16], xmm0
        SET_COUNTER \n, \n
        .endr
        sub     left, FRAME
        jb      4f

/* Eight blocks; the counters of the next eight are set on the way. */
1:      .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movdqa  xmm\n, [rsp + \n * 16]
        .endr
        .irp    number, 1, 2, 3, 4, 5, 6, 7, 8
        EIGHT   aesenc, \number
        SET_COUNTER (\number - 1), (8 + \number - 1)
        .endr
        add     counter, 8
        EIGHT   aesenc, 9
        EIGHT_MORE aesenc
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movdqu  mixed, [p_data + \n * 16]
        pxor    mixed, key
        aesenclast xmm\n, mixed
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movdqu  [p_out + \n * 16], xmm\n
        .endr
        add     p_data, FRAME
        add     p_out, FRAME
        sub     left, FRAME
        jae     1b

/* One block after the other, from the frame. */
4:      add     left, FRAME
        jz      8f
        mov     rbx, rsp                /* the next counter block */
5:      movdqa  xmm0, [rbx]
        ONE_BLOCK aesenc
        inc     counter
        sub     left, 16
        jb      6f
        movdqu  xmm1, [p_data]
        pxor    xmm0, xmm1
        movdqu  [p_out], xmm0
        lea     p_data, [p_data + 16]
        lea     p_out, [p_out + 16]
        lea     rbx, [rbx + 16]
        jnz     5b
        jmp     8f

/* 1 to 15 bytes. */
6:      movdqa  [rbx], xmm0
        add     left, 16
7:      mov     r11b, [p_data]
        xor     r11b, [rbx]
        mov     [p_out], r11b
        inc     p_data
        inc     p_out
        inc     rbx
        dec     left
        jnz     7b

8:      bswap   counter
        mov     [p_iv + 12], counter
        pxor    xmm0, xmm0
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movdqa  [rsp + \n * 16], xmm0
        .endr
        mov     rsp, rbp
        pop     rbx
        pop     rbp
9:      ret
FUNCTION_END aes_ctr_aesni
