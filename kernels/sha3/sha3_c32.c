/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha3"
variant   = "c32"
arch      = ["arm32", "x86"]
provides  = ["init", "absorb", "pad", "squeeze"]
requires  = []
priority  = 5
state     = { ctx = { bytes = 208, align = 8, layout = "interleaved" } }
constant_time = true
cites     = ["FIPS 202", "Bertoni et al., Keccak implementation overview 2.1, 2.2"]
*/
/* The sponge of FIPS 202 in portable C for 32-bit machines, with interleaved bits.
 *
 * A lane is two words, its bits of even and of odd number. A lane rotated by 2n is both words rotated by n; rotated by
 * 2n + 1 it is the odd word rotated by n + 1 as the new even one, and the even word rotated by n as the new odd one. Bytes are
 * interleaved on their way in and out. Lane A[x, y] is words 2 (5y + x) and the next. A round reads one array and writes the
 * other, row by row, as in c64.
 * Aliasing and alignment: data and out may lie anywhere and are read or written bytewise; the state is aligned to 8.
 * The argument to check: the rotations, where the offsets of rho stand as in the standard and EVEN and ODD take them apart;
 * and `at`: it is below rate between calls of absorb, and equal to rate where a permutation is due before the next byte comes
 * out, so that neither an empty piece nor an end exactly at the rate permutes twice or never.
 * Nothing branches on or indexes by data; lengths, rate and `at` are public.
 * Counted with gcc 12 -O2, instructions per byte of SHA3-256 over 16 KiB: arm32 110, x86 140; OpenSSL arm32 65.5 (assembly),
 * x86 141.
 *
 *   void sha3_init_c32(void *ctx);
 *   void sha3_absorb_c32(void *ctx, const uint8_t *data, size_t len, uint32_t rate);
 *   void sha3_pad_c32(void *ctx, uint32_t rate, uint32_t suffix);
 *   void sha3_squeeze_c32(void *ctx, uint8_t *out, size_t len, uint32_t rate);
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WORDS = 50, ROUNDS = 24 };

struct state {
    uint32_t word[WORDS];
    uint32_t at; /* where the next byte goes in or comes from, 0..rate */
    uint32_t unused;
};
_Static_assert(sizeof(struct state) == 208, "the header states this size");

/* FIPS 202 3.2.5: RC[i], i = 0..23, bits of even number and bits of odd number. */
static const uint32_t round_constants[ROUNDS][2] = {
    { 0x00000001, 0x00000000 }, { 0x00000000, 0x00000089 }, { 0x00000000, 0x8000008b }, { 0x00000000, 0x80008080 },
    { 0x00000001, 0x0000008b }, { 0x00000001, 0x00008000 }, { 0x00000001, 0x80008088 }, { 0x00000001, 0x80000082 },
    { 0x00000000, 0x0000000b }, { 0x00000000, 0x0000000a }, { 0x00000001, 0x00008082 }, { 0x00000000, 0x00008003 },
    { 0x00000001, 0x0000808b }, { 0x00000001, 0x8000000b }, { 0x00000001, 0x8000008a }, { 0x00000001, 0x80000081 },
    { 0x00000000, 0x80000081 }, { 0x00000000, 0x80000008 }, { 0x00000000, 0x00000083 }, { 0x00000000, 0x80008003 },
    { 0x00000001, 0x80008088 }, { 0x00000000, 0x80000088 }, { 0x00000001, 0x00008000 }, { 0x00000000, 0x80008082 },
};

static inline uint32_t rotate(uint32_t word, unsigned count)
{
    return word << count | word >> ((32 - count) % 32);
}

/* The halves of the lane (even, odd) rotated by r. */
#define EVEN(even, odd, r) ((r) % 2 ? rotate(odd, ((r) + 1) / 2 % 32) : rotate(even, (r) / 2))
#define ODD(even, odd, r) ((r) % 2 ? rotate(even, (r) / 2) : rotate(odd, (r) / 2))

/* A half of the lane that rho and pi (3.2.2, 3.2.3) bring to column x of row y: the old lane has column x + 3y and row x. */
#define MOVED(half, x, y, r)                                                                                 \
    half(from[2 * (((x) + 3 * (y)) % 5 + 5 * (x))] ^ d[((x) + 3 * (y)) % 5][0],                              \
         from[2 * (((x) + 3 * (y)) % 5 + 5 * (x)) + 1] ^ d[((x) + 3 * (y)) % 5][1], r)

/* One half of row y of `to`; then chi (3.2.4), which does not mix bits. */
#define HALF_ROW(half, which, y, r0, r1, r2, r3, r4, constant)  \
    do {                                                        \
        const uint32_t b0 = MOVED(half, 0, y, r0);              \
        const uint32_t b1 = MOVED(half, 1, y, r1);              \
        const uint32_t b2 = MOVED(half, 2, y, r2);              \
        const uint32_t b3 = MOVED(half, 3, y, r3);              \
        const uint32_t b4 = MOVED(half, 4, y, r4);              \
        to[10 * (y) + 0 + which] = b0 ^ (~b1 & b2) ^ (constant); \
        to[10 * (y) + 2 + which] = b1 ^ (~b2 & b3);             \
        to[10 * (y) + 4 + which] = b2 ^ (~b3 & b4);             \
        to[10 * (y) + 6 + which] = b3 ^ (~b4 & b0);             \
        to[10 * (y) + 8 + which] = b4 ^ (~b0 & b1);             \
    } while (0)
#define ROW(y, r0, r1, r2, r3, r4, even_constant, odd_constant)     \
    do {                                                            \
        HALF_ROW(EVEN, 0, y, r0, r1, r2, r3, r4, even_constant);    \
        HALF_ROW(ODD, 1, y, r0, r1, r2, r3, r4, odd_constant);      \
    } while (0)

static inline uint32_t parity(const uint32_t from[WORDS], unsigned word)
{
    return from[word] ^ from[word + 10] ^ from[word + 20] ^ from[word + 30] ^ from[word + 40];
}

static inline __attribute__((always_inline)) void round_of(uint32_t to[WORDS], const uint32_t from[WORDS],
                                                           const uint32_t constant[2])
{
    /* theta (3.2.1): parities of the columns, and what each column is changed by */
    uint32_t c[5][2], d[5][2];
#pragma GCC unroll 5
    for (unsigned x = 0; x < 5; x++) {
        c[x][0] = parity(from, 2 * x);
        c[x][1] = parity(from, 2 * x + 1);
    }
#pragma GCC unroll 5
    for (unsigned x = 0; x < 5; x++) {
        d[x][0] = c[(x + 4) % 5][0] ^ EVEN(c[(x + 1) % 5][0], c[(x + 1) % 5][1], 1);
        d[x][1] = c[(x + 4) % 5][1] ^ ODD(c[(x + 1) % 5][0], c[(x + 1) % 5][1], 1);
    }
    ROW(0, 0, 44, 43, 21, 14, constant[0], constant[1]); /* with iota (3.2.5) */
    ROW(1, 28, 20, 3, 45, 61, 0, 0);
    ROW(2, 1, 6, 25, 8, 18, 0, 0);
    ROW(3, 27, 36, 10, 15, 56, 0, 0);
    ROW(4, 62, 55, 39, 41, 2, 0, 0);
}

/* Keccak-f[1600] (3.4): two rounds a turn, to the other array and back. */
static void permute(struct state *state)
{
    uint32_t other[WORDS];
    for (unsigned i = 0; i < ROUNDS; i += 2) {
        round_of(other, state->word, round_constants[i]);
        round_of(state->word, other, round_constants[i + 1]);
    }
}

/* Swap the bits of `mask` with those `by` above them. */
static inline uint32_t swap_bits(uint32_t word, uint32_t mask, unsigned by)
{
    const uint32_t different = (word ^ word >> by) & mask;
    return word ^ different ^ different << by;
}

/* The bits of even number to the lower half, those of odd number to the upper half; and back. */
static inline uint32_t gather(uint32_t word)
{
    word = swap_bits(word, 0x22222222, 1);
    word = swap_bits(word, 0x0c0c0c0c, 2);
    word = swap_bits(word, 0x00f000f0, 4);
    return swap_bits(word, 0x0000ff00, 8);
}

static inline uint32_t scatter(uint32_t word)
{
    word = swap_bits(word, 0x0000ff00, 8);
    word = swap_bits(word, 0x00f000f0, 4);
    word = swap_bits(word, 0x0c0c0c0c, 2);
    return swap_bits(word, 0x22222222, 1);
}

static inline uint32_t load_le32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void store_le32(uint8_t *bytes, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> (8 * i));
}

/* Add 64 bits, low word first, to the lane that begins at word[0]. */
static inline void add_lane(uint32_t *word, uint32_t low, uint32_t high)
{
    low = gather(low);
    high = gather(high);
    word[0] ^= (low & 0xffff) | high << 16;
    word[1] ^= low >> 16 | (high & 0xffff0000);
}

/* Half of the lane that begins at word[0]: 32 bits, low for which = 0, high for 1. */
static inline uint32_t half_of_lane(const uint32_t *word, unsigned which)
{
    const unsigned shift = 16 * which;
    return scatter((word[0] >> shift & 0xffff) | word[1] >> shift << 16);
}

static void add_byte(struct state *state, uint32_t at, uint32_t byte)
{
    const uint32_t word = (byte & 0xff) << (8 * (at % 4));
    add_lane(&state->word[at / 8 * 2], at & 4 ? 0 : word, at & 4 ? word : 0);
}

void sha3_init_c32(void *ctx)
{
    memset(ctx, 0, sizeof(struct state));
}

void sha3_absorb_c32(void *ctx, const uint8_t *data, size_t len, uint32_t rate)
{
    struct state *state = ctx;
    uint32_t at = state->at;
    while (len) {
        /* A whole lane where one fits; at + 8 <= rate, because both are multiples of 8 and at < rate. */
        uint32_t taken = 1;
        if (at % 8 == 0 && len >= 8) {
            taken = 8;
            add_lane(&state->word[at / 8 * 2], load_le32(data), load_le32(data + 4));
        } else {
            add_byte(state, at, *data);
        }
        data += taken;
        len -= taken;
        at += taken;
        if (at == rate) {
            permute(state);
            at = 0;
        }
    }
    state->at = at;
}

void sha3_pad_c32(void *ctx, uint32_t rate, uint32_t suffix)
{
    struct state *state = ctx;
    /* pad10*1 (5.1); both ends may be one byte. The permutation that follows is due with the first byte of output. */
    add_byte(state, state->at, suffix);
    add_byte(state, rate - 1, 0x80);
    state->at = rate;
}

void sha3_squeeze_c32(void *ctx, uint8_t *out, size_t len, uint32_t rate)
{
    struct state *state = ctx;
    uint32_t at = state->at;
    while (len) {
        if (at == rate) {
            permute(state);
            at = 0;
        }
        const uint32_t word = half_of_lane(&state->word[at / 8 * 2], at / 4 % 2);
        uint32_t given = 1;
        if (at % 4 == 0 && len >= 4) {
            given = 4;
            store_le32(out, word);
        } else {
            *out = (uint8_t)(word >> (8 * (at % 4)));
        }
        out += given;
        len -= given;
        at += given;
    }
    state->at = at;
}
