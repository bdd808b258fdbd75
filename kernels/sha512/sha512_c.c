/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha512"
variant   = "c"
arch      = "any"
provides  = ["blocks"]
requires  = []
priority  = 0
constant_time = true
cites     = ["FIPS 180-4 4.1.3, 4.2.3, 6.4.2"]
*/
/* SHA-512's compression function in portable C; on 32-bit machines the compiler makes two words of each.
 *
 * Words are made from bytes, and bytes from words, by shifts only: neither byte order nor alignment of h or data
 * matters. The rounds are in shared/sha2.h.
 *
 * To review: constants and counts here; the rest there. Nothing branches on or indexes by h or data; len is public and a
 * multiple of 128.
 *
 * void sha512_blocks_c(uint8_t h[64], const uint8_t *data, size_t len);
 */
#include <stddef.h>
#include <stdint.h>

#include "sha512_constants.h"
#include "shared/bytes.h"

typedef uint64_t word;

enum { ROUNDS = 80 };

static const word K[ROUNDS] = { SHA512_K };

/* FIPS 180-4 4.1.3 */
#define BIG_SIGMA0(x) (rotate_right(x, 28) ^ rotate_right(x, 34) ^ rotate_right(x, 39))
#define BIG_SIGMA1(x) (rotate_right(x, 14) ^ rotate_right(x, 18) ^ rotate_right(x, 41))
#define SMALL_SIGMA0(x) (rotate_right(x, 1) ^ rotate_right(x, 8) ^ (x) >> 7)
#define SMALL_SIGMA1(x) (rotate_right(x, 19) ^ rotate_right(x, 61) ^ (x) >> 6)

static word load_little(const uint8_t *bytes)
{
    return load_le32(bytes) | (word)load_le32(bytes + 4) << 32;
}

static word load_big(const uint8_t *bytes)
{
    return load_be32(bytes + 4) | (word)load_be32(bytes) << 32;
}

static void store_little(uint8_t *bytes, word x)
{
    unsigned i;

    for (i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(x >> 8 * i);
}

#define BLOCKS sha512_blocks_c
#include "shared/sha2.h"
