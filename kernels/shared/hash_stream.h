/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1, SHA-256 and SHA-512 as streams on top of a compression function (FIPS 180-4 5.1, 5.3, 6.1, 6.2, 6.4).
 *
 * The file that includes this one says before it:
 *     word                        the type of a word
 *     DIGEST_BYTES                bytes of the chaining value and of the digest
 *     LENGTH_BITS                 of the message's length in the last block: 64 or 128
 *     STATE_BYTES                 what its header says that a state takes
 *     START                       the first chaining value (5.3)
 *     COMPRESS(h, data, len)      the compression function: h is words, little-endian; len is whole blocks
 *     INIT, UPDATE, FINAL         the names of the functions that are defined here
 *
 * Whole blocks are compressed where they lie; only what does not fill a block waits in the buffer. final puts the byte
 * 0x80, zeros and the length in bits behind the message; that takes a second block when the length has no room in the first.
 * data may have any alignment; with data_len == 0 it is not looked at. The state is opaque and aligned to 8.
 *
 * To review: what waits is always less than a block after init and update, so that the 0x80 has room. The count of bytes
 * has 64 bits, of which the standard allows 61, or 128, of which it allows 125. Branches depend on lengths only.
 */
#ifndef SHARED_HASH_STREAM_H
#define SHARED_HASH_STREAM_H

#include <string.h>

enum { DIGEST = DIGEST_BYTES, WORD = sizeof(word), BLOCK = 16 * WORD, LENGTH = LENGTH_BITS / 8 };

struct state {
    uint8_t h[DIGEST]; /* the chaining value, words little-endian */
    uint8_t buffer[BLOCK]; /* its first waiting(state) bytes */
    uint64_t low; /* bytes so far: high 2^64 + low */
#if LENGTH_BITS == 128
    uint64_t high;
#endif
};

_Static_assert(sizeof(struct state) <= STATE_BYTES, "the header says less than the state needs");

static size_t waiting(const struct state *state)
{
    return (size_t)(state->low % BLOCK);
}

void INIT(void *ctx)
{
    static const word start[DIGEST / WORD] = START;
    struct state *state = ctx;
    unsigned i;

    for (i = 0; i < DIGEST; i++)
        state->h[i] = (uint8_t)(start[i / WORD] >> 8 * (i % WORD));
    state->low = 0;
#if LENGTH_BITS == 128
    state->high = 0;
#endif
}

void UPDATE(void *ctx, const uint8_t *data, size_t data_len)
{
    struct state *state = ctx;
    const size_t used = waiting(state);
    size_t whole;

    if (data_len == 0)
        return;
    state->low += data_len;
#if LENGTH_BITS == 128
    state->high += state->low < data_len;
#endif
    if (used > 0) {
        const size_t room = BLOCK - used;

        if (data_len < room) {
            memcpy(state->buffer + used, data, data_len);
            return;
        }
        memcpy(state->buffer + used, data, room);
        COMPRESS(state->h, state->buffer, BLOCK);
        data += room;
        data_len -= room;
    }
    whole = data_len - data_len % BLOCK;
    if (whole > 0)
        COMPRESS(state->h, data, whole);
    if (data_len > whole)
        memcpy(state->buffer, data + whole, data_len - whole);
}

void FINAL(void *ctx, uint8_t *digest)
{
    struct state *state = ctx;
    size_t used = waiting(state);
    unsigned i;

    /* 5.1: 1 <= used <= BLOCK after the 0x80 */
    state->buffer[used++] = 0x80;
    if (used > BLOCK - LENGTH) {
        memset(state->buffer + used, 0, BLOCK - used);
        COMPRESS(state->h, state->buffer, BLOCK);
        used = 0;
    }
    memset(state->buffer + used, 0, BLOCK - used);
    for (i = 0; i < 8; i++)
        state->buffer[BLOCK - 1 - i] = (uint8_t)(state->low << 3 >> 8 * i);
#if LENGTH_BITS == 128
    for (i = 0; i < 8; i++)
        state->buffer[BLOCK - 9 - i] = (uint8_t)((state->high << 3 | state->low >> 61) >> 8 * i);
#endif
    COMPRESS(state->h, state->buffer, BLOCK);

    /* words little-endian to words big-endian */
    for (i = 0; i < DIGEST; i++)
        digest[i] = state->h[i ^ (WORD - 1)];
}

#endif
