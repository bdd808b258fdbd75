/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha256"
variant   = "composed"
arch      = "any"
provides  = ["init", "update", "final"]
requires  = []
priority  = 1
state     = { ctx = { bytes = 104, align = 8, layout = "composed" } }
constant_time = true
cites     = ["FIPS 180-4 5.1.1, 5.3.3, 6.2"]
*/
/* SHA-256 as a stream, on top of whatever compression function the dispatcher takes for sha256_blocks.
 * The code, and what to review, is in shared/hash_stream.h.
 *
 * void sha256_init_composed(void *ctx);
 * void sha256_update_composed(void *ctx, const uint8_t *data, size_t data_len);
 * void sha256_final_composed(void *ctx, uint8_t digest[32]);
 */
#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"

typedef uint32_t word;

#define DIGEST_BYTES 32
#define LENGTH_BITS 64
#define STATE_BYTES 104
/* FIPS 180-4 5.3.3 */
#define START                                               \
    {                                                       \
        0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, \
        0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u, \
    }

#define COMPRESS sha256_blocks
#define INIT sha256_init_composed
#define UPDATE sha256_update_composed
#define FINAL sha256_final_composed
#include "shared/hash_stream.h"
