/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "x25519"
variant   = "c32"
arch      = "any"
provides  = ["scalarmult"]
requires  = []
priority  = 0
constant_time = true
cites     = ["RFC 7748 5", "Bernstein 2006"]
*/
/* X25519 in C with 32 x 32 -> 64 bit multiplications.
 *
 * Numbers modulo p = 2^255 - 19 are ten limbs in radix 2^25.5: limb i counts 2^ceil(25.5 i) and has 26 bits for even i, 25 for
 * odd i. The product of two odd limbs is thus counted twice, and what passes 2^255 comes back times 19. Two kinds of bounds:
 *     tight: even limbs < 2^26, odd limbs < 2^25, limb 1 < 2^25 + 2^12    (every product, and the decoded point)
 *     loose: even limbs < 3 * 2^26, odd limbs < 3 * 2^25 + 2^14           (sums and differences of tight numbers)
 * Multiplications take loose numbers: 19 times a loose limb is < 57 * 2^26 < 2^32.
 * The Montgomery ladder of RFC 7748 swaps (x2, z2) and (x3, z3). Its sum is symmetric in the two, so it is enough to select
 * which of them is doubled. The last bit of a clamped scalar is 0, so nothing is left to swap at the end.
 * Aliasing and alignment: out, scalar and point may lie anywhere and are read or written bytewise; out may be scalar or point.
 * The argument to check: the column bounds in multiply (64 bits are never exceeded, with the carry from the column before), and
 * that the carry out of column 9 goes on through columns 0 and 1.
 * Nothing branches on or indexes by scalar or point.
 *
 *   void x25519_scalarmult_c32(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32]);
 */
#include <stddef.h>
#include <stdint.h>

enum { LIMBS = 10, BYTES = 32, A24 = 121665, MASK26 = (1 << 26) - 1, MASK25 = (1 << 25) - 1 };

typedef uint32_t element[LIMBS];

static uint32_t load_le32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void store_le32(uint8_t *bytes, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
}

/* Tight: the mask of the last limb drops bit 255. */
static void decode(element out, const uint8_t bytes[BYTES])
{
    out[0] = load_le32(bytes) & MASK26;           /* bits 0..25 */
    out[1] = load_le32(bytes + 3) >> 2 & MASK25;  /* 26..50 */
    out[2] = load_le32(bytes + 6) >> 3 & MASK26;  /* 51..76 */
    out[3] = load_le32(bytes + 9) >> 5 & MASK25;  /* 77..101 */
    out[4] = load_le32(bytes + 12) >> 6 & MASK26; /* 102..127 */
    out[5] = load_le32(bytes + 16) & MASK25;      /* 128..152 */
    out[6] = load_le32(bytes + 19) >> 1 & MASK26; /* 153..178 */
    out[7] = load_le32(bytes + 22) >> 3 & MASK25; /* 179..203 */
    out[8] = load_le32(bytes + 25) >> 4 & MASK26; /* 204..229 */
    out[9] = load_le32(bytes + 28) >> 6 & MASK25; /* 230..254 */
}

/* Adds `carry` to f and carries on, limb by limb; returns what passes 2^255. The limbs end below 26 or 25 bits. */
static uint32_t propagate(element f, uint32_t carry)
{
    for (int i = 0; i < LIMBS; i++) {
        const unsigned bits = 26 - i % 2;

        f[i] += carry;
        carry = f[i] >> bits;
        f[i] &= ((uint32_t)1 << bits) - 1;
    }
    return carry;
}

/* The bytes of a tight number, fully reduced. */
static void encode(uint8_t bytes[BYTES], const element in)
{
    element f, g;
    uint32_t q;

    /* in < 2^255 + 2^40 < 2p, and q becomes 1 exactly when in + 19 >= 2^255, that is when in >= p */
    for (int i = 0; i < LIMBS; i++)
        f[i] = g[i] = in[i];
    q = propagate(g, 19);

    /* in - p q = in + 19 q - 2^255 q; the last carry is the 2^255 q to be dropped */
    (void)propagate(f, 19 * q);

    store_le32(bytes, f[0] | f[1] << 26);
    store_le32(bytes + 4, f[1] >> 6 | f[2] << 19);
    store_le32(bytes + 8, f[2] >> 13 | f[3] << 13);
    store_le32(bytes + 12, f[3] >> 19 | f[4] << 6);
    store_le32(bytes + 16, f[5] | f[6] << 25);
    store_le32(bytes + 20, f[6] >> 7 | f[7] << 19);
    store_le32(bytes + 24, f[7] >> 13 | f[8] << 12);
    store_le32(bytes + 28, f[8] >> 20 | f[9] << 6);
}

/* f + g: two tight numbers give even limbs < 2^27, odd limbs < 2^26 + 2^14, loose. */
static inline void add(element out, const element f, const element g)
{
    for (int i = 0; i < LIMBS; i++)
        out[i] = f[i] + g[i];
}

/* f + 2p - g: two tight numbers give limbs > 0, even ones < 2^26 + 2^27, odd ones < 2^25 + 2^12 + 2^26, loose;
 * 2p = (2^27 - 38) + (2^26 - 2) 2^26 + (2^27 - 2) 2^51 + ... */
static inline void subtract(element out, const element f, const element g)
{
    out[0] = f[0] + ((1 << 27) - 38) - g[0];
    for (int i = 1; i < LIMBS; i += 2)
        out[i] = f[i] + ((1 << 26) - 2) - g[i];
    for (int i = 2; i < LIMBS; i += 2)
        out[i] = f[i] + ((1 << 27) - 2) - g[i];
}

static inline uint64_t product(uint32_t f, uint32_t g)
{
    return (uint64_t)f * g;
}

/* The end of a chain of columns: `carry` < 2^33 is what passed 2^255. Makes the number tight. */
static inline void wrap(element out, uint64_t carry)
{
    const uint64_t h0 = out[0] + 19 * carry; /* < 2^26 + 19 * 2^33 < 2^38 */

    out[0] = h0 & MASK26;
    out[1] += (uint32_t)(h0 >> 26); /* < 2^25 + 2^12 */
}

/* f g: two loose numbers give a tight one; out is neither f nor g. Column by column, each begins with the carry of the one
 * before, < 2^37. Two even limbs make < 9 * 2^52, two odd ones doubled or an even and an odd one < 9.01 * 2^51; the bound of
 * each column is beside it. */
static void multiply(uint32_t *restrict out, const uint32_t *restrict f, const uint32_t *restrict g)
{
    const uint32_t f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3], f4 = f[4], f5 = f[5], f6 = f[6], f7 = f[7], f8 = f[8], f9 = f[9];
    const uint32_t g0 = g[0], g1 = g[1], g2 = g[2], g3 = g[3], g4 = g[4], g5 = g[5], g6 = g[6], g7 = g[7], g8 = g[8], g9 = g[9];
    const uint32_t f1x2 = 2 * f1, f3x2 = 2 * f3, f5x2 = 2 * f5, f7x2 = 2 * f7, f9x2 = 2 * f9; /* < 3.01 * 2^26 */
    const uint32_t g1x19 = 19 * g1, g2x19 = 19 * g2, g3x19 = 19 * g3, g4x19 = 19 * g4, g5x19 = 19 * g5, g6x19 = 19 * g6,
                   g7x19 = 19 * g7, g8x19 = 19 * g8, g9x19 = 19 * g9; /* < 57 * 2^26 < 2^32 */
    uint64_t h;

    h = product(f0, g0) + product(f1x2, g9x19) + product(f2, g8x19) + product(f3x2, g7x19) +
        product(f4, g6x19) + product(f5x2, g5x19) + product(f6, g4x19) + product(f7x2, g3x19) +
        product(f8, g2x19) + product(f9x2, g1x19); /* < 1123 * 2^52 */
    out[0] = h & MASK26;
    h >>= 26;
    h += product(f0, g1) + product(f1, g0) + product(f2, g9x19) + product(f3, g8x19) +
        product(f4, g7x19) + product(f5, g6x19) + product(f6, g5x19) + product(f7, g4x19) +
        product(f8, g3x19) + product(f9, g2x19); /* < 695 * 2^52 */
    out[1] = h & MASK25;
    h >>= 25;
    h += product(f0, g2) + product(f1x2, g1) + product(f2, g0) + product(f3x2, g9x19) +
        product(f4, g8x19) + product(f5x2, g7x19) + product(f6, g6x19) + product(f7x2, g5x19) +
        product(f8, g4x19) + product(f9x2, g3x19); /* < 880 * 2^52 */
    out[2] = h & MASK26;
    h >>= 26;
    h += product(f0, g3) + product(f1, g2) + product(f2, g1) + product(f3, g0) + product(f4, g9x19) +
        product(f5, g8x19) + product(f6, g7x19) + product(f7, g6x19) + product(f8, g5x19) +
        product(f9, g4x19); /* < 533 * 2^52 */
    out[3] = h & MASK25;
    h >>= 25;
    h += product(f0, g4) + product(f1x2, g3) + product(f2, g2) + product(f3x2, g1) + product(f4, g0) +
        product(f5x2, g9x19) + product(f6, g8x19) + product(f7x2, g7x19) + product(f8, g6x19) +
        product(f9x2, g5x19); /* < 636 * 2^52 */
    out[4] = h & MASK26;
    h >>= 26;
    h += product(f0, g5) + product(f1, g4) + product(f2, g3) + product(f3, g2) + product(f4, g1) +
        product(f5, g0) + product(f6, g9x19) + product(f7, g8x19) + product(f8, g7x19) +
        product(f9, g6x19); /* < 370 * 2^52 */
    out[5] = h & MASK25;
    h >>= 25;
    h += product(f0, g6) + product(f1x2, g5) + product(f2, g4) + product(f3x2, g3) + product(f4, g2) +
        product(f5x2, g1) + product(f6, g0) + product(f7x2, g9x19) + product(f8, g8x19) +
        product(f9x2, g7x19); /* < 393 * 2^52 */
    out[6] = h & MASK26;
    h >>= 26;
    h += product(f0, g7) + product(f1, g6) + product(f2, g5) + product(f3, g4) + product(f4, g3) +
        product(f5, g2) + product(f6, g1) + product(f7, g0) + product(f8, g9x19) + product(f9, g8x19); /* < 208 * 2^52 */
    out[7] = h & MASK25;
    h >>= 25;
    h += product(f0, g8) + product(f1x2, g7) + product(f2, g6) + product(f3x2, g5) + product(f4, g4) +
        product(f5x2, g3) + product(f6, g2) + product(f7x2, g1) + product(f8, g0) + product(f9x2, g9x19); /* < 149 * 2^52 */
    out[8] = h & MASK26;
    h >>= 26;
    h += product(f0, g9) + product(f1, g8) + product(f2, g7) + product(f3, g6) + product(f4, g5) +
        product(f5, g4) + product(f6, g3) + product(f7, g2) + product(f8, g1) + product(f9, g0); /* < 46 * 2^52 */
    out[9] = h & MASK25;
    h >>= 25;
    wrap(out, h); /* < 46 * 2^27 < 2^33 */
}

/* f^(2^times), times > 0: a loose number gives a tight one. The columns of multiply, equal products taken together. */
static void square(element out, const element f, unsigned times)
{
    for (const uint32_t *in = f; times != 0; times--, in = out) {
        const uint32_t f0 = in[0], f1 = in[1], f2 = in[2], f3 = in[3], f4 = in[4], f5 = in[5], f6 = in[6], f7 = in[7], f8 = in[8],
                       f9 = in[9];
        const uint32_t f0x2 = 2 * f0, f1x2 = 2 * f1, f2x2 = 2 * f2, f3x2 = 2 * f3, f4x2 = 2 * f4, f5x2 = 2 * f5, f6x2 = 2 * f6,
                       f7x2 = 2 * f7, f8x2 = 2 * f8, f9x2 = 2 * f9;                                      /* < 3 * 2^27 */
        const uint32_t f1x4 = 4 * f1, f3x4 = 4 * f3, f5x4 = 4 * f5, f7x4 = 4 * f7;                     /* < 3.01 * 2^27 */
        const uint32_t f5x19 = 19 * f5, f6x19 = 19 * f6, f7x19 = 19 * f7, f8x19 = 19 * f8, f9x19 = 19 * f9; /* < 2^32 */
        uint64_t h;

        h = product(f0, f0) + product(f1x4, f9x19) + product(f2x2, f8x19) + product(f3x4, f7x19) +
            product(f4x2, f6x19) + product(f5x2, f5x19);
        out[0] = h & MASK26;
        h >>= 26;
        h += product(f0x2, f1) + product(f2x2, f9x19) + product(f3x2, f8x19) + product(f4x2, f7x19) +
            product(f5x2, f6x19);
        out[1] = h & MASK25;
        h >>= 25;
        h += product(f0x2, f2) + product(f1x2, f1) + product(f3x4, f9x19) + product(f4x2, f8x19) +
            product(f5x4, f7x19) + product(f6, f6x19);
        out[2] = h & MASK26;
        h >>= 26;
        h += product(f0x2, f3) + product(f1x2, f2) + product(f4x2, f9x19) + product(f5x2, f8x19) +
            product(f6x2, f7x19);
        out[3] = h & MASK25;
        h >>= 25;
        h += product(f0x2, f4) + product(f1x4, f3) + product(f2, f2) + product(f5x4, f9x19) +
            product(f6x2, f8x19) + product(f7x2, f7x19);
        out[4] = h & MASK26;
        h >>= 26;
        h += product(f0x2, f5) + product(f1x2, f4) + product(f2x2, f3) + product(f6x2, f9x19) +
            product(f7x2, f8x19);
        out[5] = h & MASK25;
        h >>= 25;
        h += product(f0x2, f6) + product(f1x4, f5) + product(f2x2, f4) + product(f3x2, f3) +
            product(f7x4, f9x19) + product(f8, f8x19);
        out[6] = h & MASK26;
        h >>= 26;
        h += product(f0x2, f7) + product(f1x2, f6) + product(f2x2, f5) + product(f3x2, f4) +
            product(f8x2, f9x19);
        out[7] = h & MASK25;
        h >>= 25;
        h += product(f0x2, f8) + product(f1x4, f7) + product(f2x2, f6) + product(f3x4, f5) + product(f4, f4) +
            product(f9x2, f9x19);
        out[8] = h & MASK26;
        h >>= 26;
        h += product(f0x2, f9) + product(f1x2, f8) + product(f2x2, f7) + product(f3x2, f6) +
            product(f4x2, f5);
        out[9] = h & MASK25;
        h >>= 25;
        wrap(out, h);
    }
}

/* f + A24 g: f tight and g loose give a tight number; out may be f. */
static void add_multiple(element out, const element f, const element g)
{
    uint64_t h = 0;

    for (int i = 0; i < LIMBS; i += 2) {
        h += f[i] + product(A24, g[i]); /* < 2^45, as the next */
        out[i] = h & MASK26;
        h >>= 26;
        h += f[i + 1] + product(A24, g[i + 1]);
        out[i + 1] = h & MASK25;
        h >>= 25;
    }
    wrap(out, h);
}

/* f^(p - 2) = 1 / f, and 0 for 0; p - 2 = 2^255 - 21. In the names, a_b is f^(2^a - 2^b). */
static void invert(element out, const element f)
{
    element f2, f9, f11, f5_0, f10_0, f20_0, f50_0, f100_0, t, u;

    square(f2, f, 1);
    square(t, f2, 2); /* 8 */
    multiply(f9, t, f);
    multiply(f11, f9, f2);
    square(t, f11, 1); /* 22 */
    multiply(f5_0, t, f9);
    square(t, f5_0, 5);
    multiply(f10_0, t, f5_0);
    square(t, f10_0, 10);
    multiply(f20_0, t, f10_0);
    square(t, f20_0, 20);
    multiply(u, t, f20_0); /* 40_0 */
    square(t, u, 10);
    multiply(f50_0, t, f10_0);
    square(t, f50_0, 50);
    multiply(f100_0, t, f50_0);
    square(t, f100_0, 100);
    multiply(u, t, f100_0); /* 200_0 */
    square(t, u, 50);
    multiply(u, t, f50_0); /* 250_0 */
    square(t, u, 5);       /* 255_5 */
    multiply(out, t, f11); /* 2^255 - 2^5 + 11 */
}

void x25519_scalarmult_c32(uint8_t out[BYTES], const uint8_t scalar[BYTES], const uint8_t point[BYTES])
{
    element x1, x2 = { 1 }, z2 = { 0 }, x3, z3 = { 1 }, inverse;
    uint8_t k[BYTES];
    unsigned last = 0;

    for (int i = 0; i < BYTES; i++)
        k[i] = scalar[i];
    k[0] &= 0xf8;
    k[31] = (k[31] & 0x7f) | 0x40;
    decode(x1, point);
    for (int i = 0; i < LIMBS; i++)
        x3[i] = x1[i];

    /* x2, z2, x3, z3 are tight before and after every step */
    for (int t = 254; t >= 0; t--) {
        const unsigned bit = k[t / 8] >> t % 8 & 1;
        const uint32_t swap = 0 - (uint32_t)(bit ^ last);
        element a, b, c, d, aa, bb, e;

        last = bit;
        add(a, x2, z2);
        subtract(b, x2, z2);
        add(c, x3, z3);
        subtract(d, x3, z3);
        multiply(x3, d, a); /* da */
        multiply(z3, c, b); /* cb */
        /* the pair that is doubled: (x2, z2), or (x3, z3) when the ladder swaps */
        for (int i = 0; i < LIMBS; i++) {
            a[i] ^= swap & (a[i] ^ c[i]);
            b[i] ^= swap & (b[i] ^ d[i]);
        }
        square(aa, a, 1);
        square(bb, b, 1);
        add(c, x3, z3);
        subtract(d, x3, z3);
        square(x3, c, 1);
        square(d, d, 1);
        multiply(z3, d, x1);
        subtract(e, aa, bb);
        multiply(x2, aa, bb);
        add_multiple(aa, aa, e);
        multiply(z2, e, aa);
    }

    invert(inverse, z2);
    multiply(z2, x2, inverse);
    encode(out, z2);
}
