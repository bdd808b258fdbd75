/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <stddef.h>
#include <stdint.h>

#include "detect.h"

struct control {
    const char *name;
    uint64_t mode;             /* the bits that count */
    uint64_t unusual;          /* turned over at the start: code that sets the default again would not be seen */
    uint64_t (*read)(void);
    void (*write)(uint64_t);
    uint64_t known;
};

#if defined(__arm__)

/* AHP, DN, FZ, rounding, stride, FZ16, length and trap enables; not the condition, saturation and cumulative flags. */
enum { FPSCR_MODE = 0x07ff9f00, ROUND_UP = 1 << 22 };

static uint64_t read_fpscr(void)
{
    uint32_t value;

    __asm__ volatile("vmrs %0, fpscr" : "=r"(value));
    return value;
}

static void write_fpscr(uint64_t value)
{
    __asm__ volatile("vmsr fpscr, %0" : : "r"((uint32_t)value));
}

static struct control controls[] = {
    { "fpscr", FPSCR_MODE, ROUND_UP, read_fpscr, write_fpscr, 0 },
};

#elif defined(__aarch64__)

enum { ROUND_UP = 1 << 22 };

static uint64_t read_fpcr(void)
{
    uint64_t value;

    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
}

static void write_fpcr(uint64_t value)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(value));
}

static struct control controls[] = {
    { "fpcr", UINT64_MAX, ROUND_UP, read_fpcr, write_fpcr, 0 },   /* flags are in FPSR */
};

#else

#if defined(__i386__)
enum { X87_ROUND_UP = 0 };         /* qemu-i386 7.2 returns from a signal with the default control word */
#else
enum { X87_ROUND_UP = 0x0800 };
#endif

enum {
    X87_MODE = 0x0f3f,        /* masks of exceptions, precision, rounding; the others are reserved or without effect */
    MXCSR_MODE = 0xffc0,      /* all but the six sticky flags */
    MXCSR_ROUND_UP = 0x4000,
    SSE_BIT = 25,             /* of 1.edx */
};

static uint64_t read_x87(void)
{
    uint16_t value;

    __asm__ volatile("fnstcw %0" : "=m"(value));
    return value;
}

static void write_x87(uint64_t value)
{
    uint16_t word = (uint16_t)value;

    __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(word));   /* FLDCW alone would trap for what is pending */
}

static uint64_t read_mxcsr(void)
{
    uint32_t value;

    __asm__ volatile("stmxcsr %0" : "=m"(value));
    return value;
}

static void write_mxcsr(uint64_t value)
{
    uint32_t word = (uint32_t)value;

    __asm__ volatile("ldmxcsr %0" : : "m"(word));
}

static struct control controls[] = {
    { "x87-control-word", X87_MODE, X87_ROUND_UP, read_x87, write_x87, 0 },
    { "mxcsr", MXCSR_MODE, MXCSR_ROUND_UP, read_mxcsr, write_mxcsr, 0 },   /* last: a CPU without SSE has none */
};

#endif

enum { CONTROLS = sizeof controls / sizeof controls[0] };

unsigned control_count(void)
{
#if defined(__i386__)
    return worker_raw[1] >> SSE_BIT & 1 ? CONTROLS : CONTROLS - 1;
#else
    return CONTROLS;
#endif
}

void control_prepare(void)
{
    for (unsigned i = 0; i < control_count(); i++) {
        controls[i].write(controls[i].read() ^ controls[i].unusual);
        controls[i].known = controls[i].read();
    }
}

const char *control_mend(unsigned index)
{
    struct control *control = &controls[index];

    if (((control->read() ^ control->known) & control->mode) == 0)
        return NULL;
    control->write(control->known);
    return control->name;
}
