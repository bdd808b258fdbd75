/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RUN. First the whole payload is read and every count, length, index and offset in it is checked; then buffers are
 * filled; then the steps are called one by one. Payload:
 *
 *     u16 buffers | u16 steps | u16 number | u16 flags
 *     per buffer: u8 role | u8 place | u16 offset | u16 align | u16 zero | u32 length | bytes (in and inout only)
 *     per step:   u16 function | u16 words | per word: u8 kind | u8 flags | u16 buffer | u32 zero | u64 value
 *
 * `number` decides the state in which the steps are entered (entry.h). With RUN_FAULTS in `flags` a step is to end at an
 * inaccessible page, and the reply says where it did; when none does, the reply is that of any other RUN.
 * Function 0xffff sets the mask of the steps that follow; the mask from before comes back at the end of the RUN.
 */
#include "run.h"

#include <inttypes.h>
#include <sys/wait.h>

#include "bytes.h"
#include "detect.h"
#include "entry.h"
#include "registers.h"
#include "wire.h"
#include "worker.h"

enum {
    STEPS_MAX = 16384,
    WORD_CONSTANT = 0,
    WORD_ADDRESS = 1,
    WORD_KEEPS = 1,          /* flag: this step must not change the bytes of that buffer */
    WORD_FIXED = 2,          /* flag: nor can it, it gets the buffer's read-only address */
    RUN_FAULTS = 1,
    HEAD_BYTES = 8,
    BUFFER_BYTES = 12,
    STEP_BYTES = 4,
    WORD_BYTES = 16,
};

struct step {
    uint16_t function;    /* WORKER_NONE: set the mask */
    uint16_t addressed;   /* set of buffers that some word points into */
    uint16_t kept;        /* set of buffers that must not change, without those that cannot */
    uint16_t given;       /* words that the request gave */
    uint64_t mask;
    uintptr_t words[CALL_WORDS];
};

struct running running = { .step = WORKER_NONE };

static struct step steps[STEPS_MAX];
static unsigned step_count;
static unsigned number;   /* of the first step's state at entry */
static uint64_t returned[STEPS_MAX];
static unsigned first_slot, slots;   /* of the request's buffers: buffer i lies in slot (first_slot + i) % slots */
static uint8_t snapshot[ARENA_SLOTS][ARENA_CAPACITY];

static bool read_buffer(struct reader *reader, unsigned index)
{
    struct buffer *buffer = &running.buffer[index];
    const uint8_t *head = reader_take(reader, BUFFER_BYTES);
    unsigned role, place, offset, align;

    if (!head) {
        reply_text(STATUS_BAD_REQUEST, "buffer %u: the payload ends before it", index);
        return false;
    }
    role = head[0];
    place = head[1];
    offset = load_u16(head + 2);
    align = load_u16(head + 4);
    buffer->role = (enum role)role;
    buffer->place = (enum place)place;
    buffer->length = load_u32(head + 8);
    buffer->data = NULL;
    if (role > ROLE_STATE)
        reply_text(STATUS_BAD_REQUEST, "buffer %u: unknown role %u", index, role);
    else if (place > PLACE_OFFSET)
        reply_text(STATUS_BAD_REQUEST, "buffer %u: unknown place %u", index, place);
    else if (align == 0 || (align & (align - 1)) != 0 || align > ARENA_ALIGN_MAX)
        reply_text(STATUS_BAD_REQUEST, "buffer %u: align %u is no power of two up to %d", index, align, ARENA_ALIGN_MAX);
    else if (offset >= ARENA_LINE || (place != PLACE_OFFSET && offset != 0))
        reply_text(STATUS_BAD_REQUEST, "buffer %u: offset %u with place %u", index, offset, place);
    else if (offset % align != 0)
        reply_text(STATUS_BAD_REQUEST, "buffer %u: offset %u breaks align %u", index, offset, align);
    else if (load_u16(head + 6) != 0)
        reply_text(STATUS_BAD_REQUEST, "buffer %u: a field that must be zero is %u", index, load_u16(head + 6));
    else if (buffer->length > ARENA_CAPACITY
             || !arena_place(buffer, (first_slot + index) % slots, (enum place)place, offset, align))
        reply_text(STATUS_BAD_REQUEST, "buffer %u: length %" PRIu32 " at offset %u does not fit into %d",
                   index, buffer->length, offset, ARENA_CAPACITY);
    else if ((role == ROLE_IN || role == ROLE_INOUT) && !(buffer->data = reader_take(reader, buffer->length)))
        reply_text(STATUS_BAD_REQUEST, "buffer %u: the payload ends before its %" PRIu32 " bytes do",
                   index, buffer->length);
    else
        return true;
    return false;
}

static bool read_word(const uint8_t *at, struct step *step, unsigned index, unsigned word)
{
    unsigned kind = at[0], flags = at[1], which = load_u16(at + 2);
    uint64_t value = load_u64(at + 8);

    if (kind > WORD_ADDRESS || flags > (kind == WORD_ADDRESS ? WORD_FIXED : 0)) {
        reply_text(STATUS_BAD_REQUEST, "step %u word %u: kind %u with flags %u", index, word, kind, flags);
    } else if (load_u32(at + 4) != 0) {
        reply_text(STATUS_BAD_REQUEST, "step %u word %u: a field that must be zero is %" PRIu32, index, word,
                   load_u32(at + 4));
    } else if (kind == WORD_CONSTANT) {
        if (step->function == WORKER_NONE || value <= UINTPTR_MAX) {
            step->words[word] = (uintptr_t)value;
            step->mask = value;
            return true;
        }
        reply_text(STATUS_BAD_REQUEST, "step %u word %u: %#" PRIx64 " is wider than a word", index, word, value);
    } else if (which >= running.buffers) {
        reply_text(STATUS_BAD_REQUEST, "step %u word %u: no buffer %u", index, word, which);
    } else if (value > running.buffer[which].length) {
        reply_text(STATUS_BAD_REQUEST, "step %u word %u: offset %" PRIu64 " in buffer %u of length %" PRIu32, index, word,
                   value, which, running.buffer[which].length);
    } else {
        const struct buffer *buffer = &running.buffer[which];

        step->words[word] = (uintptr_t)(flags == WORD_FIXED ? buffer->fixed : buffer->start) + (uintptr_t)value;
        step->addressed |= (uint16_t)(1u << which);
        if (flags && (flags == WORD_KEEPS || buffer->fixed == buffer->start) && buffer->role != ROLE_IN)
            step->kept |= (uint16_t)(1u << which);
        return true;
    }
    return false;
}

static bool check_mask_step(const struct step *step, unsigned index, unsigned words)
{
    if (words == 1 && step->addressed == 0 && (step->mask & ~worker_detected) == 0)
        return true;
    reply_text(STATUS_BAD_REQUEST, "step %u: a mask must be one constant within %#" PRIx64, index, worker_detected);
    return false;
}

static bool read_step(struct reader *reader, unsigned index)
{
    struct step *step = &steps[index];
    const uint8_t *head = reader_take(reader, STEP_BYTES), *at;
    unsigned words;

    if (!head) {
        reply_text(STATUS_BAD_REQUEST, "step %u: the payload ends before it", index);
        return false;
    }
    step->function = load_u16(head);
    step->addressed = step->kept = 0;
    words = load_u16(head + 2);
    step->given = (uint16_t)words;
    if (step->function >= worker_function_count && step->function != WORKER_NONE) {
        reply_text(STATUS_BAD_REQUEST, "step %u: no function %u", index, step->function);
        return false;
    }
    if (words > CALL_WORDS) {
        reply_text(STATUS_BAD_REQUEST, "step %u: %u words, at most %d", index, words, CALL_WORDS);
        return false;
    }
    at = reader_take(reader, (size_t)words * WORD_BYTES);
    if (!at) {
        reply_text(STATUS_BAD_REQUEST, "step %u: the payload ends before its %u words do", index, words);
        return false;
    }
    for (unsigned word = 0; word < words; word++)
        if (!read_word(at + word * WORD_BYTES, step, index, word))
            return false;
    return step->function != WORKER_NONE || check_mask_step(step, index, words);
}

static bool read_request(const struct frame *frame)
{
    struct reader reader = { .at = frame->payload, .end = frame->payload + frame->size };
    const uint8_t *head = reader_take(&reader, HEAD_BYTES);
    unsigned buffers;

    if (!head) {
        reply_text(STATUS_BAD_REQUEST, "the payload ends inside its first %d bytes", HEAD_BYTES);
        return false;
    }
    buffers = load_u16(head);
    step_count = load_u16(head + 2);
    if (buffers > ARENA_SLOTS || step_count > STEPS_MAX) {
        reply_text(STATUS_BAD_REQUEST, "%u buffers, at most %d, and %u steps, at most %d", buffers, ARENA_SLOTS,
                   step_count, STEPS_MAX);
        return false;
    }
    number = load_u16(head + 4);
    if (load_u16(head + 6) > RUN_FAULTS) {
        reply_text(STATUS_BAD_REQUEST, "flags %#x, known is %#x", load_u16(head + 6), RUN_FAULTS);
        return false;
    }
    running.faults = load_u16(head + 6) & RUN_FAULTS;
    slots = buffers;
    first_slot = (unsigned)(frame->size % ARENA_SLOTS);
    for (; running.buffers < buffers; running.buffers++)
        if (!read_buffer(&reader, running.buffers))
            return false;
    for (unsigned i = 0; i < step_count; i++)
        if (!read_step(&reader, i))
            return false;
    if (reader.at != reader.end) {
        reply_text(STATUS_BAD_REQUEST, "%lu bytes after the last step", (unsigned long)(reader.end - reader.at));
        return false;
    }
    return true;
}

static void reply_place(enum status status, unsigned buffer, unsigned step, int64_t offset)
{
    reply_u16((uint16_t)buffer);
    reply_u16((uint16_t)step);
    reply_u64((uint64_t)offset);
    reply_end(status);
}

static bool canaries_intact(unsigned set, unsigned step)
{
    int64_t offset;

    for (unsigned i = 0; i < running.buffers; i++)
        if ((set >> i & 1) && running.buffer[i].role != ROLE_IN && !arena_intact(&running.buffer[i], &offset)) {
            reply_place(STATUS_CANARY, i, step, offset);
            return false;
        }
    return true;
}

static void take_snapshot(unsigned set)
{
    for (unsigned i = 0; i < running.buffers; i++)
        if (set >> i & 1)
            bytes_copy(snapshot[i], running.buffer[i].start, running.buffer[i].length);
}

static bool snapshot_holds(unsigned set, unsigned step)
{
    for (unsigned i = 0; i < running.buffers; i++) {
        const struct buffer *buffer = &running.buffer[i];
        uint32_t at = 0;

        if (!(set >> i & 1) || bytes_equal(snapshot[i], buffer->start, buffer->length))
            continue;
        while (snapshot[i][at] == buffer->start[at])
            at++;
        reply_place(STATUS_MODIFIED, i, step, at);
        return false;
    }
    return true;
}

/* Call one function and look at everything it may have spoilt. False when it did, and the reply is made. */
static bool do_step(unsigned index)
{
    const struct step *step = &steps[index];
    char names[REGISTERS_TEXT];
    unsigned watched = index + 1 == step_count ? ~0u : step->addressed;   /* in the end, everything */

    if (step->function == WORKER_NONE) {
        returned[index] = worker_mask = detect_close(step->mask);
        return canaries_intact(watched, index);
    }
    take_snapshot(step->kept);
    running.step = (uint16_t)index;
    returned[index] = entry_call(worker_functions[step->function].thunk, step->words, step->given, number + index);
    running.step = WORKER_NONE;
    if (!registers_kept(names, worker_functions[step->function].assembly)) {
        reply_u16((uint16_t)index);
        reply_str(names);
        reply_end(STATUS_CLOBBERED);
        return false;
    }
    return canaries_intact(watched, index) && snapshot_holds(step->kept, index);
}

/* Whether no process is left that a kernel has started. One that such a process has started itself is not seen here. */
static bool alone(void)
{
    siginfo_t info;

    if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0)
        return true;
    reply_place(STATUS_PROCESS, WORKER_NONE, step_count - 1, 0);
    return false;
}

static void reply_results(void)
{
    uint16_t entered = 0;

    for (unsigned i = 0; i < worker_function_count; i++)
        entered += worker_entered[i] != 0;
    reply_u16((uint16_t)step_count);
    reply_u16(entered);
    for (unsigned i = 0; i < step_count; i++)
        reply_u64(returned[i]);
    for (unsigned i = 0; i < worker_function_count; i++)
        if (worker_entered[i] != 0) {
            reply_u16((uint16_t)i);
            reply_u16(0);
            reply_u32(worker_entered[i]);
        }
    for (unsigned i = 0; i < running.buffers; i++)
        if (running.buffer[i].role == ROLE_OUT || running.buffer[i].role == ROLE_INOUT)
            reply_bytes(running.buffer[i].start, running.buffer[i].length);
    reply_end(STATUS_OK);
}

/* Call the steps in order. False when one has spoilt something or ended at a fault that was asked for: there is a reply. */
static bool do_steps(void)
{
    if (running.faults && sigsetjmp(running.after_fault, 1) != 0) {
        registers_mend();
        entry_abandon();
        return false;
    }
    for (unsigned i = 0; i < step_count; i++)
        if (!do_step(i))
            return false;
    return true;
}

void run(const struct frame *frame)
{
    uint64_t mask = worker_mask;
    bool sound;

    running.buffers = 0;
    if (!read_request(frame))
        return;
    for (unsigned i = 0; i < running.buffers; i++)
        arena_fill(&running.buffer[i]);
    entry_begin();
    for (unsigned i = 0; i < worker_function_count; i++)
        worker_entered[i] = 0;
    sound = do_steps();
    worker_mask = mask;
    if (sound && alone())
        reply_results();
}
