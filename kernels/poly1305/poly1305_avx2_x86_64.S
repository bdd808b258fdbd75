/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "poly1305"
variant   = "avx2"
arch      = "x86_64"
provides  = ["init", "update", "final"]
requires  = ["avx2"]
priority  = 20
state     = { ctx = { bytes = 864, align = 32, layout = "avx2" } }
constant_time = true
wipes     = true
cites     = ["RFC 8439 2.5", "Bernstein 2005", "Goll-Gueron 2015"]
*/
/* Poly1305 for x86-64 with AVX2 (System V calling convention).
 *
 * Long input, AVX2: numbers are five limbs in radix 2^26, x = x0 + x1 2^26 + x2 2^52 + x3 2^78 + x4 2^104, one 64-bit lane a limb,
 * of which vpmuludq takes the low 32 bits; what passes 2^130 comes back times 5. Four interleaved accumulators take four
 * blocks (64 bytes, a group) at a time, lane by lane:
 *     H[j] = H[j] r^4 + m[j]
 * vpunpck puts blocks 0, 2, 1, 3 into lanes 0..3, so final makes h = H[0] r^4 + H[1] r^2 + H[2] r^3 + H[3] r of them.
 * Limbs may be a little above 26 bits ("loose": below 2^26 + 31).
 * Powers of r, and the up to three blocks and the incomplete one that final finds waiting, integer registers: h = acc0 +
 * acc1 2^64 + acc2 2^128 with acc2 <= 4; r0, r1 < 2^60 and r1 a multiple of 4, so that 2^128 r1 = 5 r1 / 4 = f1 modulo p.
 * Radix is changed twice: powers of r from 2^64 to 2^26 when the first group comes (STORE_POWER), and the sum of the lanes
 * from 2^26 to 2^64 in final (FROM_COLUMNS). Nothing ever goes back.
 * Aliasing and alignment: data, key and tag may lie anywhere; the state is aligned to 32. Nothing outside data .. data + len is
 * read: groups are whole, the rest is copied by its length. No data below rsp; ymm registers are left with clean upper halves.
 * The argument to check: the bounds in CARRY (columns below 22 * 2^52, four lanes together below 88 * 2^52, limbs back below 2^32
 * after it), FROM_COLUMNS (every carry reaches acc2), and those beside MULTIPLY_BY_R.
 * Nothing branches on or indexes by key or data; lengths are public.
 * Counted: 1.45 instructions per byte over 16 KiB; the better of OpenSSL and BoringSSL with AVX2 needs 1.62.
 *
 *   void poly1305_init_avx2(void *ctx, const uint8_t key[32]);
 *   void poly1305_update_avx2(void *ctx, const uint8_t *data, size_t len);
 *   void poly1305_final_avx2(void *ctx, uint8_t tag[16]);
 */
#include "shared/assembly.h"

        .text

/* The state; a vector is four lanes of 64 bits */
        .equ    STATE_GROUP, 0          # 9 vectors: limbs 0..4 and 5 times limbs 1..4 of r^4, in every lane
        .equ    STATE_LANES, 288        # 9 vectors: the same of r^4, r^2, r^3, r in lanes 0..3
        .equ    STATE_H, 576            # 5 vectors, limbs of H[0..3]
        .equ    STATE_R, 736            # r0, r1
        .equ    STATE_S, 752            # the key's second half
        .equ    STATE_USED, 768         # bytes waiting in the buffer, 0..63
        .equ    STATE_STARTED, 776      # 1 when the powers are there and H is in use
        .equ    STATE_BUFFER, 784       # 64 bytes, and 16 more for the padding
        .equ    GROUP_BYTES, 64         # a power of two
        .equ    LIMB_MASK, 0x3ffffff

/* Registers. mul takes rax and rdx. */
#define ctx     %rdi
#define data    %rsi    /* groups */
#define end     %rdx    /* groups */
#define tag     %rsi    /* final */
#define used    %rcx    /* final */
#define acc0    %r8
#define acc1    %r9
#define acc2    %r10
#define mul0    STATE_R(ctx)
#define mul1    STATE_R+8(ctx)
#define fold1   %r11    /* f1 = r1 + r1 / 4 < 1.25 * 2^60 */
#define d0_low  %rbx
#define d0_high %rbp
#define d1_low  %r12
#define d1_high %r13
#define at      %r14    /* final */
#define top     %r15    /* final: 1 for whole blocks, 0 for the padded one */
#define H0      %ymm0
#define H1      %ymm1
#define H2      %ymm2
#define H3      %ymm3
#define H4      %ymm4
#define col0    %ymm5
#define col1    %ymm6
#define col2    %ymm7
#define col3    %ymm8
#define col4    %ymm9
#define term    %ymm10
#define carry   %ymm11
#define m_low   %ymm12  /* low halves of four blocks */
#define m_high  %ymm13
#define mask26  %ymm14
#define top_bit %ymm15  /* 2^128 as limb 4 */

/* acc = acc * r. With acc2 <= 6. */
.macro  MULTIPLY_BY_R
        mov     acc0, %rax              # d0 = acc0 r0 + acc1 f1 < 2.25 * 2^124
        mulq    mul0
        mov     %rax, d0_low
        mov     %rdx, d0_high
        mov     acc1, %rax
        mul     fold1
        add     %rax, d0_low
        adc     %rdx, d0_high
        mov     acc0, %rax              # d1 = acc0 r1 + acc1 r0 + acc2 f1 + carry < 2.01 * 2^124
        mulq    mul1
        mov     %rax, d1_low
        mov     %rdx, d1_high
        mov     acc1, %rax
        mulq    mul0
        add     %rax, d1_low
        adc     %rdx, d1_high
        mov     acc2, %rax
        imul    fold1, %rax             # <= 6 * 1.25 * 2^60 < 2^63
        imulq   mul0, acc2              # <= 6 * 2^60
        add     %rax, d1_low
        adc     $0, d1_high
        add     d0_high, d1_low
        adc     d1_high, acc2           # < 8.01 * 2^60
        mov     acc2, %rax              # fold what passes 2^130: 5 floor(acc2 / 4) < 1.25 * 8.01 * 2^60 < 2^64
        mov     acc2, %rdx
        and     $-4, %rax
        shr     $2, %rdx
        add     %rdx, %rax
        and     $3, acc2
        mov     d0_low, acc0
        mov     d1_low, acc1
        add     %rax, acc0
        adc     $0, acc1
        adc     $0, acc2                # <= 4, and the whole < 2^130 + 2^64
.endm

/* The limb in rax, and 5 times it, into one lane of STATE_LANES */
.macro  STORE_LIMB i, lane
        mov     %rax, STATE_LANES + 32 * \i + 8 * \lane(ctx)
  .if \i > 0
        lea     (%rax, %rax, 4), %rax
        mov     %rax, STATE_LANES + 32 * (4 + \i) + 8 * \lane(ctx)
  .endif
.endm

/* acc < 2^130 + 2^64 as limbs 0..3 < 2^26 and limb 4 <= 2^26 */
.macro  STORE_POWER lane
        mov     acc0, %rax
        and     $LIMB_MASK, %eax
        STORE_LIMB 0, \lane
        mov     acc0, %rax
        shr     $26, %rax
        and     $LIMB_MASK, %eax
        STORE_LIMB 1, \lane
        mov     acc0, %rax
        shrd    $52, acc1, %rax
        and     $LIMB_MASK, %eax
        STORE_LIMB 2, \lane
        mov     acc1, %rax
        shr     $14, %rax
        and     $LIMB_MASK, %eax
        STORE_LIMB 3, \lane
        mov     acc2, %rax
        shld    $24, acc1, %rax
        STORE_LIMB 4, \lane
.endm

/* A limb of H times the five multipliers that bring it to columns 0..4; the first limb starts the columns */
.macro  MULTIPLY_TERM limb, multiplier, column, first=0
  .if \first
        vpmuludq \multiplier, \limb, \column
  .else
        vpmuludq \multiplier, \limb, term
        vpaddq  term, \column, \column
  .endif
.endm

.macro  MULTIPLY_LIMB limb, table, x0, x1, x2, x3, x4, first=0
        MULTIPLY_TERM \limb, \table+32*\x0(ctx), col0, \first
        MULTIPLY_TERM \limb, \table+32*\x1(ctx), col1, \first
        MULTIPLY_TERM \limb, \table+32*\x2(ctx), col2, \first
        MULTIPLY_TERM \limb, \table+32*\x3(ctx), col3, \first
        MULTIPLY_TERM \limb, \table+32*\x4(ctx), col4, \first
.endm

/* columns = H * table, numbers 5..8 being 5 times limbs 1..4. Loose limbs on both sides: columns 0..4 < 21.1, 17.1, 13.1, 9.1, 5.1
 * times 2^52 (column k has k + 1 plain products and 4 - k times 5). */
.macro  MULTIPLY table
        MULTIPLY_LIMB H0, \table, 0, 1, 2, 3, 4, first=1
        MULTIPLY_LIMB H1, \table, 8, 0, 1, 2, 3
        MULTIPLY_LIMB H2, \table, 7, 8, 0, 1, 2
        MULTIPLY_LIMB H3, \table, 6, 7, 8, 0, 1
        MULTIPLY_LIMB H4, \table, 5, 6, 7, 8, 0
.endm

/* H = columns, loose again. Columns < 22, 18, 14, 10, 6 times 2^52. */
.macro  CARRY
        vpsrlq  $26, col3, carry        # < 10 * 2^26
        vpaddq  carry, col4, col4       # < 6 * 2^52
        vpand   mask26, col3, H3
        vpsrlq  $26, col0, carry        # < 22 * 2^26
        vpaddq  carry, col1, col1       # < 18 * 2^52
        vpand   mask26, col0, H0
        vpsrlq  $26, col4, carry        # < 6 * 2^26
        vpand   mask26, col4, H4
        vpaddq  carry, H0, H0
        vpsllq  $2, carry, carry
        vpaddq  carry, H0, H0           # < 31 * 2^26
        vpsrlq  $26, col1, carry        # < 18 * 2^26
        vpaddq  carry, col2, col2       # < 14 * 2^52
        vpand   mask26, col1, H1
        vpsrlq  $26, col2, carry        # < 14 * 2^26
        vpaddq  carry, H3, H3           # < 15 * 2^26
        vpand   mask26, col2, H2        # H2 < 2^26
        vpsrlq  $26, H0, carry
        vpaddq  carry, H1, H1           # H1 < 2^26 + 31
        vpand   mask26, H0, H0          # H0 < 2^26
        vpsrlq  $26, H3, carry
        vpaddq  carry, H4, H4           # H4 < 2^26 + 15
        vpand   mask26, H3, H3          # H3 < 2^26
.endm

/* poly1305_groups_avx2(ctx, data, end): takes the groups from data to end, at least one. A local function. */
LOCAL_FUNCTION poly1305_groups_avx2
        cmpq    $0, STATE_STARTED(ctx)
        jne     .Lstarted

        /* powers: r, r^2, r^3, r^4 */
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    end
        mov     mul1, acc1
        mov     acc1, fold1
        shr     $2, fold1
        add     acc1, fold1
        mov     mul0, acc0
        xor     %r10d, %r10d            # acc2
        STORE_POWER 3
        MULTIPLY_BY_R
        STORE_POWER 1
        MULTIPLY_BY_R
        STORE_POWER 2
        MULTIPLY_BY_R
        STORE_POWER 0
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8
        vpbroadcastq STATE_LANES + 32 * \i(ctx), %ymm0
        vmovdqa %ymm0, STATE_GROUP + 32 * \i(ctx)
        .endr
        movq    $1, STATE_STARTED(ctx)
        pop     end
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        vpxor   %xmm0, %xmm0, %xmm0     # H = 0
        vpxor   %xmm1, %xmm1, %xmm1
        vpxor   %xmm2, %xmm2, %xmm2
        vpxor   %xmm3, %xmm3, %xmm3
        vpxor   %xmm4, %xmm4, %xmm4
        jmp     .Lload_constants
.Lstarted:
        vmovdqa STATE_H+32*0(ctx), H0
        vmovdqa STATE_H+32*1(ctx), H1
        vmovdqa STATE_H+32*2(ctx), H2
        vmovdqa STATE_H+32*3(ctx), H3
        vmovdqa STATE_H+32*4(ctx), H4
.Lload_constants:
        vpcmpeqd mask26, mask26, mask26
        vpsrlq  $38, mask26, mask26     # 2^26 - 1
        vpsrlq  $25, mask26, top_bit
        vpsllq  $24, top_bit, top_bit   # 2^24

        .p2align 4
.Lgroup:
        vmovdqu (data), carry           # blocks 0, 1
        vmovdqu 32(data), term          # blocks 2, 3
        add     $GROUP_BYTES, data
        vpunpcklqdq term, carry, m_low  # of blocks 0, 2, 1, 3
        vpunpckhqdq term, carry, m_high
        MULTIPLY STATE_GROUP
        /* add the blocks with their 2^128 bits, limbs < 2^26 */
        vpand   mask26, m_low, term     # bits 0..25
        vpaddq  term, col0, col0
        vpsrlq  $26, m_low, term        # 26..51
        vpand   mask26, term, term
        vpaddq  term, col1, col1
        vpsrlq  $52, m_low, m_low       # 52..77
        vpsllq  $12, m_high, term
        vpor    m_low, term, term
        vpand   mask26, term, term
        vpaddq  term, col2, col2
        vpsrlq  $14, m_high, term       # 78..103
        vpand   mask26, term, term
        vpaddq  term, col3, col3
        vpsrlq  $40, m_high, m_high     # 104..127
        vpor    top_bit, m_high, m_high
        vpaddq  m_high, col4, col4
        CARRY
        cmp     end, data
        jne     .Lgroup

        vmovdqa H0, STATE_H+32*0(ctx)
        vmovdqa H1, STATE_H+32*1(ctx)
        vmovdqa H2, STATE_H+32*2(ctx)
        vmovdqa H3, STATE_H+32*3(ctx)
        vmovdqa H4, STATE_H+32*4(ctx)
        vzeroupper
        ret
FUNCTION_END poly1305_groups_avx2

/* init(ctx, key) */
#define key     %rsi
FUNCTION poly1305_init_avx2
        /* clamp: 0x0ffffffc0fffffff for r0, 0x0ffffffc0ffffffc for r1 */
        movabs  $0x0ffffffc0fffffff, %rax
        and     (key), %rax
        movabs  $0x0ffffffc0ffffffc, %rdx
        and     8(key), %rdx
        mov     %rax, STATE_R(ctx)
        mov     %rdx, STATE_R+8(ctx)
        mov     16(key), %rax           # s is kept for final
        mov     24(key), %rdx
        mov     %rax, STATE_S(ctx)
        mov     %rdx, STATE_S+8(ctx)
        movq    $0, STATE_USED(ctx)     # nothing waits
        movq    $0, STATE_STARTED(ctx)  # nothing has started
        ret
FUNCTION_END poly1305_init_avx2

/* update(ctx, data, len): whole groups are taken from where they lie, what remains waits in the buffer. */
#define from    %rbx
#define len     %rbp
#define waiting %r12
#define into    %rdx
#define count   %rcx
FUNCTION poly1305_update_avx2
        push    %rbx
        push    %rbp
        push    %r12
        mov     %rsi, from
        mov     %rdx, len
        mov     STATE_USED(ctx), waiting
.Lnext_piece:
        test    len, len
        jz      .Lupdate_end
        test    waiting, waiting
        jnz     .Lbuffer
        mov     len, end
        and     $-GROUP_BYTES, end
        jz      .Lbuffer
        mov     from, data
        add     end, from
        mov     from, end
        and     $(GROUP_BYTES - 1), len
        call    poly1305_groups_avx2    # keeps ctx
        jmp     .Lnext_piece
.Lbuffer:
        /* count = min(len, room); copy by 16 bytes, then by single bytes */
        mov     $GROUP_BYTES, %ecx
        sub     waiting, count
        cmp     len, count
        cmova   len, count
        lea     STATE_BUFFER(ctx, waiting), into
        add     count, waiting
        sub     count, len
        sub     $16, count
        jb      .Lcopied_16
.Lcopy_16:
        mov     (from), %r8
        mov     8(from), %r9
        mov     %r8, (into)
        mov     %r9, 8(into)
        add     $16, from
        add     $16, into
        sub     $16, count
        jae     .Lcopy_16
.Lcopied_16:
        add     $16, count
        jz      .Lcopied
.Lcopy_byte:
        movzbl  (from), %eax
        mov     %al, (into)
        inc     from
        inc     into
        dec     count
        jnz     .Lcopy_byte
.Lcopied:
        cmp     $GROUP_BYTES, waiting
        jne     .Lupdate_end            # not full: data is used up
        lea     STATE_BUFFER(ctx), data
        lea     STATE_BUFFER+GROUP_BYTES(ctx), end
        xor     %r12d, %r12d            # waiting
        call    poly1305_groups_avx2
        jmp     .Lnext_piece
.Lupdate_end:
        mov     waiting, STATE_USED(ctx)
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
FUNCTION_END poly1305_update_avx2

/* The sum of a column's four lanes */
.macro  SUM_LANES column, column_low, sum
        vextracti128 $1, \column, %xmm10
        vpaddq  %xmm10, \column_low, %xmm11
        vpsrldq $8, %xmm11, %xmm10
        vpaddq  %xmm10, %xmm11, %xmm11
        vmovq   %xmm11, \sum
.endm

/* What a column has above 26 bits goes to the next one. */
.macro  CARRY_COLUMN this, next
        mov     \this, %r13
        shr     $26, %r13
        add     %r13, \next
        and     $LIMB_MASK, \this
.endm

/* acc = columns in rax, rdx, rbx, rbp, r12, each below 88 * 2^52 */
.macro  FROM_COLUMNS
        CARRY_COLUMN %rax, %rdx             # carries < 88 * 2^26
        CARRY_COLUMN %rdx, %rbx
        CARRY_COLUMN %rbx, %rbp
        CARRY_COLUMN %rbp, %r12
        mov     %r12, %r13
        shr     $26, %r13               # < 89 * 2^26
        and     $LIMB_MASK, %r12
        lea     (%r13, %r13, 4), %r13
        add     %r13, %rax              # < 2^35
        mov     %rdx, acc0
        shl     $26, acc0
        add     %rax, acc0              # < 2^53
        mov     %rbx, acc1              # bits 0..13, 14..39 and 40..63 of acc1: no carry between them
        shr     $12, acc1
        shl     $14, %rbp
        or      %rbp, acc1
        mov     %r12, acc2
        shl     $40, %r12
        or      %r12, acc1
        shr     $24, acc2               # <= 3
        shl     $52, %rbx
        add     %rbx, acc0              # may carry
        adc     $0, acc1
        adc     $0, acc2                # <= 4
.endm

/* final(ctx, tag) */
FUNCTION poly1305_final_avx2
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        xor     %r8d, %r8d              # acc = 0
        xor     %r9d, %r9d
        xor     %r10d, %r10d
        cmpq    $0, STATE_STARTED(ctx)
        je      .Lcombined
        /* multiply every lane by its power of r and add them */
        vmovdqa STATE_H+32*0(ctx), H0
        vmovdqa STATE_H+32*1(ctx), H1
        vmovdqa STATE_H+32*2(ctx), H2
        vmovdqa STATE_H+32*3(ctx), H3
        vmovdqa STATE_H+32*4(ctx), H4
        MULTIPLY STATE_LANES
        SUM_LANES col0, %xmm5, %rax
        SUM_LANES col1, %xmm6, %rdx
        SUM_LANES col2, %xmm7, %rbx
        SUM_LANES col3, %xmm8, %rbp
        SUM_LANES col4, %xmm9, %r12
        vzeroupper
        FROM_COLUMNS
.Lcombined:
        /* a byte 1 and zeros after what waits: the padding of an incomplete block */
        mov     STATE_USED(ctx), used
        lea     STATE_BUFFER(ctx), at
        movq    $1, (at, used)
        movq    $0, 8(at, used)
        mov     $1, %r15d               # top
        mov     mul1, %rax
        mov     %rax, fold1
        shr     $2, fold1
        add     %rax, fold1
.Lblock:
        test    used, used
        jz      .Lreduce
        sub     $16, used
        jae     .Labsorb
        xor     %r15d, %r15d            # the incomplete block has no 2^128 bit
        xor     %ecx, %ecx              # used
.Labsorb:
        /* add the block with its 2^128 bit */
        add     (at), acc0
        adc     8(at), acc1
        adc     top, acc2               # <= 4 + 1 + 1 = 6
        add     $16, at
        MULTIPLY_BY_R
        jmp     .Lblock

.Lreduce:
        /* final reduction: acc < 2p; rdx becomes 1 exactly when acc + 5 >= 2^130, that is when acc >= p */
        mov     acc0, %rax
        add     $5, %rax
        mov     acc1, %rax
        adc     $0, %rax
        adc     $0, acc2
        shr     $2, acc2
        lea     (acc2, acc2, 4), %rax
        add     %rax, acc0              # acc - p = acc + 5 - 2^130, and 2^130 does not reach the tag
        adc     $0, acc1

        /* add s modulo 2^128 */
        add     STATE_S(ctx), acc0
        adc     STATE_S+8(ctx), acc1
        mov     acc0, (tag)
        mov     acc1, 8(tag)

        /* the state is at its end: nothing of key and message stays behind */
        vpxor   %xmm0, %xmm0, %xmm0
        .set    part, 0
        .rept   864 / 32
        vmovdqa %ymm0, part(ctx)
        .set    part, part + 32
        .endr
        vzeroupper
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
FUNCTION_END poly1305_final_avx2
