/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha256"
variant   = "c"
arch      = "any"
provides  = ["blocks"]
requires  = []
priority  = 0
constant_time = true
cites     = ["FIPS 180-4 4.1.2, 4.2.2, 6.2.2"]
*/
/* SHA-256's compression function in portable C.
 *
 * Words are made from bytes, and bytes from words, by shifts only: neither byte order nor alignment of h or data
 * matters. The rounds are in shared/sha2.h.
 *
 * To review: constants and counts here; the rest there. Nothing branches on or indexes by h or data; len is public and a
 * multiple of 64.
 *
 * void sha256_blocks_c(uint8_t h[32], const uint8_t *data, size_t len);
 */
#include <stddef.h>
#include <stdint.h>

#include "shared/bytes.h"

typedef uint32_t word;

enum { ROUNDS = 64 };

static const word K[ROUNDS] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
};

/* FIPS 180-4 4.1.2 */
#define BIG_SIGMA0(x) (rotate_right(x, 2) ^ rotate_right(x, 13) ^ rotate_right(x, 22))
#define BIG_SIGMA1(x) (rotate_right(x, 6) ^ rotate_right(x, 11) ^ rotate_right(x, 25))
#define SMALL_SIGMA0(x) (rotate_right(x, 7) ^ rotate_right(x, 18) ^ (x) >> 3)
#define SMALL_SIGMA1(x) (rotate_right(x, 17) ^ rotate_right(x, 19) ^ (x) >> 10)

#define load_little load_le32
#define load_big load_be32
#define store_little store_le32

#define BLOCKS sha256_blocks_c
#include "shared/sha2.h"
