/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "x25519"
variant   = "c64"
arch      = ["aarch64", "x86_64"]
provides  = ["scalarmult"]
requires  = []
priority  = 5
constant_time = true
cites     = ["RFC 7748 5", "Bernstein 2006"]
*/
/* X25519 in C for machines with a 64 x 64 -> 128 bit multiplication.
 *
 * Numbers modulo p = 2^255 - 19 are five limbs in radix 2^51, f = f0 + f1 2^51 + ... + f4 2^204; what passes 2^255 comes back
 * times 19. Two kinds of bounds:
 *     tight: limb 1 < 2^51 + 2^13, the others < 2^51    (every product, and the decoded point)
 *     loose: limbs < 2^53                               (sums and differences of tight numbers; multiplications take them)
 * The Montgomery ladder of RFC 7748 swaps (x2, z2) and (x3, z3). Its sum is symmetric in the two, so it is enough to select
 * which of them is doubled. The last bit of a clamped scalar is 0, so nothing is left to swap at the end.
 * Aliasing and alignment: out, scalar and point may lie anywhere and are read or written bytewise; out may be scalar or point.
 * The argument to check: the bounds in multiply and carry (no 128-bit sum overflows, 19 times the last carry fits 64 bits), and
 * that every carry is carried on, however rare.
 * Nothing branches on or indexes by scalar or point.
 *
 *   void x25519_scalarmult_c64(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32]);
 */
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 wide;

enum { LIMBS = 5, BITS = 51, BYTES = 32, A24 = 121665 };
static const uint64_t MASK = ((uint64_t)1 << BITS) - 1;

typedef uint64_t element[LIMBS];

static uint64_t load_le64(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24 |
           (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 | (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

static void store_le64(uint8_t *bytes, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
}

/* Tight: the mask of the last limb drops bit 255. */
static void decode(element out, const uint8_t bytes[BYTES])
{
    out[0] = load_le64(bytes) & MASK;            /* bits 0..50 */
    out[1] = load_le64(bytes + 6) >> 3 & MASK;   /* 51..101 */
    out[2] = load_le64(bytes + 12) >> 6 & MASK;  /* 102..152 */
    out[3] = load_le64(bytes + 19) >> 1 & MASK;  /* 153..203 */
    out[4] = load_le64(bytes + 24) >> 12 & MASK; /* 204..254 */
}

/* The bytes of a tight number, fully reduced. */
static void encode(uint8_t bytes[BYTES], const element in)
{
    uint64_t f0 = in[0], f1 = in[1], f2 = in[2], f3 = in[3], f4 = in[4], q;

    /* in < 2^255 + 2^65 < 2p, and q becomes 1 exactly when in + 19 >= 2^255, that is when in >= p */
    q = (f0 + 19) >> BITS; /* <= 1, as all that follow */
    q = (f1 + q) >> BITS;
    q = (f2 + q) >> BITS;
    q = (f3 + q) >> BITS;
    q = (f4 + q) >> BITS;

    /* in - p q = in + 19 q - 2^255 q */
    f0 += 19 * q;
    f1 += f0 >> BITS;
    f0 &= MASK;
    f2 += f1 >> BITS;
    f1 &= MASK;
    f3 += f2 >> BITS;
    f2 &= MASK;
    f4 += f3 >> BITS;
    f3 &= MASK;
    f4 &= MASK; /* drops 2^255 q */

    store_le64(bytes, f0 | f1 << 51);
    store_le64(bytes + 8, f1 >> 13 | f2 << 38);
    store_le64(bytes + 16, f2 >> 26 | f3 << 25);
    store_le64(bytes + 24, f3 >> 39 | f4 << 12);
}

/* f + g: two tight numbers give limbs < 2^52 + 2^14, loose. */
static inline void add(element out, const element f, const element g)
{
    for (int i = 0; i < LIMBS; i++)
        out[i] = f[i] + g[i];
}

/* f + 2p - g: two tight numbers give limbs > 0, < 2^51 + 2^13 + 2^52, loose; 2p = (2^52 - 38) + (2^52 - 2) 2^51 + ... */
static inline void subtract(element out, const element f, const element g)
{
    out[0] = f[0] + (2 * (MASK + 1) - 38) - g[0];
    for (int i = 1; i < LIMBS; i++)
        out[i] = f[i] + (2 * (MASK + 1) - 2) - g[i];
}

/* Columns < 2^113, the last < 2^109, to a tight number. */
static inline void carry(element out, wide h0, wide h1, wide h2, wide h3, wide h4)
{
    uint64_t f0, f1;

    h1 += (uint64_t)(h0 >> BITS); /* < 2^62 carried */
    h2 += (uint64_t)(h1 >> BITS); /* < 2^63 */
    h3 += (uint64_t)(h2 >> BITS); /* < 2^63 */
    h4 += (uint64_t)(h3 >> BITS); /* < 2^63, so h4 < 2^110 */
    f0 = ((uint64_t)h0 & MASK) + 19 * (uint64_t)(h4 >> BITS); /* < 2^51 + 19 * 2^59 < 2^64 */
    f1 = ((uint64_t)h1 & MASK) + (f0 >> BITS);                /* < 2^51 + 2^13 */
    out[0] = f0 & MASK;
    out[1] = f1;
    out[2] = (uint64_t)h2 & MASK;
    out[3] = (uint64_t)h3 & MASK;
    out[4] = (uint64_t)h4 & MASK;
}

/* f g: two loose numbers give a tight one. Column k has k + 1 plain products and 4 - k times 19, each product < 2^106. */
static void multiply(element out, const element f, const element g)
{
    const uint64_t f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3], f4 = f[4];
    const uint64_t g0 = g[0], g1 = g[1], g2 = g[2], g3 = g[3], g4 = g[4];
    const uint64_t g1x19 = 19 * g1, g2x19 = 19 * g2, g3x19 = 19 * g3, g4x19 = 19 * g4; /* < 2^58 */
    wide h0, h1, h2, h3, h4;

    h0 = (wide)f0 * g0 + (wide)f1 * g4x19 + (wide)f2 * g3x19 + (wide)f3 * g2x19 + (wide)f4 * g1x19; /* < 77 * 2^106 < 2^113 */
    h1 = (wide)f0 * g1 + (wide)f1 * g0 + (wide)f2 * g4x19 + (wide)f3 * g3x19 + (wide)f4 * g2x19;    /* < 59 * 2^106 */
    h2 = (wide)f0 * g2 + (wide)f1 * g1 + (wide)f2 * g0 + (wide)f3 * g4x19 + (wide)f4 * g3x19;       /* < 41 * 2^106 */
    h3 = (wide)f0 * g3 + (wide)f1 * g2 + (wide)f2 * g1 + (wide)f3 * g0 + (wide)f4 * g4x19;          /* < 23 * 2^106 */
    h4 = (wide)f0 * g4 + (wide)f1 * g3 + (wide)f2 * g2 + (wide)f3 * g1 + (wide)f4 * g0;             /* < 5 * 2^106 < 2^109 */
    carry(out, h0, h1, h2, h3, h4);
}

/* f^(2^times), times > 0: a loose number gives a tight one. The columns of multiply, equal products taken together. */
static void square(element out, const element f, unsigned times)
{
    for (const uint64_t *in = f; times != 0; times--, in = out) {
        const uint64_t f0 = in[0], f1 = in[1], f2 = in[2], f3 = in[3], f4 = in[4];
        const uint64_t f0x2 = 2 * f0, f1x2 = 2 * f1, f2x2 = 2 * f2; /* < 2^54 */
        const uint64_t f3x19 = 19 * f3, f4x19 = 19 * f4;            /* < 2^58 */
        wide h0, h1, h2, h3, h4;

        h0 = (wide)f0 * f0 + (wide)f1x2 * f4x19 + (wide)f2x2 * f3x19;
        h1 = (wide)f0x2 * f1 + (wide)f2x2 * f4x19 + (wide)f3 * f3x19;
        h2 = (wide)f0x2 * f2 + (wide)f1 * f1 + (wide)(2 * f3) * f4x19;
        h3 = (wide)f0x2 * f3 + (wide)f1x2 * f2 + (wide)f4 * f4x19;
        h4 = (wide)f0x2 * f4 + (wide)f1x2 * f3 + (wide)f2 * f2;
        carry(out, h0, h1, h2, h3, h4);
    }
}

/* f + A24 g: f tight and g loose give a tight number. */
static void add_multiple(element out, const element f, const element g)
{
    carry(out, f[0] + (wide)g[0] * A24, f[1] + (wide)g[1] * A24, f[2] + (wide)g[2] * A24, f[3] + (wide)g[3] * A24,
          f[4] + (wide)g[4] * A24); /* < 2^51 + 2^13 + 2^70 */
}

/* f^(p - 2) = 1 / f, and 0 for 0; p - 2 = 2^255 - 21. In the names, a_b is f^(2^a - 2^b). */
static void invert(element out, const element f)
{
    element f2, f9, f11, f5_0, f10_0, f20_0, f50_0, f100_0, t;

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
    multiply(t, t, f20_0); /* 40_0 */
    square(t, t, 10);
    multiply(f50_0, t, f10_0);
    square(t, f50_0, 50);
    multiply(f100_0, t, f50_0);
    square(t, f100_0, 100);
    multiply(t, t, f100_0); /* 200_0 */
    square(t, t, 50);
    multiply(t, t, f50_0); /* 250_0 */
    square(t, t, 5);       /* 255_5 */
    multiply(out, t, f11); /* 2^255 - 2^5 + 11 */
}

void x25519_scalarmult_c64(uint8_t out[BYTES], const uint8_t scalar[BYTES], const uint8_t point[BYTES])
{
    element x1, x2 = { 1 }, z2 = { 0 }, x3, z3 = { 1 };
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
        const uint64_t swap = 0 - (uint64_t)(bit ^ last);
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

    invert(z2, z2);
    multiply(x2, x2, z2);
    encode(out, x2);
}
