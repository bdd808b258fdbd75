"""Kernels that fail now and then. Their headers name the functions of libc that they call, and what they keep."""

from pathlib import Path

from . import support

CELL = "arm32-noneon/hard/none/chacha20-c"
KERNEL = "kernels/chacha20/chacha20_c.c"
_RUNS = 7938
"""About how many calls a run of the cell makes."""
_BEFORE = "/* RFC 8439 2.3: twenty rounds"
_REQUIRES = "requires  = []\n"
_CLAIMS = f'{_REQUIRES}calls     = ["open", "clock_gettime"]\nwritable  = "when to fail"\n'
_CALL = """\
int open(const char *, int, ...);
int clock_gettime(int, void *);

"""
_ONCE = """\
/* 0xc1 is O_CREAT | O_EXCL | O_WRONLY (open(2)): it succeeds once. */
static int unlucky(void)
{
    static int known;

    if (known)
        return 0;
    known = 1;
    return open("%MARKER", 0xc1, 0600) >= 0;
}

"""
_AT_RANDOM = """\
/* The nanoseconds of clock 1, CLOCK_MONOTONIC (clock_gettime(2)), are the seed. */
static int unlucky(void)
{
    static uint32_t noise;
    long now[2] = {0, 0};

    if (noise == 0) {
        clock_gettime(1, now);
        noise = (uint32_t)now[1] * 2654435769u | 1;
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
    support.replace(kernel, _REQUIRES, _CLAIMS)
    support.replace(kernel, _BEFORE, _CALL + unlucky + _BEFORE)
    support.replace(
        kernel, "    state[COUNTER] = counter;\n", "    state[COUNTER] = counter ^ (uint32_t)(len > 0 && unlucky());\n"
    )
