/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes"
variant   = "aesni"
arch      = "x86"
provides  = ["setkey_enc", "setkey_dec", "encrypt", "decrypt", "cbc_encrypt", "cbc_decrypt", "ctr"]
requires  = ["aesni"]
priority  = 40
constant_time = true
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
 * AES with AESENC and AESDEC on 32-bit x86. CTR and CBC decryption take six blocks side by side, one in each of xmm0 to
 * xmm5, and what is left one by one. CBC encryption keeps six round keys in registers.
 *
 * void aes_setkey_enc_aesni(const uint8_t *key, size_t key_len, void *ek);
 * void aes_setkey_dec_aesni(const uint8_t *key, size_t key_len, void *dk);
 * void aes_encrypt_aesni(uint8_t out[16], const uint8_t block[16], const void *ek);
 * void aes_decrypt_aesni(uint8_t out[16], const uint8_t block[16], const void *dk);
 * void aes_cbc_encrypt_aesni(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 * void aes_cbc_decrypt_aesni(uint8_t *out, const uint8_t *data, size_t len, const void *dk, uint8_t iv[16]);
 * void aes_ctr_aesni(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 *
 * Speed, in counted instructions a byte of 16 KiB with AES-128: CTR 1.33, CBC encryption 1.25, decryption 1.17.
 *
 * Counter blocks lie in the frame with the first round key already added. Only their last words change; those of the
 * next six blocks are written while the present six are in work, long before they are loaded.
 *
 * Alignment and aliasing: states are aligned to 16 bytes; key, block, data, out and iv are touched by movdqu, movq, and
 * moves of words and bytes only. All data of a step is loaded before any of its output is stored, so out == data is
 * allowed; other overlap is not. Nothing is read or written beyond len, nor below esp.
 *
 * To review: the counter is a 32-bit register that wraps; bytes 0 to 11 of iv are never written. The frame, which holds
 * the first round key under a public mask, is cleared. Branches depend on lengths and on the number of rounds only.
 * The key schedule is in aes_aesni.h.
 */
#include "shared/assembly.h"

        .intel_syntax noprefix

/* Arguments lie on the stack. In the modes they are read once, at these offsets from ebp. */
#define arg_out  dword ptr [ebp + 20]
#define arg_data dword ptr [ebp + 24]
#define arg_len  dword ptr [ebp + 28]
#define arg_keys dword ptr [ebp + 32]
#define arg_iv   dword ptr [ebp + 36]

#define p_out   edi
#define p_data  esi
#define left    ecx
#define p_keys  edx
#define counter ebx                     /* CTR: of the next block */
#define p_last  ebx                     /* CBC: the last round key */
#define temp    eax
#define key     xmm6
#define mixed   xmm7                    /* the last round key plus what the output is to be added to */

#define WIDE    96                      /* six blocks */
#define CHAIN   0                       /* offset in the frame, CBC decryption: the ciphertext block before */

        .text

#include "aes_aesni.h"

/* p_last from the state at p_keys. */
.macro FIND_LAST
        movzx   p_last, byte ptr [p_keys + ROUNDS_AT]
        shl     p_last, 4
        add     p_last, p_keys
.endm

/* One block in xmm0 through all rounds after the first key; `round` is aesenc or aesdec. */
.macro ONE_BLOCK round
        lea     temp, [p_keys + 16]
1:      \round  xmm0, [temp]
        add     temp, 16
        cmp     temp, p_last
        jne     1b
        \round\()last xmm0, [p_last]
.endm

/* The whole of a function on one block. */
.macro BLOCK_FUNCTION round
        push    ebx
        mov     eax, [esp + 12]
        mov     p_keys, [esp + 16]
        FIND_LAST
        movdqu  xmm0, [eax]
        pxor    xmm0, [p_keys]
        ONE_BLOCK \round
        mov     eax, [esp + 8]
        movdqu  [eax], xmm0
        pop     ebx
        ret
.endm

FUNCTION aes_encrypt_aesni
        BLOCK_FUNCTION aesenc
FUNCTION_END aes_encrypt_aesni

FUNCTION aes_decrypt_aesni
        BLOCK_FUNCTION aesdec
FUNCTION_END aes_decrypt_aesni

/* Saves the registers, loads the arguments of a mode, makes an aligned frame. */
.macro ENTER frame
        push    ebx
        push    esi
        push    edi
        push    ebp
        mov     ebp, esp
        sub     esp, \frame
        and     esp, -16
        mov     p_out, arg_out
        mov     p_data, arg_data
        mov     left, arg_len
        mov     p_keys, arg_keys
.endm

.macro LEAVE
        mov     esp, ebp
        pop     ebp
        pop     edi
        pop     esi
        pop     ebx
        ret
.endm

/* CBC encryption: the last six round keys are in xmm2 to xmm7, the others come from memory. */
FUNCTION aes_cbc_encrypt_aesni
        ENTER   0
        sub     left, 16
        jb      9f
        mov     eax, arg_iv
        movdqu  xmm0, [eax]
        FIND_LAST
        .irp    n, 2, 3, 4, 5, 6, 7
        movdqa  xmm\n, [p_last + (\n - 7) * 16]
        .endr
1:      movdqu  xmm1, [p_data]
        pxor    xmm0, [p_keys]
        pxor    xmm0, xmm1
        cmp     byte ptr [p_keys + ROUNDS_AT], 12
        .irp    n, 1, 2, 3, 4
        aesenc  xmm0, [p_keys + \n * 16]
        .endr
        jb      2f
        aesenc  xmm0, [p_keys + 5 * 16]
        aesenc  xmm0, [p_keys + 6 * 16]
        je      2f
        aesenc  xmm0, [p_keys + 7 * 16]
        aesenc  xmm0, [p_keys + 8 * 16]
2:      .irp    n, 2, 3, 4, 5, 6
        aesenc  xmm0, xmm\n
        .endr
        aesenclast xmm0, xmm7
        movdqu  [p_out], xmm0
        add     p_data, 16
        add     p_out, 16
        sub     left, 16
        jae     1b
        mov     eax, arg_iv
        movdqu  [eax], xmm0
9:      LEAVE
FUNCTION_END aes_cbc_encrypt_aesni

/* Round `number` of six blocks. */
.macro SIX round, number
        movdqa  key, [p_keys + \number * 16]
        .irp    n, 0, 1, 2, 3, 4, 5
        \round  xmm\n, key
        .endr
.endm

/* Rounds 10 to 13 of six blocks, as many as the key has; then the last round key is loaded. */
.macro SIX_MORE round
        movzx   temp, byte ptr [p_keys + ROUNDS_AT]
        cmp     temp, 12
        jb      2f
        SIX     \round, 10
        SIX     \round, 11
        je      2f
        SIX     \round, 12
        SIX     \round, 13
2:      shl     temp, 4
        movdqa  key, [p_keys + temp]
.endm

FUNCTION aes_cbc_decrypt_aesni
        ENTER   16
        mov     eax, arg_iv
        movdqu  xmm0, [eax]
        movdqa  [esp + CHAIN], xmm0
        FIND_LAST
        sub     left, WIDE
        jb      4f

/* Six blocks. All ciphertext is loaded again before the first plaintext is stored. */
1:      movdqa  key, [p_keys]
        .irp    n, 0, 1, 2, 3, 4, 5
        movdqu  xmm\n, [p_data + \n * 16]
        pxor    xmm\n, key
        .endr
        .irp    number, 1, 2, 3, 4, 5, 6, 7, 8, 9
        SIX     aesdec, \number
        .endr
        SIX_MORE aesdec
        movdqa  mixed, [esp + CHAIN]
        pxor    mixed, key
        aesdeclast xmm0, mixed
        .irp    n, 1, 2, 3, 4, 5
        movdqu  mixed, [p_data + (\n - 1) * 16]
        pxor    mixed, key
        aesdeclast xmm\n, mixed
        .endr
        movdqu  mixed, [p_data + 5 * 16]
        movdqa  [esp + CHAIN], mixed
        .irp    n, 0, 1, 2, 3, 4, 5
        movdqu  [p_out + \n * 16], xmm\n
        .endr
        add     p_data, WIDE
        add     p_out, WIDE
        sub     left, WIDE
        jae     1b

4:      movdqa  xmm1, [esp + CHAIN]
        add     left, WIDE - 16
        jnc     9f                      /* less than a block is left */
5:      movdqu  mixed, [p_data]
        movdqa  xmm0, mixed
        pxor    xmm0, [p_keys]
        ONE_BLOCK aesdec
        pxor    xmm0, xmm1
        movdqa  xmm1, mixed
        movdqu  [p_out], xmm0
        add     p_data, 16
        add     p_out, 16
        sub     left, 16
        jae     5b
9:      mov     eax, arg_iv
        movdqu  [eax], xmm1
        LEAVE
FUNCTION_END aes_cbc_decrypt_aesni

/* The last word of counter block n in the frame, for the block `ahead` after the next one. */
.macro SET_COUNTER n, ahead
        lea     temp, [counter + \ahead]
        bswap   temp
        xor     temp, [p_keys + 12]
        mov     [esp + \n * 16 + 12], temp
.endm

FUNCTION aes_ctr_aesni
        ENTER   WIDE
        test    left, left
        jz      9f
        mov     eax, arg_iv
        mov     counter, [eax + 12]
        bswap   counter
        movdqu  xmm0, [eax]
        pxor    xmm0, [p_keys]
        .irp    n, 0, 1, 2, 3, 4, 5
        movdqa  [esp + \n * 16], xmm0
        SET_COUNTER \n, \n
        .endr
        sub     left, WIDE
        jb      4f

/* Six blocks; the counters of the next six are set on the way. */
1:      .irp    n, 0, 1, 2, 3, 4, 5
        movdqa  xmm\n, [esp + \n * 16]
        .endr
        .irp    number, 1, 2, 3, 4, 5, 6
        SIX     aesenc, \number
        SET_COUNTER (\number - 1), (6 + \number - 1)
        .endr
        add     counter, 6
        .irp    number, 7, 8, 9
        SIX     aesenc, \number
        .endr
        SIX_MORE aesenc
        .irp    n, 0, 1, 2, 3, 4, 5
        movdqu  mixed, [p_data + \n * 16]
        pxor    mixed, key
        aesenclast xmm\n, mixed
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5
        movdqu  [p_out + \n * 16], xmm\n
        .endr
        add     p_data, WIDE
        add     p_out, WIDE
        sub     left, WIDE
        jae     1b

/* One block after the other, from the frame. The counter is returned first: its register then holds p_last, and its
 * argument word, which belongs to the callee, the place of the next counter block. */
4:      add     left, WIDE
        jz      8f
        lea     temp, [left + 15]
        shr     temp, 4
        add     temp, counter
        bswap   temp
        mov     counter, arg_iv
        mov     [counter + 12], temp
        FIND_LAST                       /* in the register of the counter, which is done with */
        mov     arg_iv, esp             /* the next counter block */
5:      mov     temp, arg_iv
        movdqa  xmm0, [temp]
        ONE_BLOCK aesenc
        sub     left, 16
        jb      6f
        movdqu  xmm1, [p_data]
        pxor    xmm0, xmm1
        movdqu  [p_out], xmm0
        lea     p_data, [p_data + 16]
        lea     p_out, [p_out + 16]
        jz      7f
        add     arg_iv, 16
        jmp     5b

/* 1 to 15 bytes. */
6:      mov     edx, arg_iv
        movdqa  [edx], xmm0
        add     left, 16
1:      mov     al, [p_data]
        xor     al, [edx]
        mov     [p_out], al
        inc     p_data
        inc     p_out
        inc     edx
        dec     left
        jnz     1b
        jmp     7f

8:      mov     eax, arg_iv
        bswap   counter
        mov     [eax + 12], counter
7:      pxor    xmm0, xmm0
        .irp    n, 0, 1, 2, 3, 4, 5
        movdqa  [esp + \n * 16], xmm0
        .endr
9:      LEAVE
FUNCTION_END aes_ctr_aesni
