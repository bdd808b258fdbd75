/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "chacha20_poly1305"
variant   = "composed"
arch      = "any"
provides  = ["seal", "open", "seal_old", "open_old"]
requires  = []
priority  = 0
composes  = ["chacha20", "poly1305"]     # algorithms whose dispatch functions it calls
cites     = ["RFC 8439", "draft-agl-tls-chacha20poly1305-04"]
*/
/* The AEAD put together from whatever ChaCha20 and Poly1305 the dispatcher takes.
 *
 * out may be data, no other overlap. open authenticates before it writes a byte, compares the tag without a branch on
 * its bytes, and fills out with zeros when it refuses.
 *
 * What a reviewer must check: the two paddings. RFC 8439 2.8 pads AAD and ciphertext to 16 bytes and puts both lengths
 * at the end; the draft pads nothing and puts each length behind its part. The old nonce has 64 bits and so has its
 * counter; with the 32-bit counter of the kernels below, word 13 stays 0, which is the same below 2^32 blocks (256 GiB). */
#include <string.h>

#include "dispatch.h"

enum { KEY_BYTES = 32, NONCE_BYTES = 12, OLD_NONCE_BYTES = 8, TAG_BYTES = 16 };

struct authenticator {
    uint8_t state[POLY1305_CTX_BYTES] __attribute__((aligned(POLY1305_CTX_ALIGN)));
};

static void store64_le(uint8_t *to, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* RFC 8439 2.6: the one-time key is the first half of keystream block 0. */
static void start(struct authenticator *mac, const uint8_t *key, const uint8_t nonce[NONCE_BYTES])
{
    static const uint8_t zeros[KEY_BYTES];
    uint8_t one_time[KEY_BYTES];
    chacha20_xor(one_time, zeros, sizeof one_time, key, nonce, 0);
    poly1305_init(mac->state, one_time);
}

static void absorb_padded(struct authenticator *mac, const uint8_t *data, size_t len)
{
    static const uint8_t zeros[TAG_BYTES];
    poly1305_update(mac->state, data, len);
    poly1305_update(mac->state, zeros, (TAG_BYTES - len % TAG_BYTES) % TAG_BYTES);
}

static void absorb_with_length(struct authenticator *mac, const uint8_t *data, size_t len)
{
    uint8_t length[8];
    store64_le(length, len);
    poly1305_update(mac->state, data, len);
    poly1305_update(mac->state, length, sizeof length);
}

/* RFC 8439 2.8: aad | pad | ciphertext | pad | length of aad | length of ciphertext. */
static void authenticate(uint8_t tag[TAG_BYTES], const uint8_t *key, const uint8_t *nonce, const uint8_t *aad,
                         size_t aad_len, const uint8_t *ciphertext, size_t len)
{
    struct authenticator mac;
    uint8_t lengths[16];
    start(&mac, key, nonce);
    absorb_padded(&mac, aad, aad_len);
    absorb_padded(&mac, ciphertext, len);
    store64_le(lengths, aad_len);
    store64_le(lengths + 8, len);
    poly1305_update(mac.state, lengths, sizeof lengths);
    poly1305_final(mac.state, tag);
}

/* The draft, section 4: aad | length of aad | ciphertext | length of ciphertext. */
static void authenticate_old(uint8_t tag[TAG_BYTES], const uint8_t *key, const uint8_t *nonce, const uint8_t *aad,
                             size_t aad_len, const uint8_t *ciphertext, size_t len)
{
    struct authenticator mac;
    start(&mac, key, nonce);
    absorb_with_length(&mac, aad, aad_len);
    absorb_with_length(&mac, ciphertext, len);
    poly1305_final(mac.state, tag);
}

/* 1 when the tags are equal; every byte is looked at. */
static int equal(const uint8_t *one, const uint8_t *other)
{
    unsigned different = 0;
    for (unsigned i = 0; i < TAG_BYTES; i++)
        different |= one[i] ^ other[i];
    return (int)(1 & ((different - 1) >> 8));
}

/* Decrypt when the tag is right, zeros otherwise. */
static int release(uint8_t *out, const uint8_t *data, size_t len, const uint8_t *key, const uint8_t *nonce, int right)
{
    if (right)
        chacha20_xor(out, data, len, key, nonce, 1);
    else if (len)
        memset(out, 0, len);
    return right;
}

static void widen(uint8_t nonce[NONCE_BYTES], const uint8_t *old)
{
    memset(nonce, 0, NONCE_BYTES - OLD_NONCE_BYTES);
    memcpy(nonce + NONCE_BYTES - OLD_NONCE_BYTES, old, OLD_NONCE_BYTES);
}

void chacha20_poly1305_seal_composed(uint8_t *out, uint8_t *tag, const uint8_t *data, size_t data_len,
                                     const uint8_t *key, const uint8_t *nonce, const uint8_t *aad, size_t aad_len)
{
    chacha20_xor(out, data, data_len, key, nonce, 1);
    authenticate(tag, key, nonce, aad, aad_len, out, data_len);
}

int chacha20_poly1305_open_composed(uint8_t *out, const uint8_t *data, size_t data_len, const uint8_t *tag,
                                    const uint8_t *key, const uint8_t *nonce, const uint8_t *aad, size_t aad_len)
{
    uint8_t computed[TAG_BYTES];
    authenticate(computed, key, nonce, aad, aad_len, data, data_len);
    return release(out, data, data_len, key, nonce, equal(computed, tag));
}

void chacha20_poly1305_seal_old_composed(uint8_t *out, uint8_t *tag, const uint8_t *data, size_t data_len,
                                         const uint8_t *key, const uint8_t *nonce, const uint8_t *aad, size_t aad_len)
{
    uint8_t wide[NONCE_BYTES];
    widen(wide, nonce);
    chacha20_xor(out, data, data_len, key, wide, 1);
    authenticate_old(tag, key, wide, aad, aad_len, out, data_len);
}

int chacha20_poly1305_open_old_composed(uint8_t *out, const uint8_t *data, size_t data_len, const uint8_t *tag,
                                        const uint8_t *key, const uint8_t *nonce, const uint8_t *aad, size_t aad_len)
{
    uint8_t computed[TAG_BYTES], wide[NONCE_BYTES];
    widen(wide, nonce);
    authenticate_old(computed, key, wide, aad, aad_len, data, data_len);
    return release(out, data, data_len, key, wide, equal(computed, tag));
}
