/* SPDX-License-Identifier: Apache-2.0 */
/* Words of 32 bits from bytes and to bytes, little-endian (le) and big-endian (be), by shifts only: neither the machine's byte
 * order nor the alignment of the bytes matters.
 */
#ifndef SHARED_BYTES_H
#define SHARED_BYTES_H

#include <stdint.h>

static inline uint32_t load_le32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint32_t load_be32(const uint8_t *bytes)
{
    return (uint32_t)bytes[3] | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[0] << 24;
}

static inline void store_le32(uint8_t *bytes, uint32_t word)
{
    bytes[0] = (uint8_t)word;
    bytes[1] = (uint8_t)(word >> 8);
    bytes[2] = (uint8_t)(word >> 16);
    bytes[3] = (uint8_t)(word >> 24);
}

#endif
