/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "x25519"
variant   = "adx"
arch      = "x86_64"
provides  = ["scalarmult"]
requires  = ["bmi2", "adx"]
priority  = 30
constant_time = true
cites     = ["RFC 7748 5", "Bernstein 2006", "Ozturk-Guilford-Gopal-Feghali 2012"]
*/
/* X25519 for x86-64 with MULX, ADCX and ADOX (System V calling convention).
 *
 * Numbers modulo p = 2^255 - 19 are four words in radix 2^64, any value below 2^256 ("loose"): 2^256 = 38 modulo p. Nothing is
 * reduced further before the end. A row of a product has two carry chains, the low halves in CF and the high halves in OF.
 * The Montgomery ladder of RFC 7748 swaps (x2, z2) and (x3, z3). Its sum is symmetric in the two, so it is enough to select
 * which of them is doubled. Bit t of SWAPS says whether the ladder swaps before step t; after the last one it never does, as
 * the last bit of a clamped scalar is 0.
 * Aliasing and alignment: out, scalar and point may lie anywhere; out may be scalar or point. No data below rsp.
 * The argument to check: after 38 times a carry is added there may be one more carry, whose 38 is added too, and then none: see
 * REDUCE, SUM, DIFFERENCE. Such a carry has odds of about 2^-250 with random numbers.
 * Nothing branches on or indexes by scalar or point.
 *
 *   void x25519_scalarmult_adx(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32]);
 */
#include "shared/assembly.h"

        .text

/* The frame: eleven numbers of four words. The inversion uses those that the ladder has left. */
        .equ    X1, 0
        .equ    X2, 32
        .equ    Z2, 64
        .equ    X3, 96
        .equ    Z3, 128
        .equ    NA, 160                 # x2 + z2, then the sum and the square of what is doubled
        .equ    NB, 192                 # x2 - z2, the same
        .equ    NC, 224                 # x3 + z3, then the sum of the products, then e
        .equ    ND, 256                 # x3 - z3, then the difference of the products, then aa + A24 e
        .equ    SWAPS, 288              # the clamped scalar, exclusive or with itself moved right by one bit
        .equ    OUT, 320                # the pointer to out
        .equ    FRAME_BYTES, 328
        .equ    A24, 121665

/* Registers. rdx is the multiplier of mulx, r8-r15 hold a product, r8-r11 a number. */
#define low     %rax
#define high    %rbx
#define zero    %rbp
#define step    %rdi    /* ladder: number of the scalar's bit, 254 .. 0 */

.macro  STORE at, base=%rsp
        mov     %r8, \at(\base)
        mov     %r9, \at+8(\base)
        mov     %r10, \at+16(\base)
        mov     %r11, \at+24(\base)
.endm

/* r8-r11 = the product in r8-r15 modulo p, loose */
.macro  REDUCE
        mov     $38, %edx
        xor     %ebp, %ebp              # also clears CF and OF
        mulx    %r12, low, high         # add 38 times the upper half
        adcx    low, %r8
        adox    high, %r9
        mulx    %r13, low, high
        adcx    low, %r9
        adox    high, %r10
        mulx    %r14, low, high
        adcx    low, %r10
        adox    high, %r11
        mulx    %r15, low, %r12
        adcx    low, %r11
        adox    zero, %r12
        adcx    zero, %r12              # all < 39 * 2^256, so r12 <= 38
        imul    %r12, %rdx              # <= 38 * 38
        add     %rdx, %r8
        adc     zero, %r9
        adc     zero, %r10
        adc     zero, %r11
        sbb     low, low                # a carry leaves less than 38 * 38 in r8-r11
        and     $38, %eax
        add     low, %r8                # so this has none
.endm

/* r8-r11 = f g modulo p; f and g are given as offset and base register */
.macro  MULTIPLY f, g, fbase=%rsp, gbase=%rsp
        mov     \f(\fbase), %rdx
        mulx    \g(\gbase), %r8, %r9
        mulx    \g+8(\gbase), low, %r10
        add     low, %r9
        mulx    \g+16(\gbase), low, %r11
        adc     low, %r10
        mulx    \g+24(\gbase), low, %r12
        adc     low, %r11
        adc     $0, %r12
        MULTIPLY_ROW \f+8, \g, \fbase, \gbase, %r9, %r10, %r11, %r12, %r13
        MULTIPLY_ROW \f+16, \g, \fbase, \gbase, %r10, %r11, %r12, %r13, %r14
        MULTIPLY_ROW \f+24, \g, \fbase, \gbase, %r11, %r12, %r13, %r14, %r15
        REDUCE
.endm

/* add one word of f times g to r0 .. r3, and begin r4; a partial product fits, so r4 has no carry */
.macro  MULTIPLY_ROW f, g, fbase, gbase, r0, r1, r2, r3, r4
        mov     \f(\fbase), %rdx
        xor     %ebp, %ebp
        mulx    \g(\gbase), low, high
        adcx    low, \r0
        adox    high, \r1
        mulx    \g+8(\gbase), low, high
        adcx    low, \r1
        adox    high, \r2
        mulx    \g+16(\gbase), low, high
        adcx    low, \r2
        adox    high, \r3
        mulx    \g+24(\gbase), low, \r4
        adcx    low, \r3
        adox    zero, \r4
        adcx    zero, \r4
.endm

/* r8-r11 = f^2 modulo p */
.macro  SQUARE f, base=%rsp
        /* products of different words, once: r9-r14 */
        mov     \f(\base), %rdx
        mulx    \f+8(\base), %r9, %r10
        mulx    \f+16(\base), low, %r11
        add     low, %r10
        mulx    \f+24(\base), low, %r12
        adc     low, %r11
        adc     $0, %r12
        mov     \f+8(\base), %rdx
        xor     %ebp, %ebp
        mulx    \f+16(\base), low, high
        adcx    low, %r11
        adox    high, %r12
        mulx    \f+24(\base), low, %r13
        adcx    low, %r12
        adox    zero, %r13
        adcx    zero, %r13
        mov     \f+16(\base), %rdx
        mulx    \f+24(\base), low, %r14
        add     low, %r13
        adc     $0, %r14
        /* twice that (CF) and the squares of the words (OF) */
        xor     %ebp, %ebp
        mov     \f(\base), %rdx
        mulx    %rdx, %r8, low
        adcx    %r9, %r9
        adox    low, %r9
        mov     \f+8(\base), %rdx
        mulx    %rdx, low, high
        adcx    %r10, %r10
        adox    low, %r10
        adcx    %r11, %r11
        adox    high, %r11
        mov     \f+16(\base), %rdx
        mulx    %rdx, low, high
        adcx    %r12, %r12
        adox    low, %r12
        adcx    %r13, %r13
        adox    high, %r13
        mov     \f+24(\base), %rdx
        mulx    %rdx, low, %r15
        adcx    %r14, %r14
        adox    low, %r14
        adcx    zero, %r15
        adox    zero, %r15
        REDUCE
.endm

/* out = f + g modulo p */
.macro  SUM out, f, g
        mov     \f(%rsp), %r8
        mov     \f+8(%rsp), %r9
        mov     \f+16(%rsp), %r10
        mov     \f+24(%rsp), %r11
        add     \g(%rsp), %r8
        adc     \g+8(%rsp), %r9
        adc     \g+16(%rsp), %r10
        adc     \g+24(%rsp), %r11
        sbb     low, low
        and     $38, %eax
        add     low, %r8                # f + g - 2^256 + 38 <= 2^256 + 36
        adc     $0, %r9
        adc     $0, %r10
        adc     $0, %r11
        sbb     low, low                # a carry leaves at most 36 in r8-r11
        and     $38, %eax
        add     low, %r8                # so this has none
        STORE   \out
.endm

/* out = f - g modulo p */
.macro  DIFFERENCE out, f, g
        mov     \f(%rsp), %r8
        mov     \f+8(%rsp), %r9
        mov     \f+16(%rsp), %r10
        mov     \f+24(%rsp), %r11
        sub     \g(%rsp), %r8
        sbb     \g+8(%rsp), %r9
        sbb     \g+16(%rsp), %r10
        sbb     \g+24(%rsp), %r11
        sbb     low, low
        and     $38, %eax
        sub     low, %r8                # f - g + 2^256 - 38 >= -37
        sbb     $0, %r9
        sbb     $0, %r10
        sbb     $0, %r11
        sbb     low, low                # a borrow leaves at least 2^256 - 37 in r8-r11
        and     $38, %eax
        sub     low, %r8                # so this has none beyond r8, which is at least 2^64 - 37
        STORE   \out
.endm

/* out = CF ? other : out, one word */
.macro  SELECT out, other
        mov     \out(%rsp), low
        cmovc   \other(%rsp), low
        mov     low, \out(%rsp)
.endm

/* x25519_multiply_adx: numbers rdi = rsi * rcx. A local function, changes r8-r15, rax, rbx, rdx, rbp. */
LOCAL_FUNCTION x25519_multiply_adx
        MULTIPLY 0, 0, %rsi, %rcx
        STORE   0, %rdi
        ret
FUNCTION_END x25519_multiply_adx

/* x25519_square_adx: number rdi = rsi^(2^ecx), ecx > 0. A local function, changes the same, and rsi, ecx. */
LOCAL_FUNCTION x25519_square_adx
        SQUARE  0, %rsi
        STORE   0, %rdi
        mov     %rdi, %rsi
        dec     %ecx
        jnz     x25519_square_adx
        ret
FUNCTION_END x25519_square_adx

/* calls of the two with numbers of the frame */
.macro  CALL_MULTIPLY out, f, g
        lea     \out(%rsp), %rdi
        lea     \f(%rsp), %rsi
        lea     \g(%rsp), %rcx
        call    x25519_multiply_adx
.endm
.macro  CALL_SQUARE out, f, times
        lea     \out(%rsp), %rdi
        lea     \f(%rsp), %rsi
        mov     $\times, %ecx
        call    x25519_square_adx
.endm

FUNCTION x25519_scalarmult_adx
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        sub     $FRAME_BYTES, %rsp
        mov     %rdi, OUT(%rsp)

        /* clamp the scalar: bit 254 set, bits 0, 1, 2, 255 clear; SWAPS */
        mov     (%rsi), %r8
        mov     8(%rsi), %r9
        mov     16(%rsi), %r10
        mov     24(%rsi), %r11
        and     $-8, %r8
        btr     $63, %r11
        bts     $62, %r11
        mov     %r8, %r12
        mov     %r9, %r13
        mov     %r10, %r14
        mov     %r11, %r15
        shrd    $1, %r9, %r8
        shrd    $1, %r10, %r9
        shrd    $1, %r11, %r10
        shr     $1, %r11
        xor     %r12, %r8
        xor     %r13, %r9
        xor     %r14, %r10
        xor     %r15, %r11
        STORE   SWAPS

        /* x1 = x3 = the point without bit 255, x2 = 1, z2 = 0, z3 = 1 */
        mov     (%rdx), %r8
        mov     8(%rdx), %r9
        mov     16(%rdx), %r10
        mov     24(%rdx), %r11
        btr     $63, %r11
        STORE   X1
        STORE   X3
        xor     %r9d, %r9d
        xor     %r10d, %r10d
        xor     %r11d, %r11d
        xor     %r8d, %r8d
        STORE   Z2
        inc     %r8
        STORE   X2
        STORE   Z3

        mov     $254, %edi
        .p2align 4
.Lstep:
        SUM     NA, X2, Z2
        DIFFERENCE NB, X2, Z2
        SUM     NC, X3, Z3
        DIFFERENCE ND, X3, Z3
        MULTIPLY ND, NA                 # da
        STORE   X3
        MULTIPLY NC, NB                 # cb
        STORE   Z3
        /* the pair that is doubled: (x2, z2), or (x3, z3) when the ladder swaps */
        mov     %edi, %eax
        shr     $6, %eax
        mov     SWAPS(%rsp, %rax, 8), low
        bt      step, low               # bit step mod 64, to CF
        SELECT  NA, NC
        SELECT  NA+8, NC+8
        SELECT  NA+16, NC+16
        SELECT  NA+24, NC+24
        SELECT  NB, ND
        SELECT  NB+8, ND+8
        SELECT  NB+16, ND+16
        SELECT  NB+24, ND+24
        /* x3 = (da + cb)^2, z3 = x1 (da - cb)^2 */
        SUM     NC, X3, Z3
        DIFFERENCE ND, X3, Z3
        SQUARE  NC
        STORE   X3
        SQUARE  ND
        STORE   Z3
        MULTIPLY Z3, X1
        STORE   Z3
        /* x2 = aa bb, z2 = e (aa + A24 e) with e = aa - bb */
        SQUARE  NA
        STORE   NA
        SQUARE  NB
        STORE   NB
        DIFFERENCE NC, NA, NB
        MULTIPLY NA, NB
        STORE   X2
        mov     $A24, %edx
        mulx    NC(%rsp), %r8, %r9
        mulx    NC+8(%rsp), low, %r10
        add     low, %r9
        mulx    NC+16(%rsp), low, %r11
        adc     low, %r10
        mulx    NC+24(%rsp), low, %r12
        adc     low, %r11
        adc     $0, %r12
        add     NA(%rsp), %r8
        adc     NA+8(%rsp), %r9
        adc     NA+16(%rsp), %r10
        adc     NA+24(%rsp), %r11
        adc     $0, %r12                # <= A24
        imul    $38, %r12, %r12         # < 2^23
        add     %r12, %r8
        adc     $0, %r9
        adc     $0, %r10
        adc     $0, %r11
        sbb     low, low                # a carry leaves less than 2^23 in r8-r11
        and     $38, %eax
        add     low, %r8                # so this has none
        STORE   ND
        MULTIPLY NC, ND
        STORE   Z2
        dec     %edi
        jns     .Lstep

        /* 1 / z2 = z2^(p - 2), and 0 for 0; p - 2 = 2^255 - 21. a_b stands for z2^(2^a - 2^b). */
        CALL_SQUARE   X1, Z2, 1         # 2
        CALL_SQUARE   X3, X1, 2         # 8
        CALL_MULTIPLY Z3, X3, Z2        # 9
        CALL_MULTIPLY Z2, Z3, X1        # 11
        CALL_SQUARE   X3, Z2, 1         # 22
        CALL_MULTIPLY Z3, X3, Z3        # 5_0
        CALL_SQUARE   X3, Z3, 5
        CALL_MULTIPLY Z3, X3, Z3        # 10_0
        CALL_SQUARE   X3, Z3, 10
        CALL_MULTIPLY X1, X3, Z3        # 20_0
        CALL_SQUARE   X3, X1, 20
        CALL_MULTIPLY X3, X3, X1        # 40_0
        CALL_SQUARE   X3, X3, 10
        CALL_MULTIPLY Z3, X3, Z3        # 50_0
        CALL_SQUARE   X3, Z3, 50
        CALL_MULTIPLY X1, X3, Z3        # 100_0
        CALL_SQUARE   X3, X1, 100
        CALL_MULTIPLY X3, X3, X1        # 200_0
        CALL_SQUARE   X3, X3, 50
        CALL_MULTIPLY X3, X3, Z3        # 250_0
        CALL_SQUARE   X3, X3, 5         # 255_5
        CALL_MULTIPLY X3, X3, Z2        # 2^255 - 2^5 + 11
        MULTIPLY X2, X3

        /* full reduction: 2^255 = 19 leaves h < 2^255 + 19 < 2p */
        mov     %r11, low
        shr     $63, low
        imul    $19, low, low
        btr     $63, %r11
        add     low, %r8
        adc     $0, %r9
        adc     $0, %r10
        adc     $0, %r11
        /* bit 255 of h + 19 says whether h >= p; then h - p = h + 19 - 2^255 */
        mov     %r8, %r12
        mov     %r9, %r13
        mov     %r10, %r14
        mov     %r11, %r15
        add     $19, %r12
        adc     $0, %r13
        adc     $0, %r14
        adc     $0, %r15
        btr     $63, %r15               # the bit goes to CF
        cmovc   %r12, %r8
        cmovc   %r13, %r9
        cmovc   %r14, %r10
        cmovc   %r15, %r11
        mov     OUT(%rsp), %rdi
        STORE   0, %rdi

        add     $FRAME_BYTES, %rsp
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
FUNCTION_END x25519_scalarmult_adx
