"""The machine and the file system of a measurement."""
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time


def first_line(*command):
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "not found"
    return (output.stdout or output.stderr).splitlines()[0].strip()


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def description():
    return {
        "processors": os.cpu_count(),
        "processor": processor(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "kernel": platform.release(),
        "swift": first_line("swift", "--version"),
        "libzmq": first_line("dpkg-query", "--show", "--showformat=${Version}", "libzmq5"),
        "redis": first_line("redis-server", "--version").split(" sha")[0],
        "nats": first_line("nats-server", "--version"),
        "commit": first_line("git", "rev-parse", "--short", "HEAD"),
    }


def disk(folder):
    """The file system of a folder, and the time of an fdatasync there, which a commit of SQLite's log needs. Ends the
    program on a file system in memory.
    """
    kind = first_line("findmnt", "--noheadings", "--output", "FSTYPE", "--target", str(folder))
    if kind in ("tmpfs", "ramfs"):
        sys.exit(f"{folder} is on {kind}, where an fsync costs nothing: choose another one with --folder")
    samples = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(200):
            file.write(bytes(4096))
            file.flush()
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            samples.append((time.perf_counter() - start) * 1e6)
    return {"file_system": kind, "fsync_us": round(statistics.median(samples))}
