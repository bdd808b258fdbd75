"""Which of a machine's package sources make the base image."""

from pathlib import Path

from matrix.sandbox.base_image import read_sources

OURS = """Types: deb
URIs: http://mirror.invalid/debian
Suites: trixie trixie-updates
Components: main
Signed-By: /usr/share/keyrings/archive.gpg

# the security archive
Types: deb deb-src
URIs: http://mirror.invalid/security
Suites: trixie-security
Components:
 main
 contrib
"""
OTHERS = """Types: deb
URIs: https://vendor.invalid/apt
Suites: stable
Components: main

Types: deb
URIs: http://mirror.invalid/debian
Suites: trixie-backports
Components: main

Types: deb
URIs: http://mirror.invalid/debian
Suites: trixie
Components: main
Enabled: no

Types: deb-src
URIs: http://mirror.invalid/debian
Suites: trixie
Components: main

Types: deb
URIs: https://vendor.invalid/docker
Suites: trixie
Components: stable
"""
LINES = """# comment
deb http://mirror.invalid/debian trixie main contrib
deb [arch=amd64 signed-by=/x.gpg] http://mirror.invalid/security trixie-security main
deb [signed-by=/x.gpg] https://vendor.invalid/linux trixie stable
deb https://vendor.invalid/linux trixie-tool main
deb-src http://mirror.invalid/debian trixie main
#deb http://mirror.invalid/old trixie main
"""


def put(apt: Path, name: str, text: str) -> None:
    path = apt / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_distributions_own_sources_are_taken_and_no_others(tmp_path: Path) -> None:
    put(tmp_path, "sources.list.d/debian.sources", OURS)
    put(tmp_path, "sources.list.d/others.sources", OTHERS)
    put(tmp_path, "sources.list.d/disabled.sources.off", OURS)
    put(tmp_path, "sources.list", LINES)
    stanzas, lines = read_sources(tmp_path, "trixie")
    assert stanzas.count("URIs:") == 2
    assert "mirror.invalid/debian" in stanzas
    assert "mirror.invalid/security" in stanzas
    assert "vendor" not in stanzas + lines
    assert lines.splitlines() == LINES.splitlines()[1:3]


def test_no_source_is_no_text(tmp_path: Path) -> None:
    assert read_sources(tmp_path, "trixie") == ("", "")
