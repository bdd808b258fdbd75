/* SPDX-License-Identifier: Apache-2.0 */
/* The key schedule by AESKEYGENASSIST (FIPS 197 5.2, 5.3.5) for 32-bit x86 and x86-64, which differ in how arguments come.
 * It defines aes_setkey_enc_aesni and aes_setkey_dec_aesni.
 *
 * To review: the round constants of the 192-bit schedule: steps of six words, stored at multiples of 24 bytes, the last is
 * cut.
 */
#define ROUNDS_AT 240                   /* offset of the number of rounds in a state */

#ifdef __x86_64__
#define p_user  rdi
#define key_len rsi
#define p_state rdx
#define p_last_key rax

.macro LOAD_ARGUMENTS
.endm
#else
#define p_user  eax
#define key_len ecx
#define p_state edx
#define p_last_key eax

.macro LOAD_ARGUMENTS
        mov     p_user, [esp + 4]
        mov     key_len, [esp + 8]
        mov     p_state, [esp + 12]
.endm
#endif

/* Word i of x becomes the sum of words 0 to i. */
.macro RUNNING_SUM x, t
        movdqa  \t, \x
        pslldq  \t, 4
        pxor    \x, \t
        movdqa  \t, \x
        pslldq  \t, 8
        pxor    \x, \t
.endm

/* FIPS 197 5.2: four words in x from those before and from lane `word` of what aeskeygenassist makes of `from`. */
.macro NEXT_WORDS x, from, constant, word
        aeskeygenassist xmm1, \from, \constant
        pshufd  xmm1, xmm1, \word * 0x55
        RUNNING_SUM \x, xmm2
        pxor    \x, xmm1
.endm

/* Key schedule of p_user (key_len bytes) to p_state; changes xmm0 to xmm3. */
LOCAL_FUNCTION expand
        movdqu  xmm0, [p_user]
        movdqa  [p_state], xmm0
        cmp     key_len, 24
        je      expand_192
        ja      expand_256

        mov     byte ptr [p_state + ROUNDS_AT], 10
        .set    at, 16
        .irp    constant, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36
        NEXT_WORDS xmm0, xmm0, \constant, 3
        movdqa  [p_state + at], xmm0
        .set    at, at + 16
        .endr
        ret

/* Six words a step: four in xmm0, two in the low half of xmm3, of which the upper half means nothing. */
expand_192:
        mov     byte ptr [p_state + ROUNDS_AT], 12
        movq    xmm3, qword ptr [p_user + 16]
        movq    qword ptr [p_state + 16], xmm3
        .set    at, 24
        .irp    constant, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80
        NEXT_WORDS xmm0, xmm3, \constant, 1
        movdqu  [p_state + at], xmm0
        .if     at < 192
        pshufd  xmm1, xmm0, 0xff
        movdqa  xmm2, xmm3
        pslldq  xmm2, 4
        pxor    xmm3, xmm2
        pxor    xmm3, xmm1
        movq    qword ptr [p_state + at + 16], xmm3
        .endif
        .set    at, at + 24
        .endr
        ret

/* Eight words a step; the second four take SubWord without RotWord and constant. */
expand_256:
        mov     byte ptr [p_state + ROUNDS_AT], 14
        movdqu  xmm3, [p_user + 16]
        movdqa  [p_state + 16], xmm3
        .set    at, 32
        .irp    constant, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40
        NEXT_WORDS xmm0, xmm3, \constant, 3
        movdqa  [p_state + at], xmm0
        .if     at < 224
        NEXT_WORDS xmm3, xmm0, 0, 2
        movdqa  [p_state + at + 16], xmm3
        .endif
        .set    at, at + 32
        .endr
        ret
FUNCTION_END expand

FUNCTION aes_setkey_enc_aesni
        LOAD_ARGUMENTS
        call    expand
        pxor    xmm0, xmm0
        pxor    xmm1, xmm1
        pxor    xmm2, xmm2
        pxor    xmm3, xmm3
        ret
FUNCTION_END aes_setkey_enc_aesni

/* The schedule backwards, all keys but the outer two through InvMixColumns (FIPS 197 5.3.5). */
FUNCTION aes_setkey_dec_aesni
        LOAD_ARGUMENTS
        call    expand
        movzx   eax, byte ptr [p_state + ROUNDS_AT]
        shl     eax, 4
        add     p_last_key, p_state     /* p_state goes up, p_last_key down */
        movdqa  xmm0, [p_state]
        movdqa  xmm1, [p_last_key]
        movdqa  [p_state], xmm1
        movdqa  [p_last_key], xmm0
        add     p_state, 16
        sub     p_last_key, 16
1:      aesimc  xmm0, [p_state]
        aesimc  xmm1, [p_last_key]
        movdqa  [p_state], xmm1
        movdqa  [p_last_key], xmm0
        add     p_state, 16
        sub     p_last_key, 16
        cmp     p_state, p_last_key
        jbe     1b                      /* the number of rounds is even: they meet at the middle key */
        pxor    xmm0, xmm0
        pxor    xmm1, xmm1
        pxor    xmm2, xmm2
        pxor    xmm3, xmm3
        ret
FUNCTION_END aes_setkey_dec_aesni
