# SPDX-License-Identifier: Apache-2.0
"""What there is of a lab on this machine: processes, namespaces, interfaces, control groups."""
import contextlib
import os
import pathlib
import re

NAMESPACES = ("mnt", "net", "pid")


def processes(mark: str) -> dict[int, str]:
    """Command lines of processes whose environment holds `mark`."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(folder.name)] = words.decode(errors="replace")[:120]
        except OSError:
            continue
    return found


def parent(process: int) -> int:
    try:
        text = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[1])


def namespaces(process: int | str) -> set[str]:
    found = set()
    for kind in NAMESPACES:
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"/proc/{process}/ns/{kind}"))
    return found


def living_namespaces() -> set[str]:
    """Those in which a process is, and those that a mount holds."""
    found = set()
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            found |= namespaces(folder.name)
    mounts = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    return found | set(re.findall(r"\b(?:mnt|net|pid):\[\d+\]", mounts))


def interfaces() -> list[str]:
    return [name for name in os.listdir("/sys/class/net") if name.startswith(("ftlink", "ftbridge"))]


def names() -> list[str]:
    folder = pathlib.Path("/run/netns")
    return [p.name for p in folder.iterdir()] if folder.exists() else []


def cgroups() -> set[tuple[str, int]]:
    """With the number of each folder, since a new lab may give it the same name."""
    found = set()
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpuset"):
        for path in pathlib.Path(root).glob("foretrain-lab-*"):
            with contextlib.suppress(OSError):
                found.add((str(path), path.stat().st_ino))
    return found
