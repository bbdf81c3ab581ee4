"""Processes of checks: they are started from one folder, watched by their output, and ended by what started them."""

import os
import pathlib
import re
import subprocess
import time

# Only what hangs takes that long.
HANG = 600
TICKS = os.sysconf("SC_CLK_TCK")


def wait(what, until, hang=HANG, pause=0.02):
    began = time.monotonic()
    while not (found := until()):
        if time.monotonic() - began > hang:
            raise SystemExit(f"hangs: {what}")
        time.sleep(pause)
    return found


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


class Process:
    """A process of an executable in the folder `programs`, which the check sets."""

    programs = None

    def __init__(self, *command, **streams):
        command = [f"{self.programs}/{command[0]}", *map(str, command[1:])]
        self.process = subprocess.Popen(command, text=True, **streams)

    @property
    def pid(self):
        return self.process.pid

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Returns the seconds that it took."""
        began = time.monotonic()
        self.process.terminate()
        code = self.process.wait(HANG)
        assert code == 0, f"{self.process.args[0]} ended with {code}"
        return time.monotonic() - began

    def line(self, pattern):
        for line in self.process.stdout:
            if match := re.search(pattern, line):
                return match
        raise SystemExit(f"{self.process.args} ended before {pattern}")

    @property
    def seconds(self):
        """Of a processor."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def mebibytes(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
