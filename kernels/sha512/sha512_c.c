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

#include "shared/bytes.h"

typedef uint64_t word;

enum { ROUNDS = 80 };

static const word K[ROUNDS] = {
    0x428a2f98d728ae22u, 0x7137449123ef65cdu, 0xb5c0fbcfec4d3b2fu, 0xe9b5dba58189dbbcu,
    0x3956c25bf348b538u, 0x59f111f1b605d019u, 0x923f82a4af194f9bu, 0xab1c5ed5da6d8118u,
    0xd807aa98a3030242u, 0x12835b0145706fbeu, 0x243185be4ee4b28cu, 0x550c7dc3d5ffb4e2u,
    0x72be5d74f27b896fu, 0x80deb1fe3b1696b1u, 0x9bdc06a725c71235u, 0xc19bf174cf692694u,
    0xe49b69c19ef14ad2u, 0xefbe4786384f25e3u, 0x0fc19dc68b8cd5b5u, 0x240ca1cc77ac9c65u,
    0x2de92c6f592b0275u, 0x4a7484aa6ea6e483u, 0x5cb0a9dcbd41fbd4u, 0x76f988da831153b5u,
    0x983e5152ee66dfabu, 0xa831c66d2db43210u, 0xb00327c898fb213fu, 0xbf597fc7beef0ee4u,
    0xc6e00bf33da88fc2u, 0xd5a79147930aa725u, 0x06ca6351e003826fu, 0x142929670a0e6e70u,
    0x27b70a8546d22ffcu, 0x2e1b21385c26c926u, 0x4d2c6dfc5ac42aedu, 0x53380d139d95b3dfu,
    0x650a73548baf63deu, 0x766a0abb3c77b2a8u, 0x81c2c92e47edaee6u, 0x92722c851482353bu,
    0xa2bfe8a14cf10364u, 0xa81a664bbc423001u, 0xc24b8b70d0f89791u, 0xc76c51a30654be30u,
    0xd192e819d6ef5218u, 0xd69906245565a910u, 0xf40e35855771202au, 0x106aa07032bbd1b8u,
    0x19a4c116b8d2d0c8u, 0x1e376c085141ab53u, 0x2748774cdf8eeb99u, 0x34b0bcb5e19b48a8u,
    0x391c0cb3c5c95a63u, 0x4ed8aa4ae3418acbu, 0x5b9cca4f7763e373u, 0x682e6ff3d6b2b8a3u,
    0x748f82ee5defb2fcu, 0x78a5636f43172f60u, 0x84c87814a1f0ab72u, 0x8cc702081a6439ecu,
    0x90befffa23631e28u, 0xa4506cebde82bde9u, 0xbef9a3f7b2c67915u, 0xc67178f2e372532bu,
    0xca273eceea26619cu, 0xd186b8c721c0c207u, 0xeada7dd6cde0eb1eu, 0xf57d4f7fee6ed178u,
    0x06f067aa72176fbau, 0x0a637dc5a2c898a6u, 0x113f9804bef90daeu, 0x1b710b35131c471bu,
    0x28db77f523047d84u, 0x32caab7b40c72493u, 0x3c9ebe0a15c9bebcu, 0x431d67c49c100d4cu,
    0x4cc5d4becb3e42b6u, 0x597f299cfc657e2au, 0x5fcb6fab3ad6faecu, 0x6c44198c4a475817u,
};

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
