/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes_gcm"
variant   = "composed"
arch      = "any"
provides  = ["init", "seal", "open"]
requires  = []
priority  = 0
state     = { ctx = { bytes = 4096, align = 64, layout = "composed" } }
composes  = ["aes", "ghash"]             # algorithms whose dispatch functions it calls
cites     = ["NIST SP 800-38D"]
*/
/* AES-GCM put together from whatever AES and GHASH the dispatcher takes.
 *
 * The first counter block J0 is iv | 1 for an IV of 12 bytes, else the GHASH of the padded IV and its length (7.1 step 2). The
 * text is encrypted from the block after J0 on, with a counter of 32 bits that wraps (GCTR with inc32, 6.5); the tag is the
 * GHASH of aad | pad | ciphertext | pad | both lengths in bits, encrypted with J0 itself.
 * out may be data, no other overlap. open authenticates before it writes a byte, compares the tag without a branch on its bytes,
 * and fills out with zeros when it refuses. The state is aligned to 64, everything else may lie anywhere.
 * The argument to check: the lengths are in bits and in 64 bits on every machine, and nothing is read from a part of length 0.
 *
 *   void aes_gcm_init_composed(const uint8_t *key, size_t key_len, void *ctx);
 *   void aes_gcm_seal_composed(uint8_t *out, const uint8_t *data, size_t data_len, const void *ctx, const uint8_t *iv,
 *                              size_t iv_len, const uint8_t *aad, size_t aad_len);
 *   int aes_gcm_open_composed(uint8_t *out, const uint8_t *data, size_t data_len, const void *ctx, const uint8_t *iv,
 *                             size_t iv_len, const uint8_t *aad, size_t aad_len);
 */
#include <string.h>

#include "dispatch.h"

enum { BLOCK = 16, TAG = 16, USUAL_IV = 12 };

struct context {
    uint8_t ek[AES_EK_BYTES] __attribute__((aligned(AES_EK_ALIGN)));
    uint8_t htable[GHASH_HTABLE_BYTES] __attribute__((aligned(GHASH_HTABLE_ALIGN)));
};
_Static_assert(sizeof(struct context) <= 4096, "the header states this size");

static void store_be32(uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void store_be64(uint8_t *to, uint64_t value)
{
    store_be32(to, (uint32_t)(value >> 32));
    store_be32(to + 4, (uint32_t)value);
}

static uint32_t load_be32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | (uint32_t)from[3];
}

/* y = GHASH of `data`, padded with zeros to whole blocks, from y on. */
static void absorb_padded(uint8_t y[BLOCK], const struct context *context, const uint8_t *data, size_t len)
{
    size_t rest = len % BLOCK;
    ghash_update(y, context->htable, data, len - rest);
    if (rest) {
        uint8_t last[BLOCK] = {0};
        memcpy(last, data + (len - rest), rest);
        ghash_update(y, context->htable, last, BLOCK);
    }
}

/* y = GHASH of the block of two lengths, which are given in bytes and hashed in bits. */
static void absorb_lengths(uint8_t y[BLOCK], const struct context *context, uint64_t first, uint64_t second)
{
    uint8_t lengths[BLOCK];
    store_be64(lengths, 8 * first);
    store_be64(lengths + 8, 8 * second);
    ghash_update(y, context->htable, lengths, BLOCK);
}

/* 7.1 step 2 */
static void first_counter(uint8_t j0[BLOCK], const struct context *context, const uint8_t *iv, size_t iv_len)
{
    memset(j0, 0, BLOCK);
    if (iv_len == USUAL_IV) {
        memcpy(j0, iv, USUAL_IV);
        j0[BLOCK - 1] = 1;
    } else {
        absorb_padded(j0, context, iv, iv_len);
        absorb_lengths(j0, context, 0, iv_len);
    }
}

/* 7.1 steps 3: the text's key stream starts at inc32(J0). */
static void crypt_text(uint8_t *out, const uint8_t *data, size_t len, const struct context *context,
                       const uint8_t j0[BLOCK])
{
    uint8_t counter[BLOCK];
    memcpy(counter, j0, BLOCK);
    store_be32(counter + USUAL_IV, load_be32(j0 + USUAL_IV) + 1);
    aes_ctr(out, data, len, context->ek, counter);
}

/* 7.1 steps 4 to 6 */
static void make_tag(uint8_t tag[TAG], const struct context *context, const uint8_t j0[BLOCK], const uint8_t *aad,
                     size_t aad_len, const uint8_t *text, size_t len)
{
    uint8_t y[BLOCK] = {0}, mask[BLOCK];
    absorb_padded(y, context, aad, aad_len);
    absorb_padded(y, context, text, len);
    absorb_lengths(y, context, aad_len, len);
    aes_encrypt(mask, j0, context->ek);
    for (unsigned i = 0; i < TAG; i++)
        tag[i] = y[i] ^ mask[i];
}

/* 1 when the tags are equal; every byte is looked at. */
static int equal(const uint8_t *one, const uint8_t *other)
{
    unsigned different = 0;
    for (unsigned i = 0; i < TAG; i++)
        different |= one[i] ^ other[i];
    return (int)(1 & ((different - 1) >> 8));
}

void aes_gcm_init_composed(const uint8_t *key, size_t key_len, void *ctx)
{
    struct context *context = ctx;
    uint8_t h[BLOCK];
    static const uint8_t zeros[BLOCK];
    aes_setkey_enc(key, key_len, context->ek);
    aes_encrypt(h, zeros, context->ek);
    ghash_init(h, context->htable);
}

void aes_gcm_seal_composed(uint8_t *out, const uint8_t *data, size_t data_len, const void *ctx, const uint8_t *iv,
                           size_t iv_len, const uint8_t *aad, size_t aad_len)
{
    uint8_t j0[BLOCK];
    first_counter(j0, ctx, iv, iv_len);
    crypt_text(out, data, data_len, ctx, j0);
    make_tag(out + data_len, ctx, j0, aad, aad_len, out, data_len);
}

int aes_gcm_open_composed(uint8_t *out, const uint8_t *data, size_t data_len, const void *ctx, const uint8_t *iv,
                          size_t iv_len, const uint8_t *aad, size_t aad_len)
{
    uint8_t j0[BLOCK], tag[TAG];
    size_t len = data_len - TAG;
    if (data_len < TAG)
        return 0;
    first_counter(j0, ctx, iv, iv_len);
    make_tag(tag, ctx, j0, aad, aad_len, data, len);
    if (equal(tag, data + len)) {
        crypt_text(out, data, len, ctx, j0);
        return 1;
    }
    if (len)
        memset(out, 0, len);
    return 0;
}
