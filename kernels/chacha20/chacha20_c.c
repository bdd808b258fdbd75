/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "chacha20"
variant   = "c"
arch      = "any"
provides  = ["xor"]
requires  = []
priority  = 0
constant_time = true
cites     = ["RFC 8439 2.1-2.4"]
*/
/*
 * ChaCha20 in portable C, one block at a time, in 32-bit words.
 *
 * Bytes become words, and words bytes, by shifts only, so that neither the byte order nor the alignment of
 * any pointer matters. Every full block is loaded completely before it is stored, therefore out == data is
 * allowed; any other overlap is not. With len == 0 no pointer but key and nonce is looked at.
 *
 * To review: the block counter is a uint32_t, word 12, and `++` wraps it modulo 2^32. Nothing carries into
 * word 13, the first word of the nonce. All branches depend on len alone.
 *
 * void chacha20_xor_c(uint8_t *out, const uint8_t *data, size_t len,
 *                     const uint8_t key[32], const uint8_t nonce[12], uint32_t counter);
 */
#include <stddef.h>
#include <stdint.h>

enum { WORDS = 16, BLOCK = 64, DOUBLE_ROUNDS = 10, COUNTER = 12 };

static uint32_t load_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void store_word(uint8_t *bytes, uint32_t word)
{
    bytes[0] = (uint8_t)word;
    bytes[1] = (uint8_t)(word >> 8);
    bytes[2] = (uint8_t)(word >> 16);
    bytes[3] = (uint8_t)(word >> 24);
}

/* 0 < count < 32. */
static uint32_t rotate_left(uint32_t word, unsigned count)
{
    return word << count | word >> (32 - count);
}

/* RFC 8439 2.1. All sums are modulo 2^32. */
static inline void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    *a += *b;
    *d = rotate_left(*d ^ *a, 16);
    *c += *d;
    *b = rotate_left(*b ^ *c, 12);
    *a += *b;
    *d = rotate_left(*d ^ *a, 8);
    *c += *d;
    *b = rotate_left(*b ^ *c, 7);
}

/* RFC 8439 2.3: twenty rounds, then the feed-forward. Single variables, not an array, so that they become registers. */
static void key_stream_block(uint32_t stream[WORDS], const uint32_t state[WORDS])
{
    uint32_t x0 = state[0], x1 = state[1], x2 = state[2], x3 = state[3];
    uint32_t x4 = state[4], x5 = state[5], x6 = state[6], x7 = state[7];
    uint32_t x8 = state[8], x9 = state[9], x10 = state[10], x11 = state[11];
    uint32_t x12 = state[12], x13 = state[13], x14 = state[14], x15 = state[15];
    unsigned i;

    for (i = 0; i < DOUBLE_ROUNDS; i++) {
        /* column round */
        quarter_round(&x0, &x4, &x8, &x12);
        quarter_round(&x1, &x5, &x9, &x13);
        quarter_round(&x2, &x6, &x10, &x14);
        quarter_round(&x3, &x7, &x11, &x15);
        /* diagonal round */
        quarter_round(&x0, &x5, &x10, &x15);
        quarter_round(&x1, &x6, &x11, &x12);
        quarter_round(&x2, &x7, &x8, &x13);
        quarter_round(&x3, &x4, &x9, &x14);
    }

    stream[0] = x0 + state[0];
    stream[1] = x1 + state[1];
    stream[2] = x2 + state[2];
    stream[3] = x3 + state[3];
    stream[4] = x4 + state[4];
    stream[5] = x5 + state[5];
    stream[6] = x6 + state[6];
    stream[7] = x7 + state[7];
    stream[8] = x8 + state[8];
    stream[9] = x9 + state[9];
    stream[10] = x10 + state[10];
    stream[11] = x11 + state[11];
    stream[12] = x12 + state[12];
    stream[13] = x13 + state[13];
    stream[14] = x14 + state[14];
    stream[15] = x15 + state[15];
}

void chacha20_xor_c(uint8_t *out, const uint8_t *data, size_t len,
                    const uint8_t key[32], const uint8_t nonce[12], uint32_t counter)
{
    uint32_t state[WORDS], stream[WORDS];
    size_t done;
    unsigned i;

    /* "expand 32-byte k" in little-endian words, key, counter, nonce */
    state[0] = 0x61707865u;
    state[1] = 0x3320646eu;
    state[2] = 0x79622d32u;
    state[3] = 0x6b206574u;
    for (i = 0; i < 8; i++)
        state[4 + i] = load_word(key + 4 * i);
    state[COUNTER] = counter;
    for (i = 0; i < 3; i++)
        state[13 + i] = load_word(nonce + 4 * i);

    /* Full blocks. done <= len, so len - done does not underflow. */
    for (done = 0; len - done >= BLOCK; done += BLOCK) {
        key_stream_block(stream, state);
        state[COUNTER]++;
        for (i = 0; i < WORDS; i++)
            stream[i] ^= load_word(data + done + 4 * i);
        for (i = 0; i < WORDS; i++)
            store_word(out + done + 4 * i, stream[i]);
    }

    /* At most 63 bytes are left: byte i of the block is byte i % 4 of word i / 4. */
    if (done < len) {
        key_stream_block(stream, state);
        for (i = 0; done < len; i++, done++)
            out[done] = data[done] ^ (uint8_t)(stream[i / 4] >> 8 * (i % 4));
    }
}
