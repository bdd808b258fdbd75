/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last frame of a guest that a kernel killed:
 *
 *     u32 signal | i32 si_code | u64 fault address | u64 pc | u16 step | u16 nearest buffer | i64 offset | u32 length |
 *     u32 sender | u32 milliseconds
 *
 * Step 0xffff: the worker itself was running. Buffer 0xffff: none near the address, offset and length are zero. Sender:
 * the pid of another process that has sent the signal, 0 for one outside of this pid namespace, 0xffffffff when none has.
 * Milliseconds: how long the request had been worked on. A signal that arrives between two requests is reported in a
 * frame with id 0xffffffff. Buffer 0xfffe: the address lies below the kernel's stack, offset counts from its lowest byte.
 */
#define _GNU_SOURCE   /* names of registers in ucontext.h */
#include "crash.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include "entry.h"
#include "run.h"
#include "worker.h"

#define NO_SENDER UINT32_MAX

static uint8_t stack[64 * 1024] __attribute__((aligned(16)));

static uintptr_t program_counter(const ucontext_t *context)
{
#if defined(__arm__)
    return context->uc_mcontext.arm_pc;
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#elif defined(__i386__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_EIP];
#elif defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#endif
}

#if defined(__PIE__)
extern const char __executable_start[], etext[];

/* An address of the program as its file has it, wherever the program was loaded; others as they are. */
static uintptr_t file_address(uintptr_t address)
{
    uintptr_t start = (uintptr_t)__executable_start;

    return address >= start && address < (uintptr_t)etext ? address - start : address;
}
#else
static uintptr_t file_address(uintptr_t address)
{
    return address;
}
#endif

/* The buffer that an address belongs to, as far as can be told: nearest, and no farther than the neighbouring slot. */
static unsigned nearest_buffer(uintptr_t address)
{
    uintptr_t best = ARENA_CAPACITY + ARENA_GUARD;
    unsigned found = WORKER_NONE;

    for (unsigned i = 0; i < running.buffers; i++) {
        uintptr_t distance = arena_distance(&running.buffer[i], address);

        if (distance <= best) {
            best = distance;
            found = i;
        }
    }
    return found;
}

static const struct frame nobody = { .id = UINT32_MAX, .operation = 0xffff };

/* A signal that came while nothing was called. */
static struct {
    int number, code;
    uint32_t sender;
} between;

static uint32_t sender_of(const siginfo_t *info)
{
    return info->si_code <= 0 && info->si_pid != getpid() ? (uint32_t)info->si_pid : NO_SENDER;
}

static void report_between(void)
{
    reply_begin(&nobody);
    reply_u32((uint32_t)between.number);
    reply_u32((uint32_t)between.code);
    reply_u64(0);
    reply_u64(0);
    reply_u16(WORKER_NONE);
    reply_u16(WORKER_NONE);
    reply_u64(0);
    reply_u32(0);
    reply_u32(between.sender);
    reply_u32(0);
    reply_end(STATUS_SIGNAL);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t reported;
    uintptr_t address = info->si_code > 0 ? (uintptr_t)info->si_addr : 0;   /* sent by a process: no address */
    uintptr_t below;
    unsigned nearest;
    bool wanted;

#if defined(__i386__) || defined(__x86_64__)
    __asm__ volatile("cld");   /* the kernel under test may have left it set */
#endif
    if (running.step == WORKER_NONE && info->si_code <= 0 && number != SIGABRT) {
        between.number = number;
        between.code = info->si_code;
        between.sender = sender_of(info);
        frame_stop(report_between);
        return;
    }
    if (reported)
        _exit(EXIT_SIGNAL);
    wanted = running.faults && running.step != WORKER_NONE && info->si_code > 0 && (number == SIGSEGV || number == SIGBUS);
    reported = !wanted;
    below = address ? entry_below_stack(address) : 0;
    nearest = below ? WORKER_STACK : address ? nearest_buffer(address) : WORKER_NONE;
    reply_begin(running.frame ? running.frame : &nobody);
    reply_u32((uint32_t)number);
    reply_u32((uint32_t)info->si_code);
    reply_u64(address);
    reply_u64(file_address(program_counter(context)));
    reply_u16(running.step);
    reply_u16((uint16_t)nearest);
    if (nearest == WORKER_NONE) {
        reply_u64(0);
        reply_u32(0);
    } else if (nearest == WORKER_STACK) {
        reply_u64(-(uint64_t)below);
        reply_u32(ENTRY_STACK_BYTES);
    } else {
        reply_u64((uint64_t)arena_offset(&running.buffer[nearest], address));
        reply_u32(running.buffer[nearest].length);
    }
    reply_u32(sender_of(info));
    reply_u32(running.frame ? frame_age() : 0);
    if (wanted) {
        reply_end(STATUS_FAULT);
        running.step = WORKER_NONE;
        siglongjmp(running.after_fault, 1);
    }
    reply_end(STATUS_SIGNAL);
    frame_flush();
    _exit(EXIT_SIGNAL);
}

void crash_install(void)
{
    /* What a fault raises, and what people and systems send to end a process. */
    static const int numbers[] = {
        SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS,
        SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU,
    };
    stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    sigfillset(&action.sa_mask);
    if (sigaltstack(&alternate, NULL) < 0) {
        perror("worker: signal stack");
        exit(EXIT_USAGE);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], &action, NULL) < 0) {
            perror("worker: signal handler");
            exit(EXIT_USAGE);
        }
}
