/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying and comparing bytes, for what looks at kernels: a libc function of that name could be replaced by the very
 * object that is looked at. The build tells the compiler not to make calls of libc of these loops (worker_flags).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word at any address; every type may alias it. */
struct bytes_word {
    uintptr_t value;
} __attribute__((packed, may_alias));

/* Forwards: the two may overlap when `to` lies before `from`. */
static inline void bytes_copy(void *to, const void *from, size_t size)
{
    uint8_t *out = to;
    const uint8_t *in = from;

    for (; size >= sizeof(uintptr_t); size -= sizeof(uintptr_t)) {
        ((struct bytes_word *)out)->value = ((const struct bytes_word *)in)->value;
        out += sizeof(uintptr_t);
        in += sizeof(uintptr_t);
    }
    for (; size; size--)
        *out++ = *in++;
}

static inline bool bytes_equal(const void *a, const void *b, size_t size)
{
    const uint8_t *left = a, *right = b;

    for (; size >= sizeof(uintptr_t); size -= sizeof(uintptr_t)) {
        if (((const struct bytes_word *)left)->value != ((const struct bytes_word *)right)->value)
            return false;
        left += sizeof(uintptr_t);
        right += sizeof(uintptr_t);
    }
    for (; size; size--)
        if (*left++ != *right++)
            return false;
    return true;
}

static inline size_t bytes_in(const char *text)
{
    size_t size = 0;

    while (text[size])
        size++;
    return size;
}
