/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha1"
variant   = "composed"
arch      = "any"
provides  = ["init", "update", "final"]
requires  = []
priority  = 1
state     = { ctx = { bytes = 96, align = 8, layout = "composed" } }
constant_time = true
cites     = ["FIPS 180-4 5.1.1, 5.3.1, 6.1"]
*/
/* SHA-1 as a stream, on top of whatever compression function the dispatcher takes for sha1_blocks.
 * The code, and what to review, is in shared/hash_stream.h.
 *
 * void sha1_init_composed(void *ctx);
 * void sha1_update_composed(void *ctx, const uint8_t *data, size_t data_len);
 * void sha1_final_composed(void *ctx, uint8_t digest[20]);
 */
#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"

typedef uint32_t word;

#define DIGEST_BYTES 20
#define LENGTH_BITS 64
#define STATE_BYTES 96
/* FIPS 180-4 5.3.1 */
#define START                                                            \
    {                                                                    \
        0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u, \
    }

#define COMPRESS sha1_blocks
#define INIT sha1_init_composed
#define UPDATE sha1_update_composed
#define FINAL sha1_final_composed
#include "shared/hash_stream.h"
