/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha512"
variant   = "composed"
arch      = "any"
provides  = ["init", "update", "final"]
requires  = []
priority  = 1
state     = { ctx = { bytes = 208, align = 8, layout = "composed" } }
constant_time = true
cites     = ["FIPS 180-4 5.1.2, 5.3.5, 6.4"]
*/
/* SHA-512 as a stream, on top of whatever compression function the dispatcher takes for sha512_blocks.
 *
 * Whole blocks are compressed where they lie; only what does not fill a block waits in the buffer. final puts the byte
 * 0x80, zeros and the length in bits, 128 of them, behind the message; that takes a second block when fewer than
 * 16 bytes are left in the first.
 * data may have any alignment; with data_len == 0 it is not looked at. The state is opaque and aligned to 8.
 *
 * To review: what waits is always less than a block after init and update, so that the 0x80 has room. The count of bytes
 * has 128 bits, of which the standard allows 125. Branches depend on lengths only.
 *
 * void sha512_init_composed(void *ctx);
 * void sha512_update_composed(void *ctx, const uint8_t *data, size_t data_len);
 * void sha512_final_composed(void *ctx, uint8_t digest[64]);
 */
#include <string.h>

#include "dispatch.h"

enum { DIGEST = 64, WORD = 8, BLOCK = 128, LENGTH = 16 };

struct state {
    uint8_t h[DIGEST]; /* the chaining value, words little-endian */
    uint8_t buffer[BLOCK]; /* its first waiting(state) bytes */
    uint64_t low, high; /* bytes so far: high 2^64 + low */
};

_Static_assert(sizeof(struct state) <= 208, "the header says less than the state needs");

static size_t waiting(const struct state *state)
{
    return (size_t)(state->low % BLOCK);
}

/* FIPS 180-4 5.3.5 */
void sha512_init_composed(void *ctx)
{
    static const uint64_t start[DIGEST / WORD] = {
        0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
        0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u,
    };
    struct state *state = ctx;
    unsigned i;

    for (i = 0; i < DIGEST; i++)
        state->h[i] = (uint8_t)(start[i / WORD] >> 8 * (i % WORD));
    state->low = 0;
    state->high = 0;
}

void sha512_update_composed(void *ctx, const uint8_t *data, size_t data_len)
{
    struct state *state = ctx;
    const size_t used = waiting(state);
    size_t whole;

    if (data_len == 0)
        return;
    state->low += data_len;
    state->high += state->low < data_len;
    if (used > 0) {
        const size_t room = BLOCK - used;

        if (data_len < room) {
            memcpy(state->buffer + used, data, data_len);
            return;
        }
        memcpy(state->buffer + used, data, room);
        sha512_blocks(state->h, state->buffer, BLOCK);
        data += room;
        data_len -= room;
    }
    whole = data_len - data_len % BLOCK;
    if (whole > 0)
        sha512_blocks(state->h, data, whole);
    if (data_len > whole)
        memcpy(state->buffer, data + whole, data_len - whole);
}

void sha512_final_composed(void *ctx, uint8_t *digest)
{
    struct state *state = ctx;
    size_t used = waiting(state);
    unsigned i;

    /* FIPS 180-4 5.1.2: 1 <= used <= BLOCK after the 0x80 */
    state->buffer[used++] = 0x80;
    if (used > BLOCK - LENGTH) {
        memset(state->buffer + used, 0, BLOCK - used);
        sha512_blocks(state->h, state->buffer, BLOCK);
        used = 0;
    }
    memset(state->buffer + used, 0, BLOCK - used);
    for (i = 0; i < 8; i++)
        state->buffer[BLOCK - 1 - i] = (uint8_t)(state->low << 3 >> 8 * i);
    for (i = 0; i < 8; i++)
        state->buffer[BLOCK - 9 - i] = (uint8_t)((state->high << 3 | state->low >> 61) >> 8 * i);
    sha512_blocks(state->h, state->buffer, BLOCK);

    /* words little-endian to words big-endian */
    for (i = 0; i < DIGEST; i++)
        digest[i] = state->h[i ^ (WORD - 1)];
}
