/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes"
variant   = "nohw32"
arch      = "any"
provides  = ["setkey_enc", "setkey_dec", "encrypt", "decrypt", "cbc_encrypt", "cbc_decrypt", "ctr"]
requires  = []
priority  = 5
constant_time = true
cites     = ["FIPS 197", "SP 800-38A 6.2, 6.5", "Kasper-Schwabe 2009", "Boyar-Peralta 2011"]

[state.ek]
bytes  = 484
align  = 4
layout = "nohw32"                        # round keys of encryption as planes, 0x63 added to all but the first

[state.dk]
bytes  = 484
align  = 4
layout = "nohw32"                        # the same bytes: the inverse cipher takes the keys of encryption backwards
*/
/*
 * AES in portable constant-time C, bitsliced in 32-bit words: two blocks at a time. See aes_bitsliced.h.
 *
 * CTR and CBC decryption fill both slots; CBC encryption and single blocks use one.
 * Speed, in counted instructions a byte of 16 KiB with AES-128: CTR 161 (arm32), 228 (x86); CBC encryption
 * 303 and 444, since it fills half of each word; decryption 278 and 359.
 *
 * Alignment and aliasing: only states are taken to be aligned; out == data (out == block) is allowed, other overlap is
 * not. With len == 0 neither data nor out is looked at. Little- and big-endian machines alike.
 *
 * To review: the order of words in load_block. After transpose, bit j of a byte comes from word j.
 *
 * void aes_setkey_enc_nohw32(const uint8_t *key, size_t key_len, void *ek);
 * void aes_setkey_dec_nohw32(const uint8_t *key, size_t key_len, void *dk);
 * void aes_encrypt_nohw32(uint8_t out[16], const uint8_t block[16], const void *ek);
 * void aes_decrypt_nohw32(uint8_t out[16], const uint8_t block[16], const void *dk);
 * void aes_cbc_encrypt_nohw32(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 * void aes_cbc_decrypt_nohw32(uint8_t *out, const uint8_t *data, size_t len, const void *dk, uint8_t iv[16]);
 * void aes_ctr_nohw32(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 */
#include <stdint.h>

typedef uint32_t plane;
enum { ROW_BITS = 8, BLOCKS = 2 };

static inline void load_block(plane *q, unsigned slot, const uint8_t *bytes);
static inline void store_block(const plane *q, unsigned slot, uint8_t *bytes);
static inline void to_planes(plane *q);
static inline void from_planes(plane *q);

#include "aes_bitsliced.h"

/* Column c of a block goes to word 4 (c & 1) + 2 slot + (c >> 1), its bytes are then in the order of the rows. */
static inline void load_block(plane *q, unsigned slot, const uint8_t *bytes)
{
    for (unsigned c = 0; c < 4; c++)
        q[4 * (c & 1) + 2 * slot + (c >> 1)] = load_word(bytes + 4 * c);
}

static inline void store_block(const plane *q, unsigned slot, uint8_t *bytes)
{
    for (unsigned c = 0; c < 4; c++)
        store_word(bytes + 4 * c, q[4 * (c & 1) + 2 * slot + (c >> 1)]);
}

static inline void to_planes(plane *q)
{
    transpose(q);
}

static inline void from_planes(plane *q)
{
    transpose(q);
}

_Static_assert(sizeof(struct schedule) == 484, "the header states the size of the schedule");

void aes_setkey_enc_nohw32(const uint8_t *key, size_t key_len, void *ek)
{
    expand_key(ek, key, key_len);
}

void aes_setkey_dec_nohw32(const uint8_t *key, size_t key_len, void *dk)
{
    expand_key(dk, key, key_len);
}

void aes_encrypt_nohw32(uint8_t *out, const uint8_t *block, const void *ek)
{
    encrypt_block(out, block, ek);
}

void aes_decrypt_nohw32(uint8_t *out, const uint8_t *block, const void *dk)
{
    decrypt_block(out, block, dk);
}

void aes_cbc_encrypt_nohw32(uint8_t *out, const uint8_t *data, size_t data_len, const void *ek, uint8_t *iv)
{
    encrypt_chain(out, data, data_len, ek, iv);
}

void aes_cbc_decrypt_nohw32(uint8_t *out, const uint8_t *data, size_t data_len, const void *dk, uint8_t *iv)
{
    decrypt_chain(out, data, data_len, dk, iv);
}

void aes_ctr_nohw32(uint8_t *out, const uint8_t *data, size_t data_len, const void *ek, uint8_t *iv)
{
    count_blocks(out, data, data_len, ek, iv);
}
