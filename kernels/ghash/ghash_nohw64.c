/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "ghash"
variant   = "nohw64"
arch      = ["aarch64", "x86_64"]
provides  = ["init", "update"]
requires  = []
priority  = 6
state     = { htable = { bytes = 192, align = 8, layout = "nohw64" } }
constant_time = true
cites     = ["NIST SP 800-38D 6.4", "Pornin, BearSSL constant-time GHASH", "Gueron-Kounavis 2010", "Karatsuba 1962"]
*/
/* GHASH in constant time in C for machines with a 64 x 64 -> 128 bit multiplication: carry-less products out of integer ones.
 *
 * An operand of 64 bits is cut into four, each with every fourth bit. In an integer product of two such parts a column is a sum
 * of ones and has 4 bits of room. Sixteen ones would pass into the next column, so the four lowest bits of H's operand are left
 * out (at most fifteen) and their products, which are only shifts, are added under masks.
 * Three carry-less products (Karatsuba) make the 256-bit product of the block and H.
 * A block is the 128-bit number of its bytes in big-endian order: bit 127 is the coefficient of x^0. Reflected numbers multiply
 * into a reflected product that lies one bit too low; H is moved up one bit, that is multiplied by x^-1, beforehand instead.
 * Aliasing and alignment: y and data may lie anywhere and are read and written bytewise; the state is aligned to 8.
 * The argument to check: the column bound above, and in reduce() that what is shifted out of a word goes into the word below.
 * Nothing branches on or indexes by H, y or data. It relies on an integer multiplication whose time does not depend on its
 * operands.
 *
 *   void ghash_init_nohw64(const uint8_t h[16], void *htable);
 *   void ghash_update_nohw64(uint8_t y[16], const void *htable, const uint8_t *data, size_t len);
 */
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 wide;

enum { BLOCK = 16 };

struct factor {
    uint64_t every[4]; /* the bits k, k + 4, k + 8 ... of a word, but not its lowest four bits */
    uint64_t mask[4];  /* all ones where the lowest bits 0 to 3 of the word are set */
};
struct state {
    struct factor low, high, sum; /* of H x^-1 and of the sum of its halves */
};
_Static_assert(sizeof(struct state) == 192, "the header states this size");

static inline uint64_t load_be64(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] << 56 | (uint64_t)bytes[1] << 48 | (uint64_t)bytes[2] << 40 | (uint64_t)bytes[3] << 32 |
           (uint64_t)bytes[4] << 24 | (uint64_t)bytes[5] << 16 | (uint64_t)bytes[6] << 8 | (uint64_t)bytes[7];
}

static inline void store_be64(uint8_t *bytes, uint64_t word)
{
    bytes[0] = (uint8_t)(word >> 56);
    bytes[1] = (uint8_t)(word >> 48);
    bytes[2] = (uint8_t)(word >> 40);
    bytes[3] = (uint8_t)(word >> 32);
    bytes[4] = (uint8_t)(word >> 24);
    bytes[5] = (uint8_t)(word >> 16);
    bytes[6] = (uint8_t)(word >> 8);
    bytes[7] = (uint8_t)word;
}

static inline uint64_t every_fourth(uint64_t word, int k)
{
    return word & (uint64_t)0x1111111111111111u << k;
}

static struct factor factor(uint64_t word)
{
    struct factor factor;
    for (int k = 0; k < 4; k++) {
        factor.every[k] = every_fourth(word & ~(uint64_t)15, k);
        factor.mask[k] = 0 - (word >> k & 1);
    }
    return factor;
}

/* The carry-less product of two words, 127 bits. Columns are at most 15, and sums without carries of such products keep the parity
 * in a column's lowest bit. */
static inline wide multiply64(uint64_t x, const struct factor *h)
{
    uint64_t every[4], low = 0, high = 0;
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        every[k] = every_fourth(x, k);
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        wide columns = 0;
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            columns ^= (wide)every[i] * h->every[(k - i) & 3];
        low |= every_fourth((uint64_t)columns, k);
        high |= every_fourth((uint64_t)(columns >> 64), k);
    }
    low ^= (x & h->mask[0]) ^ (x << 1 & h->mask[1]) ^ (x << 2 & h->mask[2]) ^ (x << 3 & h->mask[3]);
    high ^= (x >> 63 & h->mask[1]) ^ (x >> 62 & h->mask[2]) ^ (x >> 61 & h->mask[3]);
    return (wide)high << 64 | low;
}

/* The upper two words of `z` become the product modulo the polynomial: a word stands for powers of x 128 above those of the
 * second word above it, and counts 1 + x + x^2 + x^7 times there. One bit to the right is a factor of x. */
static inline void reduce(uint64_t z[4])
{
    for (int i = 0; i < 2; i++) {
        z[i + 2] ^= z[i] ^ z[i] >> 1 ^ z[i] >> 2 ^ z[i] >> 7;
        z[i + 1] ^= z[i] << 63 ^ z[i] << 62 ^ z[i] << 57;
    }
}

void ghash_init_nohw64(const uint8_t h[16], void *htable)
{
    struct state *state = htable;
    uint64_t high = load_be64(h), low = load_be64(h + 8);

    /* H x^-1: one bit to the left; x^-1 is x^127 + x^6 + x + 1 */
    uint64_t carry = 0 - (high >> 63);
    high = (high << 1 | low >> 63) ^ (carry & 0xc200000000000000u);
    low = low << 1 ^ (carry & 1);

    state->low = factor(low);
    state->high = factor(high);
    state->sum = factor(low ^ high);
}

void ghash_update_nohw64(uint8_t y[16], const void *htable, const uint8_t *data, size_t len)
{
    const struct state *state = htable;
    uint64_t high = load_be64(y), low = load_be64(y + 8);

    for (; len; data += BLOCK, len -= BLOCK) {
        high ^= load_be64(data);
        low ^= load_be64(data + 8);
        wide upper = multiply64(high, &state->high);
        wide lower = multiply64(low, &state->low);
        wide middle = multiply64(high ^ low, &state->sum) ^ upper ^ lower;
        uint64_t z[4] = {
            (uint64_t)lower,
            (uint64_t)(lower >> 64) ^ (uint64_t)middle,
            (uint64_t)upper ^ (uint64_t)(middle >> 64),
            (uint64_t)(upper >> 64),
        };
        reduce(z);
        low = z[2];
        high = z[3];
    }
    store_be64(y, high);
    store_be64(y + 8, low);
}
