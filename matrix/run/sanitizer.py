"""What a sanitizer's report says: the kind of fault and the line of the source."""

import re

_UNDEFINED = re.compile(r"^(?P<where>\S+:\d+(?::\d+)?): runtime error: (?P<what>.+)$", re.MULTILINE)
_SUMMARY = re.compile(r"^SUMMARY: AddressSanitizer: (?P<what>\S+) (?P<where>.+)$", re.MULTILINE)
_COPY = re.compile(r"^sources/[0-9a-f]+/")
"""The folder of a source's copy in the sandbox, which gcc's -ffile-prefix-map leaves in what sanitizers say."""


def reported(stderr: str) -> str:
    """``stack-buffer-overflow at kernels/sha1/sha1_c.c:88 in step`` from the end of a guest's stderr; '' when no
    sanitizer has ended it. The formats are those of gcc's runtime (compiler-rt, lib/ubsan and lib/asan)."""
    found = _UNDEFINED.search(stderr) or _SUMMARY.search(stderr)
    return f"{found['what']} at {_COPY.sub('', found['where'])}" if found else ""
