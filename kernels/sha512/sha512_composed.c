/* SPDX-License-Identifier: Apache-2.0 */
/*toml
algorithm = "sha512"
variant   = "composed"
arch      = "any"
provides  = ["init", "update", "final"]
requires  = []
priority  = 1
state     = { ctx = { bytes = 208, align = 8, layout = "composed" } }
constant_time = true
cites     = ["FIPS 180-4 5.1.2, 5.3.5, 6.4"]
*/
/* SHA-512 as a stream, on top of whatever compression function the dispatcher takes for sha512_blocks.
 * The code, and what to review, is in shared/hash_stream.h.
 *
 * void sha512_init_composed(void *ctx);
 * void sha512_update_composed(void *ctx, const uint8_t *data, size_t data_len);
 * void sha512_final_composed(void *ctx, uint8_t digest[64]);
 */
#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"

typedef uint64_t word;

#define DIGEST_BYTES 64
#define LENGTH_BITS 128
#define STATE_BYTES 208
/* FIPS 180-4 5.3.5 */
#define START                                                                               \
    {                                                                                       \
        0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u, \
        0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u, \
    }

#define COMPRESS sha512_blocks
#define INIT sha512_init_composed
#define UPDATE sha512_update_composed
#define FINAL sha512_final_composed
#include "shared/hash_stream.h"
