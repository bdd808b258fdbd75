/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE   /* names of registers in ucontext.h */
#include "alarm.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>

#include "detect.h"
#include "wire.h"
#include "worker.h"

/*
 * A signal frame lies between the stack pointer of what was interrupted and the handler's own stack. The system fills
 * only a part of it: what a kernel keeps below its stack pointer may lie in the rest, and survive. So the handler
 * overwrites all that the return from it does not read: the siginfo, and stretches that depend on the architecture.
 */
enum { SCRIBBLE_BYTES = 1024, FRAME_MOST = 16 * 1024 };

static void scribble(uintptr_t from, uintptr_t to)
{
    for (; from < to; from++)
        *(volatile unsigned char *)from = (unsigned char)(from ^ 0x5a);
}

#if defined(__arm__) || defined(__aarch64__)

#if defined(__arm__)
#define SP(context) ((context)->uc_mcontext.arm_sp)
#define RECORDS(context) (context)->uc_regspace
enum { END_BYTES = 4 };
#else
#define SP(context) ((context)->uc_mcontext.sp)
#define RECORDS(context) (context)->uc_mcontext.__reserved
enum { END_BYTES = 8 };
#endif
enum { HEAD_BYTES = 8, KERNEL_SIGSET = 8, MORE_ELSEWHERE = 0x45585401 };

/* Behind the records (u32 magic | u32 size of all of it) that the system has put at `from`; they end with a zero. */
static uintptr_t after_records(const uint8_t *from, size_t size)
{
    size_t at = 0;

    while (at + HEAD_BYTES <= size && load_u32(from + at) != 0 && load_u32(from + at + 4) != 0) {
        if (load_u32(from + at) == MORE_ELSEWHERE)   /* AArch64: more records, elsewhere in the frame */
            return UINTPTR_MAX;
        at += load_u32(from + at + 4);
    }
    return (uintptr_t)from + at + END_BYTES;
}

static void scribble_frame(ucontext_t *context)
{
    uintptr_t mask = (uintptr_t)&context->uc_sigmask, records = (uintptr_t)RECORDS(context);
    uintptr_t from = after_records((const uint8_t *)records, sizeof RECORDS(context)), sp = SP(context);

    scribble(mask + KERNEL_SIGSET, mask + sizeof context->uc_sigmask);
    if (from < sp && sp - from < FRAME_MOST)   /* no code to return by lies there: libc has its own */
        scribble(from, sp);
}

#else

#if defined(__i386__)
enum { RED_ZONE = 0, FXSAVE_AT = 112, FXSAVE_USED = 288 };   /* behind what FSAVE writes; up to xmm7 */
#define SP(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_ESP])
#else
enum { RED_ZONE = 128, FXSAVE_AT = 0, FXSAVE_USED = 416 };
#define SP(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RSP])
#endif
enum {
    FXSAVE_VECTORS = 160,      /* a CPU without SSE leaves them out */
    FXSAVE_SOFTWARE = 464,     /* from here on it is the system's: magic, size of FXSAVE and what follows it, ... */
    FXSAVE_BYTES = 512,
    XSAVE_MAGIC = 0x46505853,
    SSE_BIT = 25,              /* of 1.edx */
};

static void scribble_frame(ucontext_t *context)
{
    uintptr_t fxsave = (uintptr_t)context->uc_mcontext.fpregs + FXSAVE_AT, end = SP(context) - RED_ZONE, from;
    const uint8_t *software = (const uint8_t *)(fxsave + FXSAVE_SOFTWARE);

    if (end < fxsave + FXSAVE_BYTES || end - fxsave > FRAME_MOST)
        return;   /* no FXSAVE in this frame: a CPU without it, or another layout */
    scribble(fxsave + (worker_raw[1] >> SSE_BIT & 1 ? FXSAVE_USED : FXSAVE_VECTORS), fxsave + FXSAVE_SOFTWARE);
    from = load_u32(software) == XSAVE_MAGIC ? fxsave + load_u32(software + 4) : (uintptr_t)software;
    scribble(from, end);
}

#endif

static void on_alarm(int number, siginfo_t *info, void *context)
{
    unsigned char below[SCRIBBLE_BYTES];

    (void)number;
#if defined(__i386__) || defined(__x86_64__)
    __asm__ volatile("cld");   /* the kernel under test may have it set */
#endif
    scribble((uintptr_t)below, (uintptr_t)(below + SCRIBBLE_BYTES));
    scribble((uintptr_t)info, (uintptr_t)(info + 1));
    scribble_frame(context);
}

void alarm_start(unsigned long microseconds)
{
    struct sigaction action = { .sa_sigaction = on_alarm, .sa_flags = SA_RESTART | SA_SIGINFO };   /* on the stack in use */
    struct itimerval timer = { 0 };

    sigaddset(&action.sa_mask, SIGTERM);   /* it asks where the kernel is, not where this handler is */
    timer.it_interval.tv_sec = (time_t)(microseconds / 1000000);
    timer.it_interval.tv_usec = (suseconds_t)(microseconds % 1000000);
    timer.it_value = timer.it_interval;
    if (sigaction(SIGALRM, &action, NULL) < 0 || setitimer(ITIMER_REAL, &timer, NULL) < 0) {
        perror("worker: alarm");
        exit(EXIT_USAGE);
    }
}
