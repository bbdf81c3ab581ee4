"""PostgreSQL servers of tests and benchmarks, on free ports of this machine."""
import os
import pathlib
import pwd
import socket
import subprocess


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Server:
    """A PostgreSQL server of its own, in a folder, which must be open to other users: root starts it as `postgres`."""

    PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), default=None)

    def __init__(self, folder, table_bytes=None, **settings):
        """`table_bytes`: the size of a file system of its own for the tables, which root mounts."""
        self.port, self.folder, self.settings = free_port(), folder, settings
        folder.mkdir()
        self.data, self.tables = folder / "data", folder / "tables" if table_bytes else None
        if self.tables:
            self.tables.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={table_bytes}", "none", self.tables], check=True)
        for place in [folder, self.tables]:
            if place and os.geteuid() == 0:
                os.chown(place, pwd.getpwnam("postgres").pw_uid, -1)

    def run(self, program, *arguments):
        path = f"{self.PROGRAMS}/{program}" if self.PROGRAMS else program
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        with (self.folder / f"{program}.out").open("w+") as output:
            done = subprocess.run([*user, path, *arguments], stdout=output, stderr=output)
            if done.returncode != 0:
                output.seek(0)
                raise SystemExit(f"{program} {arguments}: {output.read()}")

    def configure(self, **settings):
        own = dict(
            port=self.port, listen_addresses="127.0.0.1", unix_socket_directories=str(self.folder), fsync="off",
            shared_buffers="32MB", wal_receiver_status_interval="1", wal_retrieve_retry_interval="200ms",
        )
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in {**own, **self.settings, **settings}.items())

    def begin(self):
        self.run("initdb", "--auth=trust", "--username=statecast", "--no-sync", "--pgdata", str(self.data))
        self.configure(synchronous_standby_names="*")
        self.start()
        if self.tables:
            # No other server follows yet.
            self.sql("SET synchronous_commit = local", f"CREATE TABLESPACE tables LOCATION '{self.tables}'")
            self.sql("SET synchronous_commit = local", "ALTER DATABASE postgres SET default_tablespace = tables")

    def follow(self, other):
        self.run(
            "pg_basebackup", "--dbname", other.uri, "--pgdata", str(self.data), "--write-recovery-conf", "--no-sync",
            "--checkpoint", "fast", *([f"--tablespace-mapping={other.tables}={self.tables}"] if self.tables else []),
        )
        self.configure(primary_conninfo=f"host=127.0.0.1 port={other.port} user=statecast application_name=standby")
        self.start()

    def start(self):
        self.run("pg_ctl", "start", "--wait", "--silent", "--pgdata", str(self.data), "--log", str(self.folder / "log"))

    def kill(self):
        if (self.data / "postmaster.pid").exists():
            self.run("pg_ctl", "stop", "--wait", "--silent", "--mode", "immediate", "--pgdata", str(self.data))

    def unmount(self):
        if self.tables:
            subprocess.run(["umount", self.tables], check=True)

    def promote(self):
        self.run("pg_ctl", "promote", "--wait", "--silent", "--pgdata", str(self.data))

    def sql(self, *statements):
        """Executes statements in one session, each in a transaction of its own."""
        self.run("psql", "--quiet", *[f"--command={statement}" for statement in statements], self.uri)

    @property
    def uri(self):
        return f"postgresql://statecast@127.0.0.1:{self.port}/postgres"
