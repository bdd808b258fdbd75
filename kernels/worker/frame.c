/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bytes.h"
#include "wire.h"
#include "worker.h"

enum {
    PREFIX = 4 + FRAME_HEADER,
    CHUNK = 64 * 1024,          /* bytes asked of one read: what a pipe holds; more only costs QEMU page checks */
    OUTPUT_HIGH = 64 * 1024,    /* finished bytes that are sent without waiting for the input to run empty */
    PATIENCE_MS = 10,           /* longest time that a finished reply waits while others are being worked on */
    PRIVATE_FD = 64,            /* lowest number for the channel's descriptors */
};

static int input_fd = -1, output_fd = -1;
static bool discard;
static void (*volatile stopping)(void);

/* input[input_at .. input_end) is read and not yet handled. */
static uint8_t input[4 + FRAME_LIMIT + CHUNK];
static size_t input_at, input_end;

/* output[0 .. output_ready) is finished replies, output[output_ready .. output_at) the one being written. */
static uint8_t output[4 + FRAME_LIMIT + OUTPUT_HIGH];
static size_t output_ready, output_at;
static uint64_t waiting_since;   /* ms; 0: not stamped yet */
static uint64_t taken_at;        /* ms: when the last frame was taken */
static unsigned long failures;

static const struct frame nobody = { .id = 0xffffffff, .operation = 0xffff };

static void die(int code, const char *what)
{
    fprintf(stderr, "worker: %s\n", what);
    exit(code);
}

static void wait_for(int fd, short events)
{
    struct pollfd poller = { .fd = fd, .events = events };

    (void)poll(&poller, 1, -1);
}

static bool readable_now(void)
{
    struct pollfd poller = { .fd = input_fd, .events = POLLIN };

    return poll(&poller, 1, 0) > 0;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + 1;
}

void frame_open(void)
{
    int null;

    input_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, PRIVATE_FD);
    output_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, PRIVATE_FD);
    if (input_fd < 0 || output_fd < 0)
        die(EXIT_USAGE, errno == EBADF ? "stdin and stdout must be open"
                                       : "too many open files: the limit (`ulimit -n`) must be 128 or more");
    null = open("/dev/null", O_RDONLY);
    if (null > STDIN_FILENO) {
        dup2(null, STDIN_FILENO);
        close(null);
    } else {
        close(STDIN_FILENO);
    }
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        close(STDOUT_FILENO);
    signal(SIGPIPE, SIG_IGN);
    /* A library under test may call exit(): what was answered before must not be lost with it. */
    atexit(frame_flush);
}

void frame_discard(void)
{
    discard = true;
}

void frame_stop(void (*last)(void))
{
    stopping = last;
}

static void stop_if_asked(void)
{
    if (!stopping)
        return;
    frame_flush();
    stopping();
    frame_flush();
    _exit(EXIT_SIGNAL);
}

void frame_flush(void)
{
    size_t sent = 0, ready = output_ready;

    /* Empty before the first byte is written: exit() from the failure below must not come back to the same bytes. */
    output_ready = output_at = 0;
    waiting_since = 0;
    while (sent < ready) {
        ssize_t count = write(output_fd, output + sent, ready - sent);

        if (count >= 0)
            sent += (size_t)count;
        else if (errno == EAGAIN)
            wait_for(output_fd, POLLOUT);
        else if (errno != EINTR)
            _exit(EXIT_FRAMING);   /* nobody listens any more */
    }
}

/* Send what is due before another complete frame, already here, is worked on. */
static void flush_if_due(void)
{
    taken_at = now_ms();
    if (output_ready >= OUTPUT_HIGH) {
        frame_flush();
    } else if (output_ready) {
        if (waiting_since == 0)
            waiting_since = taken_at;
        else if (taken_at - waiting_since >= PATIENCE_MS)
            frame_flush();
    }
}

uint32_t frame_age(void)
{
    return (uint32_t)(now_ms() - taken_at);
}

long frame_parse(const uint8_t *bytes, size_t size, struct frame *frame)
{
    uint32_t length;

    if (size < 4)
        return 0;
    length = load_u32(bytes);
    if (length < FRAME_HEADER || length > FRAME_LIMIT)
        return -1;
    if (size - 4 < length)
        return 0;
    frame->id = load_u32(bytes + 4);
    frame->operation = load_u16(bytes + 8);
    frame->flags = load_u16(bytes + 10);
    frame->payload = bytes + PREFIX;
    frame->size = length - FRAME_HEADER;
    return 4 + (long)length;
}

/* Read once, at least one byte. False at the end of input. */
static bool fill(void)
{
    size_t held = input_end - input_at;

    if (input_at > 0) {
        bytes_copy(input, input + input_at, held);   /* forwards, so that they may overlap */
        input_at = 0;
        input_end = held;
    }
    if (output_ready >= OUTPUT_HIGH || (output_ready && !readable_now()))
        frame_flush();
    for (;;) {
        ssize_t count;

        stop_if_asked();
        count = read(input_fd, input + input_end, CHUNK);
        if (count > 0) {
            input_end += (size_t)count;
            return true;
        }
        if (count == 0)
            return false;
        if (errno == EAGAIN)
            wait_for(input_fd, POLLIN);
        else if (errno != EINTR)
            die(EXIT_FRAMING, "cannot read the input");
    }
}

bool frame_next(struct frame *frame)
{
    for (;;) {
        long taken;

        stop_if_asked();
        taken = frame_parse(input + input_at, input_end - input_at, frame);

        if (taken > 0) {
            flush_if_due();
            input_at += (size_t)taken;
            return true;
        }
        if (taken < 0) {
            reply_begin(&nobody);
            reply_text(STATUS_BAD_REQUEST, "a frame of length %lu: must be %d to %d",
                       (unsigned long)load_u32(input + input_at), FRAME_HEADER, FRAME_LIMIT);
            die(EXIT_FRAMING, "a frame's length is out of range");
        }
        if (!fill()) {
            if (input_end != input_at)
                die(EXIT_FRAMING, "the input ends inside a frame");
            return false;
        }
    }
}

/* Room for `size` more bytes of the reply. Every reply is bounded well below the buffer; this is the proof of it. */
static uint8_t *append(size_t size)
{
    uint8_t *at = output + output_at;

    if (size > sizeof output - output_at)
        abort();
    output_at += size;
    return at;
}

void reply_begin(const struct frame *frame)
{
    uint8_t *at;

    output_at = output_ready;
    at = append(PREFIX);
    store_u32(at + 4, frame->id);
    store_u16(at + 8, frame->operation);
}

void reply_u8(uint8_t value)
{
    *append(1) = value;
}

void reply_u16(uint16_t value)
{
    store_u16(append(2), value);
}

void reply_u32(uint32_t value)
{
    store_u32(append(4), value);
}

void reply_u64(uint64_t value)
{
    store_u64(append(8), value);
}

void reply_bytes(const void *bytes, size_t size)
{
    bytes_copy(append(size), bytes, size);
}

void reply_str(const char *text)
{
    size_t size = bytes_in(text);

    reply_u16((uint16_t)size);
    reply_bytes(text, size);
}

void reply_end(enum status status)
{
    uint8_t *start = output + output_ready;

    store_u32(start, (uint32_t)(output_at - output_ready - 4));
    store_u16(start + 10, (uint16_t)status);
    failures += status != STATUS_OK;
    if (discard)
        output_at = output_ready;
    else
        output_ready = output_at;
}

void reply_text(enum status status, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    output_at = output_ready + PREFIX;
    reply_bytes(text, bytes_in(text));
    reply_end(status);
    if (discard)
        fprintf(stderr, "worker: %s\n", text);
}

unsigned long reply_failures(void)
{
    return failures;
}
