/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha1"
variant   = "c"
arch      = "any"
provides  = ["blocks"]
requires  = []
priority  = 0
constant_time = true
cites     = ["FIPS 180-4 4.1.1, 4.2.1, 6.1.2"]
*/
/* SHA-1's compression function in portable C.
 *
 * Words are made from bytes, and bytes from words, by shifts only: neither byte order nor alignment of h or data
 * matters. The schedule lives in a ring of 16 words, made just before its round. The five working variables are renamed
 * from round to round instead of moved, so they are back at their names after five rounds and after the twenty of each
 * function.
 *
 * To review: in word(), W[t - 16], W[t - 14], W[t - 8] and W[t - 3] are ring places t, t + 2, t + 8, t + 13 modulo 16.
 * All sums are modulo 2^32. Nothing branches on or indexes by h or data; len is public and a multiple of 64.
 *
 * void sha1_blocks_c(uint8_t h[20], const uint8_t *data, size_t len);
 */
#include <stddef.h>
#include <stdint.h>

#include "shared/bytes.h"

enum { WORDS = 5, BLOCK = 64, RING = 16 };

/* 0 < count < 32. */
static inline uint32_t rotate_left(uint32_t word, unsigned count)
{
    return word << count | word >> (32 - count);
}

/* FIPS 180-4 4.1.1. In maj the two terms have no common bits, so that their sum may be taken apart. */
static inline uint32_t ch(uint32_t b, uint32_t c, uint32_t d)
{
    return d ^ (b & (c ^ d));
}

static inline uint32_t parity(uint32_t b, uint32_t c, uint32_t d)
{
    return b ^ c ^ d;
}

static inline uint32_t maj(uint32_t b, uint32_t c, uint32_t d)
{
    return (c & d) + (b & (c ^ d));
}

/* 6.1.2 step 1: the words of the message as they are, then each from four before it. */
static inline uint32_t word(uint32_t w[RING], unsigned t)
{
    if (t >= RING)
        w[t % RING] = rotate_left(w[(t + 13) % RING] ^ w[(t + 8) % RING] ^ w[(t + 2) % RING] ^ w[t % RING], 1);
    return w[t % RING];
}

/* 6.1.2 step 3, without the moves: the new a is in e, the new c in b. */
#define ROUND(f, k, a, b, c, d, e, t)                                          \
    do {                                                                       \
        e += rotate_left(a, 5) + f(b, c, d) + (k) + word(w, t);                \
        b = rotate_left(b, 30);                                                \
    } while (0)

#define FIVE_ROUNDS(f, k, t)                                                   \
    do {                                                                       \
        ROUND(f, k, a, b, c, d, e, (t) + 0);                                   \
        ROUND(f, k, e, a, b, c, d, (t) + 1);                                   \
        ROUND(f, k, d, e, a, b, c, (t) + 2);                                   \
        ROUND(f, k, c, d, e, a, b, (t) + 3);                                   \
        ROUND(f, k, b, c, d, e, a, (t) + 4);                                   \
    } while (0)

#define TWENTY_ROUNDS(f, k, t)                                                 \
    do {                                                                       \
        FIVE_ROUNDS(f, k, (t) + 0);                                            \
        FIVE_ROUNDS(f, k, (t) + 5);                                            \
        FIVE_ROUNDS(f, k, (t) + 10);                                           \
        FIVE_ROUNDS(f, k, (t) + 15);                                           \
    } while (0)

static void compress(uint32_t state[WORDS], const uint8_t *block)
{
    uint32_t w[RING];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    unsigned i;

    for (i = 0; i < RING; i++)
        w[i] = load_be32(block + 4 * i);

    TWENTY_ROUNDS(ch, 0x5a827999u, 0);
    TWENTY_ROUNDS(parity, 0x6ed9eba1u, 20);
    TWENTY_ROUNDS(maj, 0x8f1bbcdcu, 40);
    TWENTY_ROUNDS(parity, 0xca62c1d6u, 60);

    /* 6.1.2 step 4 */
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void sha1_blocks_c(uint8_t *h, const uint8_t *data, size_t len)
{
    uint32_t state[WORDS];
    size_t done;
    unsigned i;

    for (i = 0; i < WORDS; i++)
        state[i] = load_le32(h + 4 * i);
    for (done = 0; done < len; done += BLOCK)
        compress(state, data + done);
    for (i = 0; i < WORDS; i++)
        store_le32(h + 4 * i, state[i]);
}
