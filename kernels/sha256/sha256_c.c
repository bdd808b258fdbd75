/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha256"
variant   = "c"
arch      = "any"
provides  = ["blocks"]
requires  = []
priority  = 0
constant_time = true
cites     = ["FIPS 180-4 4.1.2, 4.2.2, 6.2.2"]
*/
/* SHA-256's compression function in portable C.
 *
 * Words are made from bytes, and bytes from words, by shifts only: neither byte order nor alignment of h or data
 * matters. The schedule lives in a ring of 16 words; round t of sixteen uses word t and replaces it, sixteen rounds
 * before it is needed again. The eight working variables are renamed from round to round instead of moved.
 *
 * To review: in SCHEDULE, W[t - 16], W[t - 15], W[t - 7] and W[t - 2] are ring places t, t + 1, t + 9, t + 14 modulo 16.
 * All sums are modulo 2^32. Nothing branches on or indexes by h or data; len is public and a multiple of 64.
 *
 * void sha256_blocks_c(uint8_t h[32], const uint8_t *data, size_t len);
 */
#include <stddef.h>
#include <stdint.h>

enum { WORDS = 8, BLOCK = 64, ROUNDS = 64, RING = 16 };

static const uint32_t K[ROUNDS] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
};

static uint32_t load_little(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t load_big(const uint8_t *bytes)
{
    return (uint32_t)bytes[3] | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[0] << 24;
}

static void store_little(uint8_t *bytes, uint32_t word)
{
    bytes[0] = (uint8_t)word;
    bytes[1] = (uint8_t)(word >> 8);
    bytes[2] = (uint8_t)(word >> 16);
    bytes[3] = (uint8_t)(word >> 24);
}

/* 0 < count < 32. */
static uint32_t rotate_right(uint32_t word, unsigned count)
{
    return word >> count | word << (32 - count);
}

/* FIPS 180-4 4.1.2. Ch takes f where e has ones, else g; Maj takes b unless both a and c differ from it. */
static uint32_t ch(uint32_t e, uint32_t f, uint32_t g)
{
    return g ^ (e & (f ^ g));
}

static uint32_t maj(uint32_t a, uint32_t b, uint32_t c)
{
    return b ^ ((a ^ b) & (b ^ c));
}

static uint32_t big_sigma0(uint32_t a)
{
    return rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
}

static uint32_t big_sigma1(uint32_t e)
{
    return rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
}

static uint32_t small_sigma0(uint32_t w)
{
    return rotate_right(w, 7) ^ rotate_right(w, 18) ^ w >> 3;
}

static uint32_t small_sigma1(uint32_t w)
{
    return rotate_right(w, 17) ^ rotate_right(w, 19) ^ w >> 10;
}

/* 6.2.2 step 3, without the moves: the new a is in h, the new e in d. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                       \
    do {                                                                       \
        h += big_sigma1(e) + ch(e, f, g) + k[t] + w[t];                        \
        d += h;                                                                \
        h += big_sigma0(a) + maj(a, b, c);                                     \
    } while (0)

/* 6.2.2 step 1 for the round sixteen later. */
#define SCHEDULE(t)                                                            \
    (w[t] += small_sigma0(w[((t) + 1) % RING]) + w[((t) + 9) % RING] + small_sigma1(w[((t) + 14) % RING]))

/* Eight rounds bring every variable back to its name. */
#define EIGHT_ROUNDS(t)                                                        \
    do {                                                                       \
        ROUND(a, b, c, d, e, f, g, h, (t) + 0);                                \
        ROUND(h, a, b, c, d, e, f, g, (t) + 1);                                \
        ROUND(g, h, a, b, c, d, e, f, (t) + 2);                                \
        ROUND(f, g, h, a, b, c, d, e, (t) + 3);                                \
        ROUND(e, f, g, h, a, b, c, d, (t) + 4);                                \
        ROUND(d, e, f, g, h, a, b, c, (t) + 5);                                \
        ROUND(c, d, e, f, g, h, a, b, (t) + 6);                                \
        ROUND(b, c, d, e, f, g, h, a, (t) + 7);                                \
    } while (0)

#define FOUR_WORDS(t)                                                          \
    do {                                                                       \
        SCHEDULE(t);                                                           \
        SCHEDULE((t) + 1);                                                     \
        SCHEDULE((t) + 2);                                                     \
        SCHEDULE((t) + 3);                                                     \
    } while (0)

static void compress(uint32_t state[WORDS], const uint8_t *block)
{
    uint32_t w[RING];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    const uint32_t *k = K;
    unsigned i;

    for (i = 0; i < RING; i++)
        w[i] = load_big(block + 4 * i);

    for (;;) {
        EIGHT_ROUNDS(0);
        EIGHT_ROUNDS(8);
        k += RING;
        if (k == K + ROUNDS)
            break;
        FOUR_WORDS(0);
        FOUR_WORDS(4);
        FOUR_WORDS(8);
        FOUR_WORDS(12);
    }

    /* 6.2.2 step 4 */
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void sha256_blocks_c(uint8_t *h, const uint8_t *data, size_t len)
{
    uint32_t state[WORDS];
    size_t done;
    unsigned i;

    for (i = 0; i < WORDS; i++)
        state[i] = load_little(h + 4 * i);
    for (done = 0; done < len; done += BLOCK)
        compress(state, data + done);
    for (i = 0; i < WORDS; i++)
        store_little(h + 4 * i, state[i]);
}
