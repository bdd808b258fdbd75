/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha3"
variant   = "c64"
arch      = "any"
provides  = ["init", "absorb", "pad", "squeeze"]
requires  = []
priority  = 0
state     = { ctx = { bytes = 208, align = 8, layout = "lanes" } }
constant_time = true
cites     = ["FIPS 202", "Bertoni et al., Keccak implementation overview 3.2"]
*/
/* The sponge of FIPS 202 in portable C, one 64-bit word a lane.
 *
 * Lane A[x, y] is word 5y + x. A round reads one array and writes the other, row by row: a row of the new state needs one
 * lane of each old row (rho and pi), so theta, rho, pi, chi and iota of a row are done at once.
 * Aliasing and alignment: data and out may lie anywhere and are read or written bytewise; the state is aligned to 8.
 * The argument to check: `at`. It is below rate between calls of absorb, and equal to rate where a permutation is due before
 * the next byte comes out, so that neither an empty piece nor an end exactly at the rate permutes twice or never.
 * Nothing branches on or indexes by data; lengths, rate and `at` are public.
 * Counted with gcc 12 -O2, instructions per byte of SHA3-256 over 16 KiB: x86_64 56.7, aarch64 36.7, arm32 131, x86 194 (c32
 * is for those two); OpenSSL, in assembly, x86_64 36.0, aarch64 23.9.
 *
 *   void sha3_init_c64(void *ctx);
 *   void sha3_absorb_c64(void *ctx, const uint8_t *data, size_t len, uint32_t rate);
 *   void sha3_pad_c64(void *ctx, uint32_t rate, uint32_t suffix);
 *   void sha3_squeeze_c64(void *ctx, uint8_t *out, size_t len, uint32_t rate);
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 25, ROUNDS = 24 };

struct state {
    uint64_t lane[LANES];
    uint32_t at; /* where the next byte goes in or comes from, 0..rate */
    uint32_t unused;
};
_Static_assert(sizeof(struct state) == 208, "the header states this size");

/* FIPS 202 3.2.5: RC[i], i = 0..23. */
static const uint64_t round_constants[ROUNDS] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b, 0x0000000080000001,
    0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
    0x000000000000800a, 0x800000008000000a, 0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

static inline uint64_t rotate(uint64_t word, unsigned count)
{
    return word << count | word >> ((64 - count) % 64);
}

/* Row y of `to`. The old lane that rho and pi (3.2.2, 3.2.3) bring to column x has column x + 3y and row x; `r0`.. are the
 * offsets of its rotation, d the changes of theta. Then chi (3.2.4). */
#define ROW(y, r0, r1, r2, r3, r4)                                                       \
    do {                                                                                 \
        const uint64_t b0 = rotate(from[(3 * y + 0) % 5 + 0] ^ d[(3 * y + 0) % 5], r0);  \
        const uint64_t b1 = rotate(from[(3 * y + 1) % 5 + 5] ^ d[(3 * y + 1) % 5], r1);  \
        const uint64_t b2 = rotate(from[(3 * y + 2) % 5 + 10] ^ d[(3 * y + 2) % 5], r2); \
        const uint64_t b3 = rotate(from[(3 * y + 3) % 5 + 15] ^ d[(3 * y + 3) % 5], r3); \
        const uint64_t b4 = rotate(from[(3 * y + 4) % 5 + 20] ^ d[(3 * y + 4) % 5], r4); \
        to[5 * y + 0] = b0 ^ (~b1 & b2);                                                 \
        to[5 * y + 1] = b1 ^ (~b2 & b3);                                                 \
        to[5 * y + 2] = b2 ^ (~b3 & b4);                                                 \
        to[5 * y + 3] = b3 ^ (~b4 & b0);                                                 \
        to[5 * y + 4] = b4 ^ (~b0 & b1);                                                 \
    } while (0)

static inline __attribute__((always_inline)) void round_of(uint64_t to[LANES], const uint64_t from[LANES], uint64_t constant)
{
    /* theta (3.2.1): parities of the columns, and what each column is changed by */
    const uint64_t c0 = from[0] ^ from[5] ^ from[10] ^ from[15] ^ from[20];
    const uint64_t c1 = from[1] ^ from[6] ^ from[11] ^ from[16] ^ from[21];
    const uint64_t c2 = from[2] ^ from[7] ^ from[12] ^ from[17] ^ from[22];
    const uint64_t c3 = from[3] ^ from[8] ^ from[13] ^ from[18] ^ from[23];
    const uint64_t c4 = from[4] ^ from[9] ^ from[14] ^ from[19] ^ from[24];
    const uint64_t d[5] = { c4 ^ rotate(c1, 1), c0 ^ rotate(c2, 1), c1 ^ rotate(c3, 1), c2 ^ rotate(c4, 1),
                            c3 ^ rotate(c0, 1) };

    ROW(0, 0, 44, 43, 21, 14);
    to[0] ^= constant; /* iota (3.2.5) */
    ROW(1, 28, 20, 3, 45, 61);
    ROW(2, 1, 6, 25, 8, 18);
    ROW(3, 27, 36, 10, 15, 56);
    ROW(4, 62, 55, 39, 41, 2);
}

/* Keccak-f[1600] (3.4): two rounds a turn, to the other array and back. */
static void permute(struct state *state)
{
    uint64_t a[LANES], b[LANES];
    memcpy(a, state->lane, sizeof a);
    for (unsigned i = 0; i < ROUNDS; i += 2) {
        round_of(b, a, round_constants[i]);
        round_of(a, b, round_constants[i + 1]);
    }
    memcpy(state->lane, a, sizeof a);
}

static inline uint64_t load_le64(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static inline void store_le64(uint8_t *bytes, uint64_t word)
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> (8 * i));
}

static inline void add_byte(struct state *state, uint32_t at, uint32_t byte)
{
    state->lane[at / 8] ^= (uint64_t)(byte & 0xff) << (8 * (at % 8));
}

void sha3_init_c64(void *ctx)
{
    memset(ctx, 0, sizeof(struct state));
}

void sha3_absorb_c64(void *ctx, const uint8_t *data, size_t len, uint32_t rate)
{
    struct state *state = ctx;
    uint32_t at = state->at;
    while (len) {
        /* A whole lane where one fits; at + 8 <= rate, because both are multiples of 8 and at < rate. */
        uint32_t taken = 1;
        if (at % 8 == 0 && len >= 8) {
            taken = 8;
            state->lane[at / 8] ^= load_le64(data);
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

void sha3_pad_c64(void *ctx, uint32_t rate, uint32_t suffix)
{
    struct state *state = ctx;
    /* pad10*1 (5.1); both ends may be one byte. The permutation that follows is due with the first byte of output. */
    add_byte(state, state->at, suffix);
    add_byte(state, rate - 1, 0x80);
    state->at = rate;
}

void sha3_squeeze_c64(void *ctx, uint8_t *out, size_t len, uint32_t rate)
{
    struct state *state = ctx;
    uint32_t at = state->at;
    while (len) {
        if (at == rate) {
            permute(state);
            at = 0;
        }
        uint32_t given = 1;
        if (at % 8 == 0 && len >= 8) {
            given = 8;
            store_le64(out, state->lane[at / 8]);
        } else {
            *out = (uint8_t)(state->lane[at / 8] >> (8 * (at % 8)));
        }
        out += given;
        len -= given;
        at += given;
    }
    state->at = at;
}
