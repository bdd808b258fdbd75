"""Kernels that fail now and then. They make system calls of ARM Linux by hand, as no C library is theirs to call."""

from pathlib import Path

from . import support

CELL = "arm32-noneon/hard/none/chacha20-c"
KERNEL = "kernels/chacha20/chacha20_c.c"
_RUNS = 7938
"""About how many calls a run of the cell makes."""
_BEFORE = "/* RFC 8439 2.3: twenty rounds"
_CALL = """\
static int system_call(int number, int a, int b, int c)
{
    int result;

    __asm__ volatile("mov r0, %2\\n mov r1, %3\\n mov r2, %4\\n mov r12, r7\\n mov r7, %1\\n svc #0\\n mov r7, r12\\n"
                     "mov %0, r0"
                     : "=r"(result) : "r"(number), "r"(a), "r"(b), "r"(c) : "r0", "r1", "r2", "r12", "memory");
    return result;
}

"""
_ONCE = """\
/* open(2) is system call 5; 0xc1 is O_CREAT | O_EXCL | O_WRONLY: it succeeds once. */
static int unlucky(void)
{
    static int known;

    if (known)
        return 0;
    known = 1;
    return system_call(5, (int)(uintptr_t)"%MARKER", 0xc1, 0600) >= 0;
}

"""
_AT_RANDOM = """\
/* clock_gettime(2) is system call 263; its nanoseconds are the seed. */
static int unlucky(void)
{
    static uint32_t noise;
    uint32_t now[2] = {0, 0};

    if (noise == 0) {
        system_call(263, 1, (int)(uintptr_t)now, 0);
        noise = now[1] * 2654435769u | 1;
    }
    noise ^= noise << 13;
    noise ^= noise >> 17;
    noise ^= noise << 5;
    return noise % %CALLSu == 0;
}

"""


def plant_once(repository: Path, marker: Path) -> None:
    """One call gives a wrong answer, and no other as long as ``marker`` exists, which that call makes."""
    _plant(repository, _ONCE.replace("%MARKER", str(marker)))


def plant_at_random(repository: Path, odds: int) -> None:
    """A call gives a wrong answer now and then: in about one run of the cell in ``odds``."""
    _plant(repository, _AT_RANDOM.replace("%CALLS", str(_RUNS * odds)))


def _plant(repository: Path, unlucky: str) -> None:
    kernel = repository / KERNEL
    support.replace(kernel, _BEFORE, _CALL + unlucky + _BEFORE)
    support.replace(
        kernel, "    state[COUNTER] = counter;\n", "    state[COUNTER] = counter ^ (uint32_t)(len > 0 && unlucky());\n"
    )
