/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "poly1305"
variant   = "sse2"
arch      = "x86"
provides  = ["init", "update", "final"]
requires  = ["sse2"]
priority  = 20
state     = { ctx = { bytes = 656, align = 16, layout = "sse2" } }
constant_time = true
cites     = ["RFC 8439 2.5", "Bernstein 2005", "Bernstein-Schwabe 2012", "Goll-Gueron 2015"]
*/
/* Poly1305 for i386 with SSE2 (cdecl). Everything modulo p is done in SSE2; there is no second radix.
 *
 * Numbers are five limbs in radix 2^26, x = x0 + x1 2^26 + x2 2^52 + x3 2^78 + x4 2^104, one 64-bit lane a limb, of which pmuludq
 * takes the low 32 bits; what passes 2^130 comes back times 5. Limbs may be a little above 26 bits ("loose": below 2^26 + 56),
 * only final reduces fully. Two interleaved accumulators, H in lane 1 and H' in lane 0, take four blocks m0..m3 (64 bytes, a
 * group) at a time:
 *     H = H r^4 + m0 r^2 + m2          H' = H' r^4 + m1 r^2 + m3
 * with one carry for both products. final makes h = H r^2 + H' r of them and takes the up to three blocks and the incomplete
 * one that are left one by one, h = (h + m) r, in lane 0 (lane 1 then carries a bounded number that nobody reads).
 * r^2 and r^4 are computed when the first group comes.
 * Aliasing and alignment: data, key and tag may lie anywhere (movq, movhps, movdqu, mov); the state is aligned to 16 and is
 * also the scratch memory; the stack only holds saved registers. Nothing outside data .. data + len is read: groups are
 * whole, the rest is copied by its length. Constants are made in init, so that nothing needs a position independent address.
 * The argument to check: the bounds in CARRY (columns below 43 * 2^52, limbs back below 2^32 after it), and the carries of
 * final's words of 32 bits.
 * Nothing branches on or indexes by key or data; lengths are public.
 * Counted: 3.55 instructions per byte over 16 KiB; the better of OpenSSL and BoringSSL with SSSE3 needs 3.78.
 *
 *   void poly1305_init_sse2(void *ctx, const uint8_t key[32]);
 *   void poly1305_update_sse2(void *ctx, const uint8_t *data, size_t len);
 *   void poly1305_final_sse2(void *ctx, uint8_t tag[16]);
 */
#include "shared/assembly.h"

        .text

/* The state; a vector is two lanes of 64 bits, a table nine vectors: limbs 0..4 of a multiplier and 5 times limbs 1..4 */
        .equ    STATE_R4, 0             # table of r^4
        .equ    STATE_R2, 144           # table of r^2
        .equ    STATE_PAIR, 288         # table of r in lane 0, r^2 in lane 1 (r until started)
        .equ    STATE_H, 432            # 5 vectors: limbs of H' and H; the multiplicand of MULTIPLY
        .equ    STATE_MASK, 512         # 2^26 - 1 in both lanes
        .equ    STATE_TOP, 528          # 2^24 in both lanes: the 2^128 bit in limb 4
        .equ    STATE_S, 544            # the key's second half
        .equ    STATE_USED, 560         # bytes waiting in the buffer, 0..63
        .equ    STATE_STARTED, 564      # 1 when the powers are there and H, H' are in use
        .equ    STATE_BUFFER, 576       # 64 bytes, and 16 more for the padding
        .equ    GROUP_BYTES, 64         # a power of two
        .equ    LIMB_MASK, 0x3ffffff

/* Registers */
#define ctx     %ebx
#define data    %ecx    /* groups */
#define end     %edx    /* groups */
#define col0    %xmm0   /* columns of a product; after CARRY the limbs of H' and H */
#define col1    %xmm1
#define col2    %xmm2
#define col3    %xmm3
#define col4    %xmm4
#define limb    %xmm5
#define term    %xmm6
#define half    %xmm7   /* halves of blocks */

/* limb, which is lost, times the five multipliers that bring it to columns 0..4 */
.macro  MULTIPLY_TERM multiplier, column
        movdqa  limb, term
        pmuludq \multiplier, term
        paddq   term, \column
.endm

.macro  MULTIPLY_LIMB table, x0, x1, x2, x3, x4
        MULTIPLY_TERM \table+16*\x0(ctx), col0
        MULTIPLY_TERM \table+16*\x1(ctx), col1
        MULTIPLY_TERM \table+16*\x2(ctx), col2
        MULTIPLY_TERM \table+16*\x3(ctx), col3
        pmuludq \table+16*\x4(ctx), limb
        paddq   limb, col4
.endm

/* columns = the number in STATE_H * table. Limbs up to 2^27 + 112 times loose ones: columns 0..4 < 42.1, 34.1, 26.1, 18.1, 10.1
 * times 2^52 (column k has k + 1 plain products and 4 - k times 5); half of that when both are loose. */
.macro  MULTIPLY table
        movdqa  STATE_H+16*0(ctx), limb
        movdqa  limb, col0
        pmuludq \table+16*0(ctx), col0
        movdqa  limb, col1
        pmuludq \table+16*1(ctx), col1
        movdqa  limb, col2
        pmuludq \table+16*2(ctx), col2
        movdqa  limb, col3
        pmuludq \table+16*3(ctx), col3
        movdqa  limb, col4
        pmuludq \table+16*4(ctx), col4
        movdqa  STATE_H+16*1(ctx), limb
        MULTIPLY_LIMB \table, 8, 0, 1, 2, 3
        movdqa  STATE_H+16*2(ctx), limb
        MULTIPLY_LIMB \table, 7, 8, 0, 1, 2
        movdqa  STATE_H+16*3(ctx), limb
        MULTIPLY_LIMB \table, 6, 7, 8, 0, 1
        movdqa  STATE_H+16*4(ctx), limb
        MULTIPLY_LIMB \table, 5, 6, 7, 8, 0
.endm

/* What a column has above 26 bits goes to the next one. */
.macro  CARRY_COLUMN this, next
        movdqa  \this, term
        psrlq   $26, term
        pand    STATE_MASK(ctx), \this
        paddq   term, \next
.endm

/* columns become loose limbs. Columns < 43, 35, 27, 19, 11 times 2^52. */
.macro  CARRY
        CARRY_COLUMN col3, col4         # col4 < 11 * 2^52
        CARRY_COLUMN col0, col1         # col1 < 35 * 2^52
        CARRY_COLUMN col4, col0         # the carry, < 11 * 2^26, counts 5 times: now once,
        psllq   $2, term
        paddq   term, col0              # and four times more: col0 < 56 * 2^26
        CARRY_COLUMN col1, col2         # col2 < 27 * 2^52
        CARRY_COLUMN col2, col3         # col3 < 2^26 + 27 * 2^26, col2 < 2^26
        CARRY_COLUMN col0, col1         # col1 < 2^26 + 56, col0 < 2^26
        CARRY_COLUMN col3, col4         # col4 < 2^26 + 28, col3 < 2^26
.endm

.macro  STORE_H
        movdqa  col0, STATE_H+16*0(ctx)
        movdqa  col1, STATE_H+16*1(ctx)
        movdqa  col2, STATE_H+16*2(ctx)
        movdqa  col3, STATE_H+16*3(ctx)
        movdqa  col4, STATE_H+16*4(ctx)
.endm

/* the number in the columns as a table */
.macro  STORE_TABLE table
        movdqa  col0, \table+16*0(ctx)
        movdqa  col1, \table+16*1(ctx)
        movdqa  col2, \table+16*2(ctx)
        movdqa  col3, \table+16*3(ctx)
        movdqa  col4, \table+16*4(ctx)
        TIMES_5 col1, \table+16*5(ctx)
        TIMES_5 col2, \table+16*6(ctx)
        TIMES_5 col3, \table+16*7(ctx)
        TIMES_5 col4, \table+16*8(ctx)
.endm

.macro  TIMES_5 number, to
        movdqa  \number, term
        psllq   $2, term
        paddq   \number, term
        movdqa  term, \to
.endm

/* poly1305_groups_sse2(ctx, data, end): takes the groups from data to end, at least one. A local function that keeps ebx, ebp,
 * esi and edi. */
LOCAL_FUNCTION poly1305_groups_sse2
        cmpl    $0, STATE_STARTED(ctx)
        jne     .Lstarted

        /* powers: the table of r is in both lanes of STATE_PAIR */
        .irp    i, 0, 1, 2, 3, 4
        movdqa  STATE_PAIR+16*\i(ctx), term
        movdqa  term, STATE_H+16*\i(ctx)
        .endr
        MULTIPLY STATE_PAIR
        CARRY
        STORE_TABLE STATE_R2
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8
        movdqa  STATE_R2+16*\i(ctx), term
        movhps  term, STATE_PAIR+16*\i+8(ctx)
        .endr
        STORE_H
        MULTIPLY STATE_R2
        CARRY
        STORE_TABLE STATE_R4
        movl    $1, STATE_STARTED(ctx)
        pxor    col0, col0              # H = H' = 0
        pxor    col1, col1
        pxor    col2, col2
        pxor    col3, col3
        pxor    col4, col4
        STORE_H
.Lstarted:

        .p2align 4
.Lgroup:
        /* multiply H and H' by r^4 */
        MULTIPLY STATE_R4
        /* add blocks 0 (lane 1) and 1 (lane 0) with their 2^128 bits, times r^2; limbs < 2^26 */
        movq    16(data), half          # low halves
        movhps  (data), half
        movdqa  half, limb              # bits 0..25
        pand    STATE_MASK(ctx), limb
        MULTIPLY_LIMB STATE_R2, 0, 1, 2, 3, 4
        movdqa  half, limb              # 26..51
        psrlq   $26, limb
        pand    STATE_MASK(ctx), limb
        MULTIPLY_LIMB STATE_R2, 8, 0, 1, 2, 3
        psrlq   $52, half               # 52..77
        movq    24(data), limb          # high halves
        movhps  8(data), limb
        psllq   $12, limb
        por     half, limb
        pand    STATE_MASK(ctx), limb
        MULTIPLY_LIMB STATE_R2, 7, 8, 0, 1, 2
        movq    24(data), half          # high halves again
        movhps  8(data), half
        movdqa  half, limb              # 78..103
        psrlq   $14, limb
        pand    STATE_MASK(ctx), limb
        MULTIPLY_LIMB STATE_R2, 6, 7, 8, 0, 1
        movdqa  half, limb              # 104..127 and the 2^128 bit
        psrlq   $40, limb
        por     STATE_TOP(ctx), limb
        MULTIPLY_LIMB STATE_R2, 5, 6, 7, 8, 0
        /* add blocks 2 (lane 1) and 3 (lane 0); columns < 43, 35, 27, 19, 11 times 2^52 */
        movq    48(data), half          # low halves
        movhps  32(data), half
        movq    56(data), limb          # high halves
        movhps  40(data), limb
        movdqa  half, term
        pand    STATE_MASK(ctx), term
        paddq   term, col0
        movdqa  half, term
        psrlq   $26, term
        pand    STATE_MASK(ctx), term
        paddq   term, col1
        psrlq   $52, half
        movdqa  limb, term
        psllq   $12, term
        por     half, term
        pand    STATE_MASK(ctx), term
        paddq   term, col2
        movdqa  limb, term
        psrlq   $14, term
        pand    STATE_MASK(ctx), term
        paddq   term, col3
        psrlq   $40, limb
        por     STATE_TOP(ctx), limb
        paddq   limb, col4
        CARRY
        STORE_H
        add     $GROUP_BYTES, data
        cmp     end, data
        jne     .Lgroup
        ret
FUNCTION_END poly1305_groups_sse2

/* init(ctx, key) */

/* the limb in esi to both lanes of vector i of STATE_PAIR, 5 times it to vector 4 + i */
.macro  INIT_LIMB i
        movd    %esi, %xmm0
        pshufd  $0x44, %xmm0, %xmm0
        movdqa  %xmm0, STATE_PAIR+16*\i(ctx)
  .if \i > 0
        lea     (%esi, %esi, 4), %esi
        movd    %esi, %xmm0
        pshufd  $0x44, %xmm0, %xmm0
        movdqa  %xmm0, STATE_PAIR+16*(4+\i)(ctx)
  .endif
.endm

FUNCTION poly1305_init_sse2
        push    %ebx
        push    %esi
        push    %edi
        mov     16(%esp), ctx
        mov     20(%esp), %edi          # key
        /* constants */
        pcmpeqd %xmm0, %xmm0
        psrlq   $38, %xmm0
        movdqa  %xmm0, STATE_MASK(ctx)
        psrlq   $25, %xmm0
        psllq   $24, %xmm0
        movdqa  %xmm0, STATE_TOP(ctx)
        /* s is kept for final; nothing waits, nothing has started */
        movdqu  16(%edi), %xmm0
        movdqa  %xmm0, STATE_S(ctx)
        movl    $0, STATE_USED(ctx)
        movl    $0, STATE_STARTED(ctx)
        /* clamp */
        mov     (%edi), %eax
        mov     4(%edi), %ecx
        mov     8(%edi), %edx
        mov     12(%edi), %edi
        and     $0x0fffffff, %eax
        and     $0x0ffffffc, %ecx
        and     $0x0ffffffc, %edx
        and     $0x0ffffffc, %edi
        /* limbs of r */
        mov     %eax, %esi
        and     $LIMB_MASK, %esi
        INIT_LIMB 0
        mov     %eax, %esi
        shrd    $26, %ecx, %esi
        and     $LIMB_MASK, %esi
        INIT_LIMB 1
        mov     %ecx, %esi
        shrd    $20, %edx, %esi
        and     $LIMB_MASK, %esi
        INIT_LIMB 2
        mov     %edx, %esi
        shrd    $14, %edi, %esi
        and     $LIMB_MASK, %esi
        INIT_LIMB 3
        mov     %edi, %esi
        shr     $8, %esi
        INIT_LIMB 4
        pop     %edi
        pop     %esi
        pop     %ebx
        ret
FUNCTION_END poly1305_init_sse2

/* update(ctx, data, len): whole groups are taken from where they lie, what remains waits in the buffer. */
#define from    %esi
#define len     %edi
#define waiting %ebp
#define into    %edx
#define count   %ecx
FUNCTION poly1305_update_sse2
        push    %ebx
        push    %esi
        push    %edi
        push    %ebp
        mov     20(%esp), ctx
        mov     24(%esp), from
        mov     28(%esp), len
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
        call    poly1305_groups_sse2
        jmp     .Lnext_piece
.Lbuffer:
        /* count = min(len, room); copy by 16 bytes, then by single bytes */
        mov     $GROUP_BYTES, count
        sub     waiting, count
        cmp     len, count
        jbe     .Lroom
        mov     len, count
.Lroom:
        lea     STATE_BUFFER(ctx, waiting), into
        add     count, waiting
        sub     count, len
        sub     $16, count
        jb      .Lcopied_16
.Lcopy_16:
        movdqu  (from), %xmm0
        movdqu  %xmm0, (into)
        add     $16, from
        add     $16, into
        sub     $16, count
        jae     .Lcopy_16
.Lcopied_16:
        add     $16, count
        jz      .Lcopied
.Lcopy_byte:
        mov     (from), %al
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
        xor     waiting, waiting
        call    poly1305_groups_sse2
        jmp     .Lnext_piece
.Lupdate_end:
        mov     waiting, STATE_USED(ctx)
        pop     %ebp
        pop     %edi
        pop     %esi
        pop     %ebx
        ret
FUNCTION_END poly1305_update_sse2

/* final(ctx, tag) */
#define at      %ecx
#define used    %edx
#define top     %xmm7   /* 2^24, or 0 for the padded block */

.macro  SUM_LANES column                # in lane 0
        pshufd  $0xee, \column, term
        paddq   term, \column
.endm

FUNCTION poly1305_final_sse2
        push    %ebx
        push    %esi
        push    %edi
        push    %ebp
        mov     20(%esp), ctx
        cmpl    $0, STATE_STARTED(ctx)
        jne     .Lcombine
        pxor    col0, col0
        pxor    col1, col1
        pxor    col2, col2
        pxor    col3, col3
        pxor    col4, col4
        jmp     .Lcombined
.Lcombine:
        /* h = H r^2 + H' r; the sums < 43, 35, 27, 19, 11 times 2^52 */
        MULTIPLY STATE_PAIR
        SUM_LANES col0
        SUM_LANES col1
        SUM_LANES col2
        SUM_LANES col3
        SUM_LANES col4
        CARRY
.Lcombined:
        /* a byte 1 and zeros after what waits: the padding of an incomplete block */
        mov     STATE_USED(ctx), used
        lea     STATE_BUFFER(ctx), at
        movl    $1, (at, used)
        movl    $0, 4(at, used)
        movl    $0, 8(at, used)
        movl    $0, 12(at, used)
        movdqa  STATE_TOP(ctx), top
.Lblock:
        test    used, used
        jz      .Lreduce
        sub     $16, used
        jae     .Labsorb
        pxor    top, top                # the incomplete block has no 2^128 bit
        xor     used, used
.Labsorb:
        /* h = (h + block) r; limbs of the sum < 2^27 + 56 */
        movq    (at), limb              # low half
        movdqa  limb, term
        pand    STATE_MASK(ctx), term
        paddq   term, col0
        movdqa  limb, term
        psrlq   $26, term
        pand    STATE_MASK(ctx), term
        paddq   term, col1
        psrlq   $52, limb
        movq    8(at), term             # high half
        psllq   $12, term
        por     limb, term
        pand    STATE_MASK(ctx), term
        paddq   term, col2
        movq    8(at), limb
        movdqa  limb, term
        psrlq   $14, term
        pand    STATE_MASK(ctx), term
        paddq   term, col3
        psrlq   $40, limb
        por     top, limb
        paddq   limb, col4
        STORE_H
        MULTIPLY STATE_PAIR
        CARRY
        add     $16, at
        jmp     .Lblock

.Lreduce:
        /* strict limbs: after this eax, ecx, edx, esi < 2^26 and edi <= 2^26 + 28 */
        movd    col0, %eax
        movd    col1, %ecx
        movd    col2, %edx
        movd    col3, %esi
        movd    col4, %edi
        mov     %ecx, %ebp
        shr     $26, %ebp
        and     $LIMB_MASK, %ecx
        add     %ebp, %edx
        mov     %edx, %ebp
        shr     $26, %ebp
        and     $LIMB_MASK, %edx
        add     %ebp, %esi
        mov     %esi, %ebp
        shr     $26, %ebp
        and     $LIMB_MASK, %esi
        add     %ebp, %edi
        /* words of 32 bits in eax, ecx, edx, esi, what passes 2^128 in edi; h < 2^130 + 2^110 < 2p */
        mov     %ecx, %ebp
        shl     $26, %ebp
        or      %ebp, %eax
        shr     $6, %ecx
        mov     %edx, %ebp
        shl     $20, %ebp
        or      %ebp, %ecx
        shr     $12, %edx
        mov     %esi, %ebp
        shl     $14, %ebp
        or      %ebp, %edx
        shr     $18, %esi
        mov     %edi, %ebp
        shl     $8, %ebp
        or      %ebp, %esi
        shr     $24, %edi

        /* final reduction: ebp becomes 1 exactly when h + 5 >= 2^130, that is when h >= p */
        mov     %eax, %ebp
        add     $5, %ebp
        mov     %ecx, %ebp
        adc     $0, %ebp
        mov     %edx, %ebp
        adc     $0, %ebp
        mov     %esi, %ebp
        adc     $0, %ebp
        mov     %edi, %ebp
        adc     $0, %ebp
        shr     $2, %ebp
        lea     (%ebp, %ebp, 4), %ebp
        add     %ebp, %eax              # h - p = h + 5 - 2^130, and 2^130 does not reach the tag
        adc     $0, %ecx
        adc     $0, %edx
        adc     $0, %esi

        /* add s modulo 2^128 */
        add     STATE_S+0(ctx), %eax
        adc     STATE_S+4(ctx), %ecx
        adc     STATE_S+8(ctx), %edx
        adc     STATE_S+12(ctx), %esi
        mov     24(%esp), %edi          # tag
        mov     %eax, (%edi)
        mov     %ecx, 4(%edi)
        mov     %edx, 8(%edi)
        mov     %esi, 12(%edi)
        pop     %ebp
        pop     %edi
        pop     %esi
        pop     %ebx
        ret
FUNCTION_END poly1305_final_sse2
