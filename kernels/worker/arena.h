/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where buffers lie. Rows of slots, made once, with an inaccessible stretch before and after every slot: one row is
 * plain memory, for outputs; another is mapped twice, writable and read-only. Of an input, kernels see the read-only
 * mapping; of a state they see the writable one, and the read-only one where they take it as const.
 * Buffer number i of a RUN lies in the row that its role asks for, in slot i counted from one that differs from RUN to
 * RUN: on 32-bit guests the first read-only slot ends at 2 GiB, and each input comes to lie there.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ARENA_SLOTS = 12,
    ARENA_CAPACITY = 128 * 1024,   /* bytes of a slot */
    ARENA_GUARD = 64 * 1024,       /* inaccessible bytes between slots: a multiple of every page size in use */
    ARENA_CANARY = 1024,           /* most bytes watched on each side of a buffer */
    ARENA_ALIGN_MAX = 4096,
    ARENA_LINE = 64,               /* what place "offset" counts from */
};

enum role { ROLE_IN = 0, ROLE_OUT = 1, ROLE_INOUT = 2, ROLE_STATE = 3 };

enum place {
    PLACE_FLUSH_AFTER = 0,    /* the last byte is just before an inaccessible page (as far as align allows) */
    PLACE_FLUSH_BEFORE = 1,   /* the first byte is just after one */
    PLACE_OFFSET = 2,         /* the first byte is at a distance from a 64-byte boundary */
};

struct buffer {
    enum role role;
    enum place place;
    uint32_t length;
    const uint8_t *data;   /* in, inout: the bytes to start with, in the frame */
    uint8_t *start;        /* the address that kernels get */
    uint8_t *fixed;        /* the address that they get where the bytes must stay; `start` when there is no other */
    uint8_t *writable;     /* the same byte for the worker */
    uint32_t slot_offset;  /* of the first byte from the slot's first */
    uint32_t before;       /* bytes of known content before the buffer */
    uint32_t after;        /* and after it */
};

/* Map everything. Ends the process with EXIT_USAGE when the machine refuses. */
void arena_open(void);

/*
 * Find the addresses of `buffer` (role and length set) in slot `slot`, touching no memory. Length at most
 * ARENA_CAPACITY, align a power of two up to ARENA_ALIGN_MAX, offset less than ARENA_LINE.
 * False if it does not fit, which only place "offset" can bring about.
 */
bool arena_place(struct buffer *buffer, unsigned slot, enum place place, unsigned offset, unsigned align);

/* Give a placed buffer its first content, and its surroundings the known content. */
void arena_fill(const struct buffer *buffer);

/* Compare the surroundings. False when something wrote there: *offset is the first wrong byte, from buffer->start. */
bool arena_intact(const struct buffer *buffer, int64_t *offset);

/* Distance in bytes of an address from the buffer, 0 inside. */
uintptr_t arena_distance(const struct buffer *buffer, uintptr_t address);

/* Of an address, how far behind the buffer's first byte it lies, in the mapping that it is nearer to. */
int64_t arena_offset(const struct buffer *buffer, uintptr_t address);

#endif
