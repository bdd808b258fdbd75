/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "ghash"
variant   = "table"
arch      = "any"
provides  = ["init", "update"]
requires  = []
priority  = 0
state     = { htable = { bytes = 512, align = 8, layout = "table" } }
constant_time = false
cites     = ["NIST SP 800-38D 6.4", "Shoup 1996", "McGrew-Viega 2004"]
*/
/* GHASH with two tables of 16 multiples of H each (Shoup's 4-bit tables), for the two nibbles of a byte. Not constant time: the
 * tables are indexed by nibbles of y ^ block, and the table of remainders by the byte that is shifted out.
 *
 * A block is the 128-bit number of its bytes in big-endian order, so that bit 127 is the coefficient of x^0 and multiplication
 * by x is a shift to the right; x^128 comes back as 1 + x + x^2 + x^7 = 0xe1 << 120.
 * Aliasing and alignment: y and data may lie anywhere and are read and written bytewise; the state is aligned to 8.
 * The argument to check: the bytes are taken from the highest powers of x down, and a nibble's bit 3 is its lowest power.
 *
 *   void ghash_init_table(const uint8_t h[16], void *htable);
 *   void ghash_update_table(uint8_t y[16], const void *htable, const uint8_t *data, size_t len);
 */
#include <stddef.h>
#include <stdint.h>

typedef size_t word; /* 32 or 64 bits, as the machine has them */
enum { BLOCK = 16, WORD = sizeof(word), WORDS = BLOCK / WORD, BITS = 8 * WORD };

struct element {
    word part[WORDS]; /* the lowest first; x^0 is the highest bit of the last */
};
struct state {
    struct element high[16]; /* n H for each nibble n, whose bit 3 is x^0 and bit 0 is x^3 */
    struct element low[16];  /* n H x^4 */
};
_Static_assert(sizeof(struct state) == 512, "the header states this size");

/* What the eight coefficients of x^128 (bit 7) to x^135 (bit 0) are worth in the top 16 bits: times 1 + x + x^2 + x^7. */
#define WORTH(b) (b) << 8 ^ (b) << 7 ^ (b) << 6 ^ (b) << 1
#define FOUR(b) WORTH(b), WORTH((b) + 1), WORTH((b) + 2), WORTH((b) + 3)
#define SIXTEEN(b) FOUR(b), FOUR((b) + 4), FOUR((b) + 8), FOUR((b) + 12)
#define SIXTY_FOUR(b) SIXTEEN(b), SIXTEEN((b) + 16), SIXTEEN((b) + 32), SIXTEEN((b) + 48)
static const uint16_t worth[256] = {SIXTY_FOUR(0), SIXTY_FOUR(64), SIXTY_FOUR(128), SIXTY_FOUR(192)};

static inline struct element load(const uint8_t *block)
{
    struct element element = {{0}};
#pragma GCC unroll 16
    for (int i = 0; i < BLOCK; i++)
        element.part[WORDS - 1 - i / WORD] |= (word)block[i] << (BITS - 8 - 8 * (i % WORD));
    return element;
}

static inline struct element sum(struct element a, const struct element *b)
{
#pragma GCC unroll 4
    for (int k = 0; k < WORDS; k++)
        a.part[k] ^= b->part[k];
    return a;
}

/* The element times x^count, without what falls out. */
static inline struct element shifted(struct element a, int count)
{
#pragma GCC unroll 4
    for (int k = 0; k < WORDS; k++)
        a.part[k] = a.part[k] >> count | (k + 1 < WORDS ? a.part[k + 1] << (BITS - count) : 0);
    return a;
}

/* multiple[n] = n times an element, which is returned times x^4. */
static struct element fill(struct element multiple[16], struct element element)
{
    multiple[0] = (struct element){{0}};
    for (int bit = 8; bit; bit >>= 1) {
        word carry = 0 - (element.part[0] & 1);
        multiple[bit] = element;
        element = shifted(element, 1);
        element.part[WORDS - 1] ^= carry & (word)0xe1 << (BITS - 8);
    }
    for (int bit = 2; bit < 16; bit <<= 1)
        for (int n = 1; n < bit; n++)
            multiple[bit + n] = sum(multiple[bit], &multiple[n]);
    return element;
}

void ghash_init_table(const uint8_t h[16], void *htable)
{
    struct state *state = htable;
    fill(state->low, fill(state->high, load(h)));
}

/* The multiple that belongs to the nibble in bits 4 to 7 of `bits`: an element has 16 bytes. */
static inline const struct element *entry(const struct element multiple[16], word bits)
{
    return (const struct element *)((const uint8_t *)multiple + (bits & 0xf0));
}

void ghash_update_table(uint8_t y[16], const void *htable, const uint8_t *data, size_t len)
{
    const struct state *state = htable;
    struct element z = load(y);

    for (; len; data += BLOCK, len -= BLOCK) {
        const struct element block = load(data), x = sum(z, &block);
        z = (struct element){{0}};
#pragma GCC unroll 16
        for (int i = 0; i < BLOCK; i++) { /* z = z x^8 + byte * H, the last byte first */
            word bits = x.part[i / WORD] >> 8 * (i % WORD), out = worth[z.part[0] & 0xff];
            z = shifted(z, 8);
            z.part[WORDS - 1] ^= out << (BITS - 16);
            z = sum(sum(z, entry(state->low, bits << 4)), entry(state->high, bits));
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < BLOCK; i++)
        y[i] = (uint8_t)(z.part[WORDS - 1 - i / WORD] >> (BITS - 8 - 8 * (i % WORD)));
}
