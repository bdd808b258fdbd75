/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "ghash"
variant   = "nohw32"
arch      = "any"
provides  = ["init", "update"]
requires  = []
priority  = 5
state     = { htable = { bytes = 144, align = 4, layout = "nohw32" } }
constant_time = true
cites     = ["NIST SP 800-38D 6.4", "Pornin, BearSSL constant-time GHASH", "Gueron-Kounavis 2010", "Karatsuba 1962"]
*/
/* GHASH in constant time in C for 32-bit machines: carry-less products out of integer multiplications.
 *
 * An operand of 32 bits is cut into four, each with every fourth bit. In an integer product of two such parts a column is the sum
 * of at most 8 ones and has 4 bits of room, so that its lowest bit is the carry-less answer and nothing reaches the next column.
 * Sixteen products of 32 x 32 -> 64 bits give one carry-less product, nine of those (Karatsuba, twice) the 256-bit product.
 * A block is the 128-bit number of its bytes in big-endian order: bit 127 is the coefficient of x^0. Reflected numbers multiply
 * into a reflected product that lies one bit too low; H is moved up one bit, that is multiplied by x^-1, beforehand instead.
 * Aliasing and alignment: y and data may lie anywhere and are read and written bytewise; the state is aligned to 4.
 * The argument to check: the column bound above, and in reduce() that what is shifted out of a word goes into the word below.
 * Nothing branches on or indexes by H, y or data. It relies on an integer multiplication whose time does not depend on its
 * operands, which some small cores do not have.
 *
 *   void ghash_init_nohw32(const uint8_t h[16], void *htable);
 *   void ghash_update_nohw32(uint8_t y[16], const void *htable, const uint8_t *data, size_t len);
 */
#include <stddef.h>
#include <stdint.h>

enum { BLOCK = 16, PARTS = 9 };

struct spread {
    uint32_t every[4]; /* the bits k, k + 4, k + 8 ... of a word */
};
struct state {
    struct spread h[PARTS]; /* the Karatsuba parts of H x^-1, see parts() */
};
_Static_assert(sizeof(struct state) == 144, "the header states this size");

static inline uint32_t load_be32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
}

static inline void store_be32(uint8_t *bytes, uint32_t word)
{
    bytes[0] = (uint8_t)(word >> 24);
    bytes[1] = (uint8_t)(word >> 16);
    bytes[2] = (uint8_t)(word >> 8);
    bytes[3] = (uint8_t)word;
}

static inline struct spread spread(uint32_t word)
{
    return (struct spread){{word & 0x11111111u, word & 0x22222222u, word & 0x44444444u, word & 0x88888888u}};
}

/* The carry-less product of two words, 63 bits. Each product has columns of at most 8, and sums without carries of such products
 * keep the parity in a column's lowest bit. */
static inline uint64_t multiply32(uint32_t x, const struct spread *b)
{
    const struct spread a = spread(x);
    uint64_t product = 0;
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        uint64_t columns = 0;
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            columns ^= (uint64_t)a.every[i] * b->every[(k - i) & 3];
        product |= columns & (uint64_t)0x1111111111111111u << k;
    }
    return product;
}

/* The nine factors of two levels of Karatsuba: for the low half, the high half and their sum each: low, high, sum. */
static inline void parts(uint32_t part[PARTS], const uint32_t word[4])
{
    part[0] = word[0];
    part[1] = word[1];
    part[3] = word[2];
    part[4] = word[3];
    part[6] = word[0] ^ word[2];
    part[7] = word[1] ^ word[3];
    for (int i = 0; i < PARTS; i += 3)
        part[i + 2] = part[i] ^ part[i + 1];
}

/* The 128-bit carry-less product of two 64-bit halves, least word first. */
static inline void multiply64(uint32_t product[4], const uint32_t part[3], const struct spread h[3])
{
    uint64_t low = multiply32(part[0], &h[0]);
    uint64_t high = multiply32(part[1], &h[1]);
    uint64_t middle = multiply32(part[2], &h[2]) ^ low ^ high;
    product[0] = (uint32_t)low;
    product[1] = (uint32_t)(low >> 32) ^ (uint32_t)middle;
    product[2] = (uint32_t)high ^ (uint32_t)(middle >> 32);
    product[3] = (uint32_t)(high >> 32);
}

/* The upper four words of `z` become the product modulo the polynomial: a word stands for powers of x 128 above those of the
 * fourth word above it, and counts 1 + x + x^2 + x^7 times there. One bit to the right is a factor of x. */
static inline void reduce(uint32_t z[8])
{
    for (int i = 0; i < 4; i++) {
        z[i + 4] ^= z[i] ^ z[i] >> 1 ^ z[i] >> 2 ^ z[i] >> 7;
        z[i + 3] ^= z[i] << 31 ^ z[i] << 30 ^ z[i] << 25;
    }
}

void ghash_init_nohw32(const uint8_t h[16], void *htable)
{
    struct state *state = htable;
    uint32_t part[PARTS], word[4];
    for (int i = 0; i < 4; i++)
        word[3 - i] = load_be32(h + 4 * i);

    /* H x^-1: one bit to the left; x^-1 is x^127 + x^6 + x + 1 */
    uint32_t carry = 0 - (word[3] >> 31);
    for (int i = 3; i; i--)
        word[i] = word[i] << 1 | word[i - 1] >> 31;
    word[0] = word[0] << 1 ^ (carry & 1);
    word[3] ^= carry & 0xc2000000u;

    parts(part, word);
    for (int i = 0; i < PARTS; i++)
        state->h[i] = spread(part[i]);
}

void ghash_update_nohw32(uint8_t y[16], const void *htable, const uint8_t *data, size_t len)
{
    const struct state *state = htable;
    uint32_t word[4];

    for (int i = 0; i < 4; i++)
        word[3 - i] = load_be32(y + 4 * i);
    for (; len; data += BLOCK, len -= BLOCK) {
        uint32_t part[PARTS], low[4], high[4], middle[4], z[8];
        for (int i = 0; i < 4; i++)
            word[3 - i] ^= load_be32(data + 4 * i);
        parts(part, word);
        multiply64(low, part, state->h);
        multiply64(high, part + 3, state->h + 3);
        multiply64(middle, part + 6, state->h + 6);
        for (int i = 0; i < 4; i++) {
            z[i] = low[i];
            z[i + 4] = high[i];
        }
        for (int i = 0; i < 4; i++)
            z[i + 2] ^= middle[i] ^ low[i] ^ high[i];
        reduce(z);
        for (int i = 0; i < 4; i++)
            word[i] = z[i + 4];
    }
    for (int i = 0; i < 4; i++)
        store_be32(y + 4 * i, word[3 - i]);
}
