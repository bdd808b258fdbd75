/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha1"
variant   = "composed"
arch      = "any"
provides  = ["init", "update", "final"]
requires  = []
priority  = 1
state     = { ctx = { bytes = 96, align = 8, layout = "composed" } }
constant_time = true
cites     = ["FIPS 180-4 5.1.1, 5.3.1, 6.1"]
*/
/* SHA-1 as a stream, on top of whatever compression function the dispatcher takes for sha1_blocks.
 *
 * Whole blocks are compressed where they lie; only what does not fill a block waits in the buffer. final puts the byte
 * 0x80, zeros and the length in bits, 64 of them, behind the message; that takes a second block when fewer than
 * 8 bytes are left in the first.
 * data may have any alignment; with data_len == 0 it is not looked at. The state is opaque and aligned to 8.
 *
 * To review: what waits is always less than a block after init and update, so that the 0x80 has room. The count of bytes
 * has 64 bits, of which the standard allows 61. Branches depend on lengths only.
 *
 * void sha1_init_composed(void *ctx);
 * void sha1_update_composed(void *ctx, const uint8_t *data, size_t data_len);
 * void sha1_final_composed(void *ctx, uint8_t digest[20]);
 */
#include <string.h>

#include "dispatch.h"

enum { DIGEST = 20, WORD = 4, BLOCK = 64, LENGTH = 8 };

struct state {
    uint8_t h[DIGEST]; /* the chaining value, words little-endian */
    uint8_t buffer[BLOCK]; /* its first waiting(state) bytes */
    uint64_t count; /* bytes so far */
};

_Static_assert(sizeof(struct state) <= 96, "the header says less than the state needs");

static size_t waiting(const struct state *state)
{
    return (size_t)(state->count % BLOCK);
}

/* FIPS 180-4 5.3.1 */
void sha1_init_composed(void *ctx)
{
    static const uint32_t start[DIGEST / WORD] = {
        0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u,
    };
    struct state *state = ctx;
    unsigned i;

    for (i = 0; i < DIGEST; i++)
        state->h[i] = (uint8_t)(start[i / WORD] >> 8 * (i % WORD));
    state->count = 0;
}

void sha1_update_composed(void *ctx, const uint8_t *data, size_t data_len)
{
    struct state *state = ctx;
    const size_t used = waiting(state);
    size_t whole;

    if (data_len == 0)
        return;
    state->count += data_len;
    if (used > 0) {
        const size_t room = BLOCK - used;

        if (data_len < room) {
            memcpy(state->buffer + used, data, data_len);
            return;
        }
        memcpy(state->buffer + used, data, room);
        sha1_blocks(state->h, state->buffer, BLOCK);
        data += room;
        data_len -= room;
    }
    whole = data_len - data_len % BLOCK;
    if (whole > 0)
        sha1_blocks(state->h, data, whole);
    if (data_len > whole)
        memcpy(state->buffer, data + whole, data_len - whole);
}

void sha1_final_composed(void *ctx, uint8_t *digest)
{
    struct state *state = ctx;
    size_t used = waiting(state);
    unsigned i;

    /* FIPS 180-4 5.1.1: 1 <= used <= BLOCK after the 0x80 */
    state->buffer[used++] = 0x80;
    if (used > BLOCK - LENGTH) {
        memset(state->buffer + used, 0, BLOCK - used);
        sha1_blocks(state->h, state->buffer, BLOCK);
        used = 0;
    }
    memset(state->buffer + used, 0, BLOCK - used);
    for (i = 0; i < 8; i++)
        state->buffer[BLOCK - 1 - i] = (uint8_t)(state->count << 3 >> 8 * i);
    sha1_blocks(state->h, state->buffer, BLOCK);

    /* words little-endian to words big-endian */
    for (i = 0; i < DIGEST; i++)
        digest[i] = state->h[i ^ (WORD - 1)];
}
