/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "aes"
variant   = "nohw64"
arch      = ["aarch64", "x86_64"]
provides  = ["setkey_enc", "setkey_dec", "encrypt", "decrypt", "cbc_encrypt", "cbc_decrypt", "ctr"]
requires  = []
priority  = 6
constant_time = true
cites     = ["FIPS 197", "SP 800-38A 6.2, 6.5", "Kasper-Schwabe 2009", "Boyar-Peralta 2011"]

[state.ek]
bytes  = 968
align  = 8
layout = "nohw64"                        # round keys of encryption as planes, 0x63 added to all but the first

[state.dk]
bytes  = 968
align  = 8
layout = "nohw64"                        # the same bytes: the inverse cipher takes the keys of encryption backwards
*/
/*
 * AES in portable constant-time C, bitsliced in 64-bit words: four blocks at a time. See aes_bitsliced.h.
 *
 * CTR and CBC decryption fill all slots; CBC encryption and single blocks use one.
 * Speed, in counted instructions a byte of 16 KiB with AES-128: CTR 83 (aarch64), 87 (x86_64); CBC encryption
 * 304 and 325, since it fills a quarter of each word; decryption 137 and 127.
 *
 * Alignment and aliasing: only states are taken to be aligned; out == data (out == block) is allowed, other overlap is
 * not. With len == 0 neither data nor out is looked at. Little- and big-endian machines alike.
 *
 * To review: interleaving of two columns in to_planes, and its inverse. After transpose, bit j of a byte comes from
 * word j.
 *
 * void aes_setkey_enc_nohw64(const uint8_t *key, size_t key_len, void *ek);
 * void aes_setkey_dec_nohw64(const uint8_t *key, size_t key_len, void *dk);
 * void aes_encrypt_nohw64(uint8_t out[16], const uint8_t block[16], const void *ek);
 * void aes_decrypt_nohw64(uint8_t out[16], const uint8_t block[16], const void *dk);
 * void aes_cbc_encrypt_nohw64(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 * void aes_cbc_decrypt_nohw64(uint8_t *out, const uint8_t *data, size_t len, const void *dk, uint8_t iv[16]);
 * void aes_ctr_nohw64(uint8_t *out, const uint8_t *data, size_t len, const void *ek, uint8_t iv[16]);
 */
#include <stdint.h>

typedef uint64_t plane;
enum { ROW_BITS = 16, BLOCKS = 4 };

static inline void load_block(plane *q, unsigned slot, const uint8_t *bytes);
static inline void store_block(const plane *q, unsigned slot, uint8_t *bytes);
static inline void to_planes(plane *q);
static inline void from_planes(plane *q);

#include "aes_bitsliced.h"

/* Word 2 slot + h takes columns 2 h (low half) and 2 h + 1 (high half) of a block. */
static inline void load_block(plane *q, unsigned slot, const uint8_t *bytes)
{
    for (unsigned h = 0; h < 2; h++)
        q[2 * slot + h] = (plane)load_word(bytes + 8 * h) | (plane)load_word(bytes + 8 * h + 4) << 32;
}

static inline void store_block(const plane *q, unsigned slot, uint8_t *bytes)
{
    for (unsigned h = 0; h < 2; h++) {
        store_word(bytes + 8 * h, (uint32_t)q[2 * slot + h]);
        store_word(bytes + 8 * h + 4, (uint32_t)(q[2 * slot + h] >> 32));
    }
}

/* Bytes e0 e1 e2 e3 o0 o1 o2 o3 (an even and an odd column) become e0 o0 e1 o1 e2 o2 e3 o3: two bytes for each row. */
static inline void to_planes(plane *q)
{
    for (int k = 0; k < PLANES; k++)
        q[k] = exchanged(exchanged(q[k], 16, 0x00000000ffff0000), 8, 0x0000ff000000ff00);
    transpose(q);
}

static inline void from_planes(plane *q)
{
    transpose(q);
    for (int k = 0; k < PLANES; k++)
        q[k] = exchanged(exchanged(q[k], 8, 0x0000ff000000ff00), 16, 0x00000000ffff0000);
}

_Static_assert(sizeof(struct schedule) == 968, "the header states the size of the schedule");

void aes_setkey_enc_nohw64(const uint8_t *key, size_t key_len, void *ek)
{
    expand_key(ek, key, key_len);
}

void aes_setkey_dec_nohw64(const uint8_t *key, size_t key_len, void *dk)
{
    expand_key(dk, key, key_len);
}

void aes_encrypt_nohw64(uint8_t *out, const uint8_t *block, const void *ek)
{
    encrypt_block(out, block, ek);
}

void aes_decrypt_nohw64(uint8_t *out, const uint8_t *block, const void *dk)
{
    decrypt_block(out, block, dk);
}

void aes_cbc_encrypt_nohw64(uint8_t *out, const uint8_t *data, size_t data_len, const void *ek, uint8_t *iv)
{
    encrypt_chain(out, data, data_len, ek, iv);
}

void aes_cbc_decrypt_nohw64(uint8_t *out, const uint8_t *data, size_t data_len, const void *dk, uint8_t *iv)
{
    decrypt_chain(out, data, data_len, dk, iv);
}

void aes_ctr_nohw64(uint8_t *out, const uint8_t *data, size_t data_len, const void *ek, uint8_t *iv)
{
    count_blocks(out, data, data_len, ek, iv);
}
