/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha512"
variant   = "c"
arch      = "any"
provides  = ["blocks"]
requires  = []
priority  = 0
constant_time = true
cites     = ["FIPS 180-4 4.1.3, 4.2.3, 6.4.2"]
*/
/* SHA-512's compression function in portable C; on 32-bit machines the compiler makes two words of each.
 *
 * Words are made from bytes, and bytes from words, by shifts only: neither byte order nor alignment of h or data
 * matters. The schedule lives in a ring of 16 words; round t of sixteen uses word t and replaces it, sixteen rounds
 * before it is needed again. The eight working variables are renamed from round to round instead of moved.
 *
 * To review: in SCHEDULE, W[t - 16], W[t - 15], W[t - 7] and W[t - 2] are ring places t, t + 1, t + 9, t + 14 modulo 16.
 * All sums are modulo 2^64. Nothing branches on or indexes by h or data; len is public and a multiple of 128.
 *
 * void sha512_blocks_c(uint8_t h[64], const uint8_t *data, size_t len);
 */
#include <stddef.h>
#include <stdint.h>

enum { WORDS = 8, BLOCK = 128, ROUNDS = 80, RING = 16 };

static const uint64_t K[ROUNDS] = {
    0x428a2f98d728ae22u, 0x7137449123ef65cdu, 0xb5c0fbcfec4d3b2fu, 0xe9b5dba58189dbbcu,
    0x3956c25bf348b538u, 0x59f111f1b605d019u, 0x923f82a4af194f9bu, 0xab1c5ed5da6d8118u,
    0xd807aa98a3030242u, 0x12835b0145706fbeu, 0x243185be4ee4b28cu, 0x550c7dc3d5ffb4e2u,
    0x72be5d74f27b896fu, 0x80deb1fe3b1696b1u, 0x9bdc06a725c71235u, 0xc19bf174cf692694u,
    0xe49b69c19ef14ad2u, 0xefbe4786384f25e3u, 0x0fc19dc68b8cd5b5u, 0x240ca1cc77ac9c65u,
    0x2de92c6f592b0275u, 0x4a7484aa6ea6e483u, 0x5cb0a9dcbd41fbd4u, 0x76f988da831153b5u,
    0x983e5152ee66dfabu, 0xa831c66d2db43210u, 0xb00327c898fb213fu, 0xbf597fc7beef0ee4u,
    0xc6e00bf33da88fc2u, 0xd5a79147930aa725u, 0x06ca6351e003826fu, 0x142929670a0e6e70u,
    0x27b70a8546d22ffcu, 0x2e1b21385c26c926u, 0x4d2c6dfc5ac42aedu, 0x53380d139d95b3dfu,
    0x650a73548baf63deu, 0x766a0abb3c77b2a8u, 0x81c2c92e47edaee6u, 0x92722c851482353bu,
    0xa2bfe8a14cf10364u, 0xa81a664bbc423001u, 0xc24b8b70d0f89791u, 0xc76c51a30654be30u,
    0xd192e819d6ef5218u, 0xd69906245565a910u, 0xf40e35855771202au, 0x106aa07032bbd1b8u,
    0x19a4c116b8d2d0c8u, 0x1e376c085141ab53u, 0x2748774cdf8eeb99u, 0x34b0bcb5e19b48a8u,
    0x391c0cb3c5c95a63u, 0x4ed8aa4ae3418acbu, 0x5b9cca4f7763e373u, 0x682e6ff3d6b2b8a3u,
    0x748f82ee5defb2fcu, 0x78a5636f43172f60u, 0x84c87814a1f0ab72u, 0x8cc702081a6439ecu,
    0x90befffa23631e28u, 0xa4506cebde82bde9u, 0xbef9a3f7b2c67915u, 0xc67178f2e372532bu,
    0xca273eceea26619cu, 0xd186b8c721c0c207u, 0xeada7dd6cde0eb1eu, 0xf57d4f7fee6ed178u,
    0x06f067aa72176fbau, 0x0a637dc5a2c898a6u, 0x113f9804bef90daeu, 0x1b710b35131c471bu,
    0x28db77f523047d84u, 0x32caab7b40c72493u, 0x3c9ebe0a15c9bebcu, 0x431d67c49c100d4cu,
    0x4cc5d4becb3e42b6u, 0x597f299cfc657e2au, 0x5fcb6fab3ad6faecu, 0x6c44198c4a475817u,
};

static uint32_t load_little_half(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t load_big_half(const uint8_t *bytes)
{
    return (uint32_t)bytes[3] | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[0] << 24;
}

static uint64_t load_little(const uint8_t *bytes)
{
    return load_little_half(bytes) | (uint64_t)load_little_half(bytes + 4) << 32;
}

static uint64_t load_big(const uint8_t *bytes)
{
    return load_big_half(bytes + 4) | (uint64_t)load_big_half(bytes) << 32;
}

static void store_little(uint8_t *bytes, uint64_t word)
{
    unsigned i;

    for (i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
}

/* 0 < count < 64. */
static uint64_t rotate_right(uint64_t word, unsigned count)
{
    return word >> count | word << (64 - count);
}

/* FIPS 180-4 4.1.3. Ch takes f where e has ones, else g; Maj takes b unless both a and c differ from it. */
static uint64_t ch(uint64_t e, uint64_t f, uint64_t g)
{
    return g ^ (e & (f ^ g));
}

static uint64_t maj(uint64_t a, uint64_t b, uint64_t c)
{
    return b ^ ((a ^ b) & (b ^ c));
}

static uint64_t big_sigma0(uint64_t a)
{
    return rotate_right(a, 28) ^ rotate_right(a, 34) ^ rotate_right(a, 39);
}

static uint64_t big_sigma1(uint64_t e)
{
    return rotate_right(e, 14) ^ rotate_right(e, 18) ^ rotate_right(e, 41);
}

static uint64_t small_sigma0(uint64_t w)
{
    return rotate_right(w, 1) ^ rotate_right(w, 8) ^ w >> 7;
}

static uint64_t small_sigma1(uint64_t w)
{
    return rotate_right(w, 19) ^ rotate_right(w, 61) ^ w >> 6;
}

/* 6.4.2 step 3, without the moves: the new a is in h, the new e in d. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                       \
    do {                                                                       \
        h += big_sigma1(e) + ch(e, f, g) + k[t] + w[t];                        \
        d += h;                                                                \
        h += big_sigma0(a) + maj(a, b, c);                                     \
    } while (0)

/* 6.4.2 step 1 for the round sixteen later. */
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

static void compress(uint64_t state[WORDS], const uint8_t *block)
{
    uint64_t w[RING];
    uint64_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint64_t e = state[4], f = state[5], g = state[6], h = state[7];
    const uint64_t *k = K;
    unsigned i;

    for (i = 0; i < RING; i++)
        w[i] = load_big(block + 8 * i);

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

    /* 6.4.2 step 4 */
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void sha512_blocks_c(uint8_t *h, const uint8_t *data, size_t len)
{
    uint64_t state[WORDS];
    size_t done;
    unsigned i;

    for (i = 0; i < WORDS; i++)
        state[i] = load_little(h + 8 * i);
    for (done = 0; done < len; done += BLOCK)
        compress(state, data + done);
    for (i = 0; i < WORDS; i++)
        store_little(h + 8 * i, state[i]);
}
