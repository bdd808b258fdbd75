/* SPDX-License-Identifier: Apache-2.0 */
#include "registers.h"


#include "bytes.h"
#include "control.h"
#include "detect.h"
#include "entry.h"

struct registers worker_known, worker_after;
uint8_t worker_noise[NOISE_BYTES] __attribute__((aligned(64)));
enum { POISONS = 4, SMALLEST = 1, LARGEST = 13 };
static uint8_t poison[POISONS][NOISE_BYTES] __attribute__((aligned(64)));
static unsigned poison_kind = POISONS;   /* the one in worker_noise */
uint32_t worker_noise_vectors;
uint32_t worker_wide_vectors;

_Static_assert(offsetof(struct registers, sp) == REGISTERS_SP, "assembly and C agree");
#if defined(REGISTERS_VECTOR)
_Static_assert(offsetof(struct registers, vector) == REGISTERS_VECTOR, "assembly and C agree");
#endif
_Static_assert(offsetof(struct registers, flags) == REGISTERS_FLAGS, "assembly and C agree");
#if defined(REGISTERS_PLATFORM)
_Static_assert(offsetof(struct registers, platform) == REGISTERS_PLATFORM, "assembly and C agree");
#endif
#if defined(REGISTERS_WIDE)
_Static_assert(offsetof(struct registers, wide) == REGISTERS_WIDE, "assembly and C agree");
#endif
#if defined(REGISTERS_X87)
_Static_assert(offsetof(struct registers, x87) == REGISTERS_X87, "assembly and C agree");
#endif

#if defined(__arm__)
static const char *const core_names[] = { "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11" };
#elif defined(__aarch64__)
static const char *const core_names[] = { "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29" };
#elif defined(__i386__)
static const char *const core_names[] = { "ebx", "esi", "edi", "ebp" };
#elif defined(__x86_64__)
static const char *const core_names[] = { "rbx", "rbp", "r12", "r13", "r14", "r15" };
#endif

enum { CORE = sizeof core_names / sizeof core_names[0] };
_Static_assert(sizeof worker_known.core / sizeof worker_known.core[0] == CORE, "a name for every register");

#if defined(REGISTERS_VECTOR)
static const char *const vector_names[] = { "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15" };
#endif

/* Zero and small numbers are what a register that was forgotten holds by luck, and what loops by luck end at. */
static void make_poison(uint64_t state)
{
    for (size_t i = 0; i < NOISE_BYTES; i++) {
        state *= 0xd1342543de82ef95;
        poison[0][i] = (uint8_t)(state >> 56);
        poison[2][i] = 0xff;
    }
    for (size_t i = 0; i < NOISE_BYTES / sizeof(uintptr_t); i++) {
        uintptr_t small = SMALLEST + i % LARGEST;

        bytes_copy(poison[3] + i * sizeof small, &small, sizeof small);
    }
    registers_poison(0);
}

void registers_poison(unsigned kind)
{
    if (kind != poison_kind)
        bytes_copy(worker_noise, poison[kind], NOISE_BYTES);
    poison_kind = kind;
}

void registers_prepare(void)
{
    uint64_t state = 1;

    for (size_t i = 0; i < CORE; i++) {
        state *= 0xd1342543de82ef95;   /* distinct values in which no byte is likely to be an address or a count */
        worker_known.core[i] = (uintptr_t)(state ^ state >> 32);
    }
#if defined(REGISTERS_VECTOR)
    for (size_t i = 0; i < 8; i++) {
        state *= 0xd1342543de82ef95;
        worker_known.vector[i] = state;
    }
#endif
#if defined(REGISTERS_PLATFORM)
    worker_known.platform = ~state;
#endif
    make_poison(state);
#if defined(__arm__)
    worker_noise_vectors = worker_raw[0] >> 12 & 1;   /* NEON, which implies d16-d31 */
#elif defined(__i386__)
    worker_noise_vectors = worker_raw[1] >> 26 & 1;   /* SSE2 */
#endif
#if defined(REGISTERS_WIDE)
    worker_wide_vectors = (worker_raw[0] >> 28 & 1) && (worker_raw[5] & 6) == 6;   /* AVX, and XCR0 saves it */
#endif
    control_prepare();
}

static void add_name(char names[REGISTERS_TEXT], const char *name)
{
    size_t used = bytes_in(names), size = bytes_in(name);

    if (used + size + 2 > REGISTERS_TEXT)
        return;
    if (used)
        names[used++] = ' ';
    bytes_copy(names + used, name, size + 1);
}

#if defined(REGISTERS_WIDE)
/* Upper halves left dirty make every SSE instruction of the caller slow: VZEROUPPER belongs before the return. */
static bool upper_halves_clean(void)
{
    uint64_t dirty = 0;

    for (size_t i = 0; i < sizeof worker_after.wide / sizeof worker_after.wide[0]; i++)
        dirty |= worker_after.wide[i][2] | worker_after.wide[i][3];
    return !worker_wide_vectors || dirty == 0;
}
#endif

#if defined(REGISTERS_X87)
/* A tag of 3 is an empty register: else MMX was left without EMMS. */
static bool x87_empty(const uint32_t environment[7])
{
    return (environment[2] & 0xffff) == 0xffff;
}
#endif

void registers_mend(void)
{
#if defined(REGISTERS_X87)
    uint32_t environment[7];

    __asm__ volatile("fnstenv %0" : "=m"(environment));
    if (!x87_empty(environment))
        __asm__ volatile("emms");
#endif
    for (unsigned i = 0; i < control_count(); i++)
        (void)control_mend(i);
}

bool registers_kept(char names[REGISTERS_TEXT], bool assembly)
{
    const char *changed;

    (void)assembly;
    names[0] = '\0';
    for (size_t i = 0; i < CORE; i++)
        if (worker_after.core[i] != worker_known.core[i])
            add_name(names, core_names[i]);
    if (worker_after.sp != worker_known.sp)
        add_name(names, "sp");
    if (!entry_frame_kept())
        add_name(names, "caller-frame");
#if defined(REGISTERS_VECTOR)
    for (size_t i = 0; i < 8; i++)
        if (worker_after.vector[i] != worker_known.vector[i])
            add_name(names, vector_names[i]);
#endif
#if defined(REGISTERS_PLATFORM)
    if (assembly && worker_after.platform != worker_known.platform)
        add_name(names, "x18");
#endif
#if defined(REGISTERS_WIDE)
    if (!upper_halves_clean())
        add_name(names, "ymm-upper-halves");
#endif
#if defined(__i386__) || defined(__x86_64__)
    if (worker_after.flags & 0x400)
        add_name(names, "direction-flag");
#endif
#if defined(REGISTERS_X87)
    if (!x87_empty(worker_after.x87)) {
        add_name(names, "x87-tags");
        __asm__ volatile("emms");   /* the control word is looked at below */
    }
#endif
    for (unsigned i = 0; i < control_count(); i++)
        if ((changed = control_mend(i)) != NULL)
            add_name(names, changed);
    return names[0] == '\0';
}
