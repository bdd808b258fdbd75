/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest worker: takes request frames on stdin, answers on stdout, in order, until the input ends.
 *
 *     worker [--alarm MICROSECONDS]       serve a host; with --alarm, SIGALRM arrives that often
 *     worker --replay FILE [--repeat N]   handle recorded request frames with no host
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alarm.h"
#include "arena.h"
#include "crash.h"
#include "detect.h"
#include "entry.h"
#include "frame.h"
#include "left.h"
#include "registers.h"
#include "replay.h"
#include "run.h"
#include "sanitize.h"
#include "wire.h"
#include "worker.h"

static void hello(void)
{
    const uint16_t probe = 1;
    uint8_t low_first;

    memcpy(&low_first, &probe, 1);
    reply_u16(WORKER_PROTOCOL);
    reply_str(worker_build_id);
    reply_str(worker_arch);
    reply_u8(sizeof(uintptr_t));
    reply_u8(low_first ? 0 : 1);
    reply_u32((uint32_t)getpid());
    reply_u16((uint16_t)worker_raw_count);
    for (unsigned i = 0; i < worker_raw_count; i++)
        reply_u64(worker_raw[i]);
    reply_u64(worker_detected);
    reply_u16((uint16_t)worker_capability_count);
    for (unsigned i = 0; i < worker_capability_count; i++)
        reply_str(worker_capabilities[i].name);
    reply_u16((uint16_t)worker_function_count);
    for (unsigned i = 0; i < worker_function_count; i++) {
        reply_str(worker_functions[i].name);
        reply_u8(worker_functions[i].kind);
    }
    reply_end(STATUS_OK);
}

static void set_mask(const struct frame *frame)
{
    uint64_t mask, outside;
    unsigned bit;

    if (frame->size != 8) {
        reply_text(STATUS_BAD_REQUEST, "SET_MASK: %lu bytes of payload, not 8", (unsigned long)frame->size);
        return;
    }
    mask = load_u64(frame->payload);
    outside = mask & ~worker_detected;
    if (outside) {
        bit = (unsigned)__builtin_ctzll(outside);
        reply_text(STATUS_BAD_REQUEST, "SET_MASK: bit %u (%s) is not detected", bit,
                   bit < worker_capability_count ? worker_capabilities[bit].name : "no capability");
        return;
    }
    worker_mask = detect_close(mask);
    reply_u64(worker_mask);
    reply_end(STATUS_OK);
}

static void choose(const struct frame *frame)
{
    unsigned function;

    if (frame->size != 16) {
        reply_text(STATUS_BAD_REQUEST, "CHOOSE: %lu bytes of payload, not 16", (unsigned long)frame->size);
        return;
    }
    function = load_u16(frame->payload);
    if (function >= worker_function_count || worker_functions[function].kind != FUNCTION_DISPATCH) {
        reply_text(STATUS_BAD_REQUEST, "CHOOSE: function %u is no dispatch function", function);
        return;
    }
    if (load_u16(frame->payload + 2) != 0 || load_u32(frame->payload + 4) != 0) {
        reply_text(STATUS_BAD_REQUEST, "CHOOSE: a field that must be zero is not");
        return;
    }
    reply_u16((uint16_t)worker_choose(function, load_u64(frame->payload + 8), worker_mask));
    reply_end(STATUS_OK);
}

static void handle(const struct frame *frame)
{
    running.frame = frame;
    reply_begin(frame);
    if (frame->flags != 0) {
        reply_text(STATUS_BAD_REQUEST, "the flags of a request must be zero, not %u", frame->flags);
    } else {
        switch (frame->operation) {
        case OP_HELLO:
            hello();
            break;
        case OP_SET_MASK:
            set_mask(frame);
            break;
        case OP_CHOOSE:
            choose(frame);
            break;
        case OP_RUN:
            run(frame);
            break;
        case OP_LEFT:
            left(frame);
            break;
        case OP_PING:
            reply_bytes(frame->payload, frame->size);
            reply_end(STATUS_OK);
            break;
        default:
            reply_text(STATUS_UNSUPPORTED, "operation %u is not supported", frame->operation);
        }
    }
    running.frame = NULL;
}

static int serve(void)
{
    struct frame frame = { .operation = OP_HELLO };

    frame_open();
    crash_install();
    handle(&frame);
    frame_flush();
    while (frame_next(&frame))
        handle(&frame);
    frame_flush();
    return EXIT_CLEAN;
}

static int usage(void)
{
    fprintf(stderr, "usage: worker [--alarm MICROSECONDS | --replay FILE [--repeat N]]\n");
    return EXIT_USAGE;
}

/* The number in `text`, 0 if it is none. */
static unsigned long number(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    return *end == '\0' ? value : 0;
}

int main(int argc, char **argv)
{
    unsigned long repeat = 1, microseconds = 0;
    const char *recorded = NULL;

    if (argc == 3 && strcmp(argv[1], "--alarm") == 0) {
        microseconds = number(argv[2]);
        if (microseconds == 0)
            return usage();
    } else if (argc == 3 || argc == 5) {
        recorded = argv[2];
        repeat = argc == 5 ? number(argv[4]) : 1;
        if (strcmp(argv[1], "--replay") != 0 || (argc == 5 && strcmp(argv[3], "--repeat") != 0) || repeat == 0)
            return usage();
    } else if (argc != 1) {
        return usage();
    }
    arena_open();
    entry_open();
    detect();
    registers_prepare();
    sanitize_prepare();
    if (microseconds)
        alarm_start(microseconds);
    return recorded ? replay(recorded, repeat, handle) : serve();
}
