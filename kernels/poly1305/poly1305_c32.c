/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "poly1305"
variant   = "c32"
arch      = "any"
provides  = ["init", "update", "final"]
requires  = []
priority  = 0
state     = { ctx = { bytes = 76, align = 4, layout = "c32" } }
constant_time = true
cites     = ["RFC 8439 2.5", "Bernstein 2005", "Bernstein-Schwabe 2012"]
*/
/* Poly1305 in portable C for machines with a 32 x 32 -> 64 bit multiplication.
 *
 * Numbers modulo p = 2^130 - 5 are five limbs in radix 2^26: x = x0 + x1 2^26 + x2 2^52 + x3 2^78 + x4 2^104. Products that
 * pass 2^130 come back times 5, because 2^130 = 5 mod p. Limbs may exceed 26 bits a little between blocks ("loose", bounds
 * below); only final reduces fully.
 * Aliasing and alignment: data, key and tag may lie anywhere and are read or written bytewise; the state is aligned to 4.
 * The argument to check: the bounds in add_blocks_and_multiply. Every sum of products stays below 2^64, every limb below
 * 2^32, and after final's carry the value is below 2p, so that one conditional subtraction of p is enough.
 * Nothing branches on or indexes by key or data; lengths are public.
 * Counted with gcc 12 -O2, instructions per byte over 16 KiB: arm32 6.33, x86 12.9, aarch64 4.14, x86_64 8.21 (c64 is for
 * those two); the better of OpenSSL and BoringSSL with the same capabilities, in assembly: arm32 3.94, x86 6.70.
 *
 *   void poly1305_init_c32(void *ctx, const uint8_t key[32]);
 *   void poly1305_update_c32(void *ctx, const uint8_t *data, size_t len);
 *   void poly1305_final_c32(void *ctx, uint8_t tag[16]);
 */
#include <stddef.h>
#include <stdint.h>

enum { BLOCK = 16, LIMB_BITS = 26, LIMB_MASK = (1 << LIMB_BITS) - 1, TWO_128 = 1 << 24 /* in limb 4 */ };

struct state {
    uint32_t r[5];         /* clamped multiplier, limbs < 2^26 */
    uint32_t h[5];         /* accumulator, loose: h1 < 2^26 + 2^10, the others < 2^26 */
    uint32_t s[4];         /* second half of the key, little-endian words */
    uint32_t used;         /* bytes waiting in buffer, 0..15 */
    uint8_t buffer[BLOCK]; /* an incomplete block */
};
_Static_assert(sizeof(struct state) == 76, "the header states this size");

static inline uint32_t load_le32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void store_le32(uint8_t *bytes, uint32_t word)
{
    bytes[0] = (uint8_t)word;
    bytes[1] = (uint8_t)(word >> 8);
    bytes[2] = (uint8_t)(word >> 16);
    bytes[3] = (uint8_t)(word >> 24);
}

/* Cut 128 bits into limbs of 26, 26, 26, 26 and 24 bits. */
static inline void split_limbs(uint32_t limb[5], const uint8_t bytes[BLOCK])
{
    const uint32_t w0 = load_le32(bytes), w1 = load_le32(bytes + 4), w2 = load_le32(bytes + 8), w3 = load_le32(bytes + 12);

    limb[0] = w0 & LIMB_MASK;
    limb[1] = (w0 >> 26 | w1 << 6) & LIMB_MASK;
    limb[2] = (w1 >> 20 | w2 << 12) & LIMB_MASK;
    limb[3] = (w2 >> 14 | w3 << 18) & LIMB_MASK;
    limb[4] = w3 >> 8; /* < 2^24 */
}

static inline uint64_t multiply(uint32_t a, uint32_t b)
{
    return (uint64_t)a * b;
}

/* h = (h + block + top_bit) * r mod p for each of `blocks` blocks; top_bit is 2^128 for whole blocks, 0 for a padded one. */
static void add_blocks_and_multiply(struct state *state, const uint8_t *data, size_t blocks, uint32_t top_bit)
{
    const uint32_t r0 = state->r[0], r1 = state->r[1], r2 = state->r[2], r3 = state->r[3], r4 = state->r[4];
    const uint32_t s1 = 5 * r1, s2 = 5 * r2, s3 = 5 * r3, s4 = 5 * r4; /* < 5 * 2^26 */
    uint32_t h0 = state->h[0], h1 = state->h[1], h2 = state->h[2], h3 = state->h[3], h4 = state->h[4];

    for (; blocks != 0; blocks--, data += BLOCK) {
        uint32_t m[5];
        uint64_t d0, d1, d2, d3, d4;

        /* add the block with its 2^128 bit */
        split_limbs(m, data);
        h0 += m[0];           /* < 2^27 */
        h1 += m[1];           /* < 2^27 + 2^10 */
        h2 += m[2];           /* < 2^27 */
        h3 += m[3];           /* < 2^27 */
        h4 += m[4] + top_bit; /* < 2^26 + 2^25 < 2^27 */

        /* multiply by r: each h is < 1.001 * 2^27, each r < 2^26, each s < 5 * 2^26 */
        d0 = multiply(h0, r0) + multiply(h1, s4) + multiply(h2, s3) + multiply(h3, s2) + multiply(h4, s1); /* < 21.1 * 2^53 */
        d1 = multiply(h0, r1) + multiply(h1, r0) + multiply(h2, s4) + multiply(h3, s3) + multiply(h4, s2); /* < 17.1 * 2^53 */
        d2 = multiply(h0, r2) + multiply(h1, r1) + multiply(h2, r0) + multiply(h3, s4) + multiply(h4, s3); /* < 13.1 * 2^53 */
        d3 = multiply(h0, r3) + multiply(h1, r2) + multiply(h2, r1) + multiply(h3, r0) + multiply(h4, s4); /* <  9.1 * 2^53 */
        d4 = multiply(h0, r4) + multiply(h1, r3) + multiply(h2, r2) + multiply(h3, r1) + multiply(h4, r0); /* <  5.1 * 2^53 */

        /* carry once around: the carries are < 21.1 * 2^27 < 2^32, so no d grows by more than that */
        d1 += d0 >> LIMB_BITS;
        h0 = (uint32_t)d0 & LIMB_MASK; /* < 2^26 */
        d2 += d1 >> LIMB_BITS;
        h1 = (uint32_t)d1 & LIMB_MASK; /* < 2^26 */
        d3 += d2 >> LIMB_BITS;
        h2 = (uint32_t)d2 & LIMB_MASK; /* < 2^26 */
        d4 += d3 >> LIMB_BITS;
        h3 = (uint32_t)d3 & LIMB_MASK;          /* < 2^26 */
        h4 = (uint32_t)d4 & LIMB_MASK;          /* < 2^26; the carry out is < 5.2 * 2^27 */
        h0 += 5 * (uint32_t)(d4 >> LIMB_BITS);  /* < 2^26 + 26 * 2^27 < 2^32 */
        h1 += h0 >> LIMB_BITS;                  /* < 2^26 + 53 */
        h0 &= LIMB_MASK;                        /* < 2^26 */
    }
    state->h[0] = h0;
    state->h[1] = h1;
    state->h[2] = h2;
    state->h[3] = h3;
    state->h[4] = h4;
}

void poly1305_init_c32(void *ctx, const uint8_t key[32])
{
    struct state *state = ctx;

    /* clamp: r & 0x0ffffffc0ffffffc0ffffffc0fffffff, limb by limb */
    split_limbs(state->r, key);
    state->r[0] &= 0x3ffffff;
    state->r[1] &= 0x3ffff03;
    state->r[2] &= 0x3ffc0ff;
    state->r[3] &= 0x3f03fff;
    state->r[4] &= 0x00fffff;
    for (int i = 0; i < 5; i++)
        state->h[i] = 0;
    for (int i = 0; i < 4; i++)
        state->s[i] = load_le32(key + 16 + 4 * i);
    state->used = 0;
}

void poly1305_update_c32(void *ctx, const uint8_t *data, size_t len)
{
    struct state *state = ctx;

    while (len != 0) {
        if (state->used == 0 && len >= BLOCK) {
            add_blocks_and_multiply(state, data, len / BLOCK, TWO_128);
            data += len - len % BLOCK;
            len %= BLOCK;
        } else {
            state->buffer[state->used++] = *data++;
            len--;
            if (state->used == BLOCK) {
                add_blocks_and_multiply(state, state->buffer, 1, TWO_128);
                state->used = 0;
            }
        }
    }
}

void poly1305_final_c32(void *ctx, uint8_t tag[16])
{
    struct state *state = ctx;
    uint32_t carry, word[4];
    uint64_t sum;

    /* the last, incomplete block: its end is marked by a byte 1 instead of the 2^128 bit */
    if (state->used != 0) {
        state->buffer[state->used] = 1;
        for (uint32_t i = state->used + 1; i < BLOCK; i++)
            state->buffer[i] = 0;
        add_blocks_and_multiply(state, state->buffer, 1, 0);
    }

    /* make the limbs strict: h1 < 2^26 + 53 is the only one above 26 bits */
    uint32_t *h = state->h;
    for (int i = 1; i < 4; i++) {
        h[i + 1] += h[i] >> LIMB_BITS; /* <= 2^26 */
        h[i] &= LIMB_MASK;
    }
    /* now h0..h3 < 2^26 and h4 <= 2^26: h <= 2^130 + 2^104 < 2p */

    /* final reduction: carry is 1 exactly when h + 5 >= 2^130, that is when h >= p */
    carry = 5;
    for (int i = 0; i < 5; i++)
        carry = (h[i] + carry) >> LIMB_BITS; /* <= 1 */
    carry *= 5;                              /* h - p = h + 5 - 2^130, and 2^130 does not reach the tag */
    for (int i = 0; i < 4; i++) {
        h[i] += carry; /* < 2^26 + 6 */
        carry = h[i] >> LIMB_BITS;
        h[i] &= LIMB_MASK;
    }
    h[4] += carry; /* <= 2^26 + 1; bits from 24 on are beyond 2^128 and fall away below */

    /* words of 32 bits; limbs no longer overlap */
    word[0] = h[0] | h[1] << 26;
    word[1] = h[1] >> 6 | h[2] << 20;
    word[2] = h[2] >> 12 | h[3] << 14;
    word[3] = h[3] >> 18 | h[4] << 8;

    /* add s modulo 2^128 */
    sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += (uint64_t)word[i] + state->s[i]; /* < 2^33 + 1 */
        store_le32(tag + 4 * i, (uint32_t)sum);
        sum >>= 32; /* <= 1 */
    }
}
