/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in and out.
 *
 *     u32 length | u32 id | u16 operation | u16 flags | payload
 *
 * `length` counts what follows it. A reply repeats id and operation; its flags are the status. Finished replies gather
 * in a buffer and go out when the input is empty, when there are many, or when the first has waited long enough.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum operation {
    OP_HELLO = 0,
    OP_SET_MASK = 1,
    OP_CHOOSE = 2,
    OP_RUN = 3,
    OP_PING = 4,
    OP_SELFTEST = 5,
    OP_BENCH = 6,
    OP_LEFT = 7,
};

enum status {
    STATUS_OK = 0,
    STATUS_UNSUPPORTED = 1,     /* text */
    STATUS_BAD_REQUEST = 2,     /* text */
    STATUS_CANARY = 3,          /* u16 buffer | u16 step | i64 offset of the first wrong byte from the buffer's first */
    STATUS_MODIFIED = 4,        /* the same */
    STATUS_CLOBBERED = 5,       /* u16 step | u16 length + names of the registers, separated by blanks */
    STATUS_SIGNAL = 6,          /* see crash.c */
    STATUS_INTERNAL = 7,        /* text */
    STATUS_PROCESS = 8,         /* u16 WORKER_NONE | u16 step | i64 0: the kernel has left a process behind */
    STATUS_FAULT = 9,           /* as STATUS_SIGNAL, of a RUN that asked for a fault: the worker goes on */
};

enum {
    FRAME_HEADER = 8,                 /* bytes of id, operation and flags, which `length` counts */
    FRAME_LIMIT = 8 * 1024 * 1024,    /* largest `length` */
};

struct frame {
    uint32_t id;
    uint16_t operation;
    uint16_t flags;
    const uint8_t *payload;   /* valid until the next frame is asked for */
    size_t size;              /* bytes of payload */
};

/* Move the channel from stdin and stdout to private descriptors; fd 0 then reads nothing and fd 1 is stderr. */
void frame_open(void);

/* Throw finished replies away from now on (replay). */
void frame_discard(void);

/*
 * Wait for the next frame. False at a clean end of input. Ends the process (EXIT_FRAMING) when the input ends inside
 * a frame, or a length is out of range: that is reported in a frame with id 0xffffffff, because no id can be trusted.
 */
bool frame_next(struct frame *frame);

/* Milliseconds since the last frame was taken. Safe in a signal handler. */
uint32_t frame_age(void);

/*
 * The frame that starts at `bytes`, of which `size` are there. Returns the bytes it takes, 0 if there are not enough
 * to tell, or -1 for a length out of range.
 */
long frame_parse(const uint8_t *bytes, size_t size, struct frame *frame);

/* Send all finished replies. Safe in a signal handler. */
void frame_flush(void);

/* At the next frame boundary send what is finished, call `last`, and end the process. Safe in a signal handler. */
void frame_stop(void (*last)(void));

/* Begin the reply to `frame`; an unfinished one is dropped. Then append, then end. Safe in a signal handler. */
void reply_begin(const struct frame *frame);
void reply_u8(uint8_t value);
void reply_u16(uint16_t value);
void reply_u32(uint32_t value);
void reply_u64(uint64_t value);
void reply_bytes(const void *bytes, size_t size);
void reply_str(const char *text);          /* u16 length + bytes */
void reply_end(enum status status);

/* A whole reply of text (format as printf, cut at 255 bytes) to the frame begun last. Not for signal handlers. */
void reply_text(enum status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Number of replies so far that were not ok. */
unsigned long reply_failures(void);

#endif
