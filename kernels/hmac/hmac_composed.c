/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "hmac"
variant   = "composed"
arch      = "any"
provides  = ["sha1_init", "sha1_update", "sha1_final", "sha256_init", "sha256_update", "sha256_final",
             "sha512_init", "sha512_update", "sha512_final"]
requires  = []
priority  = 0
composes  = ["sha1", "sha256", "sha512"]
constant_time = true
cites     = ["FIPS 198-1 4", "RFC 2104 2"]

[state]
sha1_ctx   = { bytes = 512, align = 64, layout = "composed" }
sha256_ctx = { bytes = 512, align = 64, layout = "composed" }
sha512_ctx = { bytes = 704, align = 64, layout = "composed" }
*/
/* HMAC put together from whatever hash the dispatcher takes: two streams of it, both started by init. The inner one
 * has taken K ^ ipad and goes on with the data, the outer one has taken K ^ opad and waits for the inner digest.
 *
 * key and data may have any length and alignment; with a length of 0 they are not looked at.
 *
 * To review: a key of exactly one block is used as it is, a longer one is hashed first, and what is missing to a block is
 * zeros in both pads. Branches depend on lengths only.
 *
 * void hmac_sha256_init_composed(void *sha256_ctx, const uint8_t *key, size_t key_len);
 * void hmac_sha256_update_composed(void *sha256_ctx, const uint8_t *data, size_t data_len);
 * void hmac_sha256_final_composed(void *sha256_ctx, uint8_t tag[32]);     and the same for sha1 (20) and sha512 (64)
 */
#include <string.h>

#include "dispatch.h"

enum { IPAD = 0x36, OPAD = 0x5c }; /* RFC 2104 2 */

#define HMAC_OF(hash, DIGEST, BLOCK, CTX_BYTES, CTX_ALIGN, STATE_BYTES)                                               \
    struct hash##_state {                                                                                             \
        uint8_t inner[CTX_BYTES] __attribute__((aligned(CTX_ALIGN)));                                                 \
        uint8_t outer[CTX_BYTES] __attribute__((aligned(CTX_ALIGN)));                                                 \
    };                                                                                                                \
    _Static_assert(sizeof(struct hash##_state) <= (STATE_BYTES), "the header says less than the state needs");        \
                                                                                                                      \
    void hmac_##hash##_init_composed(void *ctx, const uint8_t *key, size_t key_len)                                   \
    {                                                                                                                 \
        struct hash##_state *state = ctx;                                                                             \
        uint8_t pad[BLOCK] = { 0 };                                                                                   \
        unsigned i;                                                                                                   \
                                                                                                                      \
        if (key_len > (BLOCK)) {                                                                                      \
            hash##_init(state->inner);                                                                                \
            hash##_update(state->inner, key, key_len);                                                                \
            hash##_final(state->inner, pad);                                                                          \
        } else if (key_len > 0) {                                                                                     \
            memcpy(pad, key, key_len);                                                                                \
        }                                                                                                             \
        for (i = 0; i < (BLOCK); i++)                                                                                 \
            pad[i] ^= IPAD;                                                                                           \
        hash##_init(state->inner);                                                                                    \
        hash##_update(state->inner, pad, BLOCK);                                                                      \
        for (i = 0; i < (BLOCK); i++)                                                                                 \
            pad[i] ^= IPAD ^ OPAD;                                                                                    \
        hash##_init(state->outer);                                                                                    \
        hash##_update(state->outer, pad, BLOCK);                                                                      \
    }                                                                                                                 \
                                                                                                                      \
    void hmac_##hash##_update_composed(void *ctx, const uint8_t *data, size_t data_len)                               \
    {                                                                                                                 \
        struct hash##_state *state = ctx;                                                                             \
                                                                                                                      \
        hash##_update(state->inner, data, data_len);                                                                  \
    }                                                                                                                 \
                                                                                                                      \
    void hmac_##hash##_final_composed(void *ctx, uint8_t *tag)                                                        \
    {                                                                                                                 \
        struct hash##_state *state = ctx;                                                                             \
        uint8_t digest[DIGEST];                                                                                       \
                                                                                                                      \
        hash##_final(state->inner, digest);                                                                           \
        hash##_update(state->outer, digest, DIGEST);                                                                  \
        hash##_final(state->outer, tag);                                                                              \
    }

HMAC_OF(sha1, 20, 64, SHA1_CTX_BYTES, SHA1_CTX_ALIGN, 512)
HMAC_OF(sha256, 32, 64, SHA256_CTX_BYTES, SHA256_CTX_ALIGN, 512)
HMAC_OF(sha512, 64, 128, SHA512_CTX_BYTES, SHA512_CTX_ALIGN, 704)
