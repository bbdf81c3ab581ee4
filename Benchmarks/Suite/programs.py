"""Installs, builds and runs the programs of the benchmark."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import postgres

HANG = 600  # seconds for one measurement
PACKAGES = {
    "redis": ["redis-server", "libhiredis-dev"],
    "nats": ["nats-server", "libnats-dev"],
    "postgresql": ["postgresql", "postgresql-client"],
}

root = pathlib.Path()
folder = pathlib.Path()


def prepare(project, sections, files):
    """Installs and builds what the sections need."""
    global root, folder
    root, folder = project, files
    needs = {need for section in sections for contestant in section.contestants for need in contestant.needs}
    for peer in sorted(needs & PACKAGES.keys()):
        install(PACKAGES[peer])
    if needs & PACKAGES.keys():
        quietly("make", "--directory", root / "Benchmarks/Peers")
    for product in sorted(needs - PACKAGES.keys()):
        if product == "core":
            quietly(root / "scripts/bench-core", "--build")
        else:
            quietly("swift", "build", "--package-path", root, "--configuration", "release", "--product", product)


def quietly(*command, env=None):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=env)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}:\n{result.stdout}{result.stderr}")
    return result.stdout


def install(packages):
    def is_installed(package):
        query = ["dpkg-query", "--show", "--showformat=${Status}", package]
        return "install ok installed" in subprocess.run(query, capture_output=True, text=True).stdout

    missing = [package for package in packages if not is_installed(package)]
    if not missing:
        return
    root_user = [] if os.geteuid() == 0 else ["sudo"]
    quietly(*root_user, "apt-get", "update", "-qq")
    # A package's service must not start: it would take the standard port and processor time.
    policy = pathlib.Path("/usr/sbin/policy-rc.d")
    if not policy.exists() and os.geteuid() == 0:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        try:
            quietly("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing)
        finally:
            policy.unlink()
    else:
        quietly(*root_user, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing)


def executable(name):
    return root / ".build/release" / name


def figures(command):
    """Runs a program that prints its figures as a line of JSON."""
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=HANG + 600)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}:\n{result.stdout}{result.stderr}")
    return json.loads(result.stdout.splitlines()[-1])


def statecast(workload, *arguments):
    return figures([executable("statecast-bench"), workload, *arguments])


class Server:
    """A process that answers on a port, with a folder of its own."""

    def __init__(self, command, synchronous=False):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        if synchronous:
            quietly("chattr", "+S", self.folder)
        self.port = free_port()
        arguments = [str(part).format(port=self.port, folder=self.folder) for part in command]
        self.process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.wait_until_it_answers(arguments)
        except BaseException:
            self.stop()
            raise

    def wait_until_it_answers(self, arguments):
        end = time.monotonic() + HANG
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise SystemExit(f"{' '.join(arguments)} ended with {self.process.returncode}")
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.01)
        raise SystemExit(f"{' '.join(arguments)} does not answer")

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


REDIS = ["redis-server", "--port", "{port}", "--bind", "127.0.0.1", "--dir", "{folder}", "--save", ""]
REDIS_DURABILITY = {
    "none": ["--appendonly", "no"],
    "everysec": ["--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"],
    "always": ["--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"],
}


def redis(durability, workload, *arguments):
    with Server(REDIS + REDIS_DURABILITY[durability]) as server:
        return figures([root / "Benchmarks/Peers/.build/redis-peer", workload, "--port", server.port, *arguments])


def nats(workload, *arguments, synchronous=False):
    command = ["nats-server", "-a", "127.0.0.1", "-p", "{port}", "-js", "-sd", "{folder}"]
    with Server(command, synchronous) as server:
        return figures([root / "Benchmarks/Peers/.build/nats-peer", workload, "--port", server.port, *arguments])


def databases(workload, *arguments):
    """Runs a workload on a database whose commits wait for another server of this machine."""
    place = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
    place.chmod(0o755)
    servers = [postgres.Server(place / name, fsync="on", shared_buffers="512MB") for name in ("first", "second")]
    try:
        servers[0].begin()
        servers[1].follow(servers[0])
        uri = servers[0].uri
        quietly(executable("statecast-journal"), "create", uri, "bench")
        found = statecast(workload, "--database", uri, *arguments)
        if workload == "stream":
            query = 'SELECT sum(bytes)::float8 / sum("end" - start), avg(bytes) FROM statecast.record'
            per_action, record = quietly("psql", "-tA", "-F", " ", "-c", query, uri).split()
            found = {**found, "rate": found["rate"] * float(per_action), "more": {"record": float(record)}}
        return found
    finally:
        for server in servers:
            server.kill()
        shutil.rmtree(place)


class Primary:
    """statecast-primary with the counter, as a user runs it."""

    def __init__(self, *arguments):
        endpoints = ["--publish", "tcp://127.0.0.1:*", "--actions", "tcp://127.0.0.1:*"]
        start = time.monotonic()
        self.process = subprocess.Popen(
            [str(executable("statecast-primary")), "--app", "counter", *endpoints, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        line = self.process.stdout.readline()
        self.seconds = time.monotonic() - start
        if not line.startswith("ready "):
            raise SystemExit("statecast-primary ended before it was ready")
        self.fields = dict(field.split("=", 1) for field in line.split()[1:])

    def send_lines(self, count):
        """Sends increases through `statecast-send --ndjson`.

        :returns: the seconds until it has ended, with a receipt for each line.
        """
        with tempfile.TemporaryFile(dir=folder) as lines:
            lines.write(b'{"action":"CounterIncreaseRequested"}\n' * count)
            lines.seek(0)
            command = [executable("statecast-send"), "--from", self.fields["publish"], "--store", "counter", "--ndjson"]
            start = time.monotonic()
            subprocess.run(command, stdin=lines, stdout=subprocess.DEVNULL, check=True, timeout=HANG)
            return time.monotonic() - start

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()


def ndjson(count):
    primary = Primary("--journal", "memory")
    try:
        seconds = primary.send_lines(count)
    finally:
        primary.end()
    return {"rate": count / seconds, "seconds": seconds}


def start_after(how, count):
    """The seconds from the start of the process to its ready line, after an end of the previous one."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        primary = Primary("--journal", f"{place}/journal")
        try:
            primary.send_lines(count)
        finally:
            primary.end(how)
        again = Primary("--journal", f"{place}/journal")
        again.end()
        if again.fields["revision"] != str(count):
            raise SystemExit(f"recovered revision {again.fields['revision']} of {count}")
        return {"seconds": again.seconds}


def in_process(benchmark, subject, reference):
    """A subject of a benchmark of the core, and how many times as fast as the reference it is; see scripts/bench-core.
    It runs all of them by turns, in many rounds of its own.
    """
    with tempfile.TemporaryDirectory(dir=folder) as place:
        quietly(root / "scripts/bench-core", "--json", f"{place}/figures", re.escape(benchmark).replace("\\ ", " "))
        subjects = json.loads(pathlib.Path(f"{place}/figures").read_text())
    by_name = {figures["subject"]: figures for figures in subjects}
    ours = by_name[subject]
    return {**ours, "rate": 1e9 / ours["ns"], "reference_ns": by_name[reference]["ns"]}
