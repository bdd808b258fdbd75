/* SPDX-License-Identifier: Apache-2.0 */
#include "sanitize.h"

#include "frame.h"

/* sanitizer/common_interface_defs.h: absent, and so null, where nothing is instrumented. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
extern void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size) __attribute__((weak));
extern void __sanitizer_finish_switch_fiber(void *save, const void **old_bottom, size_t *old_size) __attribute__((weak));
/* sanitizer/asan_interface.h */
extern void __asan_unpoison_memory_region(const volatile void *start, size_t size) __attribute__((weak));

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* Signals stay the worker's, which knows where guard pages lie; a report ends with its SUMMARY line. */
const char *__asan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:use_sigaltstack=0"
           ":detect_leaks=0:detect_stack_use_after_return=0:print_legend=0:color=never";
}

const char *__ubsan_default_options(void)
{
    return "print_stacktrace=0:color=never";
}

static const void *own_bottom;
static size_t own_size;

void sanitize_prepare(void)
{
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(frame_flush);
}

/* The runtime may be told before the stack pointer moves: what runs in between is not instrumented. */
static void tell(const void *bottom, size_t size, const void **old_bottom, size_t *old_size)
{
    if (__sanitizer_start_switch_fiber && __sanitizer_finish_switch_fiber) {
        __sanitizer_start_switch_fiber(NULL, bottom, size);
        __sanitizer_finish_switch_fiber(NULL, old_bottom, old_size);
    }
}

void sanitize_enter(const void *bottom, size_t size)
{
    tell(bottom, size, &own_bottom, &own_size);
}

void sanitize_leave(void)
{
    tell(own_bottom, own_size, NULL, NULL);
}

void sanitize_abandon(const void *bottom, size_t size)
{
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(bottom, size);
    sanitize_leave();
}
