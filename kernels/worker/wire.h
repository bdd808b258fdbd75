/* SPDX-License-Identifier: Apache-2.0 */
/* Integers as they are in a frame: little-endian whatever the guest is, at any address. */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint16_t load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t load_u64(const uint8_t *p)
{
    return load_u32(p) | (uint64_t)load_u32(p + 4) << 32;
}

static inline void store_u16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

static inline void store_u32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
    p[2] = (uint8_t)(value >> 16);
    p[3] = (uint8_t)(value >> 24);
}

static inline void store_u64(uint8_t *p, uint64_t value)
{
    store_u32(p, (uint32_t)value);
    store_u32(p + 4, (uint32_t)(value >> 32));
}

/* A payload being read. */
struct reader {
    const uint8_t *at;
    const uint8_t *end;
};

/* The next `count` bytes, or NULL, and nothing consumed, if the payload has fewer left. */
static inline const uint8_t *reader_take(struct reader *reader, size_t count)
{
    const uint8_t *at = reader->at;

    if ((size_t)(reader->end - at) < count)
        return NULL;
    reader->at = at + count;
    return at;
}

#endif
