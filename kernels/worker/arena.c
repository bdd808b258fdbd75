/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE   /* memfd_create */
#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bytes.h"
#include "worker.h"

enum {
    STRIDE = ARENA_CAPACITY + ARENA_GUARD,
    ROW = ARENA_GUARD + ARENA_SLOTS * STRIDE,
    NEIGHBOURS = 64,   /* bytes around an input with known content, so that a read beyond it always finds the same */
};

static uint8_t *plain_row;           /* first slot for outputs */
static uint8_t *fixed_row;           /* first slot for inputs and states, read-only */
static uint8_t *writable_row;        /* the same memory, writable */

/* Known content of a slot, by position: what lies around buffers, and in outputs and states at the start. */
static uint8_t pattern[ARENA_CAPACITY];

static void *must(void *mapped, const char *what)
{
    if (mapped == MAP_FAILED) {
        perror(what);
        exit(EXIT_USAGE);
    }
    return mapped;
}

/*
 * Where the row of inputs and constant states is asked for: on 32-bit guests such that its first slot ends at 2 GiB, where signed comparisons
 * of pointers go wrong. A system that has no room there gives another place.
 */
static void *fixed_row_wish(void)
{
#if UINTPTR_MAX == UINT32_MAX
    return (void *)(UINT32_C(0x80000000) - ARENA_CAPACITY - ARENA_GUARD);
#else
    return NULL;
#endif
}

static uint8_t *reserve_row(void *wish)
{
    uint8_t *row = must(mmap(wish, ROW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
                        "worker: reserve slots");

    return row + ARENA_GUARD;
}

static void make_pattern(void)
{
    uint32_t state = 0x9e3779b9;

    for (size_t i = 0; i < sizeof pattern; i++) {
        state = state * 1664525 + 1013904223;   /* any sequence without a short period would do */
        pattern[i] = (uint8_t)(state >> 24);
    }
}

void arena_open(void)
{
    int file = memfd_create("worker-buffers", MFD_CLOEXEC);

    if (file < 0 || ftruncate(file, (off_t)ARENA_SLOTS * ARENA_CAPACITY) < 0) {
        perror("worker: memory for buffers");
        exit(EXIT_USAGE);
    }
    plain_row = reserve_row(NULL);
    fixed_row = reserve_row(fixed_row_wish());
    writable_row = reserve_row(NULL);
    for (size_t slot = 0; slot < ARENA_SLOTS; slot++) {
        off_t at = (off_t)(slot * ARENA_CAPACITY);

        must(mmap(plain_row + slot * STRIDE, ARENA_CAPACITY, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
             "worker: map a slot");
        must(mmap(fixed_row + slot * STRIDE, ARENA_CAPACITY, PROT_READ, MAP_SHARED | MAP_FIXED, file, at),
             "worker: map a read-only slot");
        must(mmap(writable_row + slot * STRIDE, ARENA_CAPACITY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, at),
             "worker: map a slot of states");
    }
    close(file);
    make_pattern();
}

static uint32_t at_most(uint32_t value, uint32_t limit)
{
    return value < limit ? value : limit;
}

/* Offset in the slot for place "offset": with room for canaries if there is any, else from the slot's first byte. */
static uint32_t offset_place(uint32_t length, unsigned offset, unsigned align)
{
    uint32_t base = align > ARENA_CANARY ? align : ARENA_CANARY;

    return base + offset + length <= ARENA_CAPACITY ? base + offset : offset;
}

bool arena_place(struct buffer *buffer, unsigned slot, enum place place, unsigned offset, unsigned align)
{
    uint32_t at = 0, watched = buffer->role == ROLE_IN ? NEIGHBOURS : ARENA_CANARY;

    if (place == PLACE_FLUSH_AFTER) {
        at = (ARENA_CAPACITY - buffer->length) & ~(uint32_t)(align - 1);
    } else if (place == PLACE_OFFSET) {
        at = offset_place(buffer->length, offset, align);
        if (at + buffer->length > ARENA_CAPACITY)
            return false;
    }
    buffer->slot_offset = at;
    buffer->before = at_most(watched, at);
    buffer->after = at_most(watched, ARENA_CAPACITY - at - buffer->length);
    at += slot * STRIDE;
    if (buffer->role == ROLE_IN || buffer->role == ROLE_STATE) {
        buffer->fixed = fixed_row + at;
        buffer->writable = writable_row + at;
        buffer->start = buffer->role == ROLE_IN ? buffer->fixed : buffer->writable;
    } else {
        buffer->start = buffer->fixed = buffer->writable = plain_row + at;
    }
    return true;
}

void arena_fill(const struct buffer *buffer)
{
    uint8_t *first = buffer->writable - buffer->before, *end = buffer->writable + buffer->length;
    const uint8_t *known = pattern + buffer->slot_offset - buffer->before;

    if (buffer->data) {
        bytes_copy(first, known, buffer->before);
        bytes_copy(buffer->writable, buffer->data, buffer->length);
        bytes_copy(end, known + buffer->before + buffer->length, buffer->after);
    } else {
        bytes_copy(first, known, (size_t)buffer->before + buffer->length + buffer->after);
    }
}

static uint32_t first_difference(const uint8_t *a, const uint8_t *b)
{
    uint32_t i = 0;

    while (a[i] == b[i])
        i++;
    return i;
}

bool arena_intact(const struct buffer *buffer, int64_t *offset)
{
    const uint8_t *first = buffer->writable - buffer->before, *end = buffer->writable + buffer->length;
    const uint8_t *known = pattern + buffer->slot_offset - buffer->before;
    const uint8_t *known_end = known + buffer->before + buffer->length;

    if (!bytes_equal(first, known, buffer->before)) {
        *offset = (int64_t)first_difference(first, known) - buffer->before;
        return false;
    }
    if (!bytes_equal(end, known_end, buffer->after)) {
        *offset = (int64_t)first_difference(end, known_end) + buffer->length;
        return false;
    }
    return true;
}

static uintptr_t distance(uintptr_t start, uint32_t length, uintptr_t address)
{
    if (address < start)
        return start - address;
    return address < start + length ? 0 : address - start - length;
}

uintptr_t arena_distance(const struct buffer *buffer, uintptr_t address)
{
    uintptr_t from_start = distance((uintptr_t)buffer->start, buffer->length, address);
    uintptr_t from_fixed = distance((uintptr_t)buffer->fixed, buffer->length, address);

    return from_start < from_fixed ? from_start : from_fixed;
}

int64_t arena_offset(const struct buffer *buffer, uintptr_t address)
{
    uintptr_t start = (uintptr_t)buffer->start, fixed = (uintptr_t)buffer->fixed;
    bool nearer = distance(fixed, buffer->length, address) < distance(start, buffer->length, address);

    return (int64_t)address - (int64_t)(nearer ? fixed : start);
}
