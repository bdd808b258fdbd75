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

#include "sha256_constants.h"
#include "shared/bytes.h"

typedef uint32_t word;

enum { ROUNDS = 64 };

static const word K[ROUNDS] = { SHA256_K };

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
