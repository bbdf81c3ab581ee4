"""A client of statecast-gateway for checks: requests as bytes and as JSON, streams of events, and the values that they lead to."""

import http.client
import json
import re
import socket
import threading
import urllib.parse

from processes import HANG, Process


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def query(path, parameters):
    """A path with parameters, encoded."""
    text = urllib.parse.urlencode({key: value for key, value in parameters.items() if value is not None})
    return f"{path}?{text}" if text else path


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """Of the error."""
        try:
            return self.json["error"]["code"]
        except (ValueError, KeyError, TypeError):
            return None

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Gateway(Process):
    """A gateway on this machine, and requests to it."""

    def __init__(self, folder, endpoint, store, *options, port=0, name="gateway"):
        self.store = store
        self.log = open(f"{folder}/{name}.log", "a")
        super().__init__(
            "statecast-gateway",
            "--from",
            endpoint,
            "--store",
            store,
            "--listen",
            f"127.0.0.1:{port}",
            "--token-file",
            f"{folder}/token",
            "--session-secret-file",
            f"{folder}/secret",
            *options,
            stdout=-1,
            stderr=self.log,
        )
        match = self.line(r"http://127\.0\.0\.1:(\d+)/#token=(\S+)")
        self.port, self.token = int(match[1]), match[2]

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    # MARK: Requests as bytes

    def connect(self, text=b"", buffer=None, source=None):
        client = socket.socket()
        if buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        if source:
            client.bind((source, 0))
        client.settimeout(HANG)
        client.connect(("127.0.0.1", self.port))
        if text:
            client.sendall(text)
        return client

    def ask(self, text):
        """All that is answered until the gateway closes."""
        with self.connect() as client:
            try:
                client.sendall(text)
            except OSError:
                pass
            return read_all(client)

    def head(self, path, *lines, method="GET", host=True, token=True):
        """The head of a request without its last line."""
        lines = list(lines)
        if host:
            lines.insert(0, f"Host: {self.host}")
        if token:
            lines.append(f"Authorization: Bearer {self.token}")
        return "".join(f"{line}\r\n" for line in [f"{method} {path} HTTP/1.1", *lines]).encode()

    # MARK: Requests as JSON

    def path(self, route):
        return f"/v1/stores/{self.store}/{route}"

    def request(self, method, path, body=None, headers={}, token=True, timeout=HANG):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            all_headers = {"Authorization": f"Bearer {self.token}"} if token else {}
            connection.request(method, path, body=body, headers={**all_headers, **headers})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def ask_route(self, route, **parameters):
        """The answer of a route of the store."""
        return self.request("GET", query(self.path(route), parameters))

    def get(self, route, **parameters):
        """The JSON of a route of the store, which must succeed; a spent budget is asked for again."""
        while True:
            answer = self.ask_route(route, **parameters)
            if answer.status == 200:
                return answer.json
            assert answer.status == 504, f"{query(route, parameters)}: {answer}"

    def post(self, route, content, timeout=HANG):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        headers = {"Content-Type": "application/json", "Statecast": "1"}
        return self.request("POST", self.path(route), body, headers, timeout=timeout)

    def position(self):
        stores = self.request("GET", "/v1/stores").json["stores"]
        return next(store for store in stores if store["store"] == self.store)

    def stream(self, paths=None, log=False, depth=None, since=None):
        return Stream(self, paths, log, depth, since)

    def stream_path(self, paths=None, log=False, depth=None):
        """The path of a stream, with the encoding of its parameters."""
        parts = []
        if paths is not None:
            parts.append("paths=" + ",".join(urllib.parse.quote(path, safe="") for path in paths))
        if depth is not None:
            parts.append(f"depth={depth}")
        if log:
            parts.append("log=1")
        return self.path("events") + ("?" + "&".join(parts) if parts else "")


class Stream:
    """The events of one connection, which end with an error when it is cut."""

    def __init__(self, gateway, paths, log, depth, since):
        self.connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=HANG)
        headers = {"Authorization": f"Bearer {gateway.token}"}
        if since:
            headers["Last-Event-ID"] = since
        self.connection.request("GET", gateway.stream_path(paths, log, depth), headers=headers)
        self.socket = self.connection.sock
        self.response = self.connection.getresponse()
        if self.response.status != 200:
            raise ConnectionError(f"{self.response.status} {self.response.read()[:300]}")

    def events(self):
        """Tuples of name, JSON and id."""
        name, data, number = None, None, None
        while line := self.response.readline():
            line = line.rstrip(b"\n").decode()
            if not line:
                if name:
                    yield name, json.loads(data), number
                name, data, number = None, None, None
            elif line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data = line[6:]
            elif line.startswith("id: "):
                number = line[4:]

    def close(self):
        """Also ends a thread that waits for an event."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def read_all(client):
    answer = b""
    try:
        while part := client.recv(65536):
            answer += part
    except ConnectionResetError:
        answer += b"<reset>"
    return answer


def statuses(answer):
    """Of all answers in some bytes."""
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d+) ", answer)]


# MARK: Values


def parts(path):
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def part_at(value, path):
    """The value at a pointer; a `KeyError` or an `IndexError` if there is none."""
    for name in parts(path):
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def apply(operations, value):
    """The value after a JSON Patch with `add`, `remove` and `replace`, which are checked."""
    for operation in operations:
        names = parts(operation["path"])
        if not names:
            value = operation["value"]
            continue
        place = value
        for name in names[:-1]:
            place = place[int(name)] if isinstance(place, list) else place[name]
        name = names[-1]
        if isinstance(place, list):
            index = int(name)
            if operation["op"] == "add":
                assert index <= len(place), operation
                place.insert(index, operation["value"])
            elif operation["op"] == "replace":
                place[index] = operation["value"]
            else:
                del place[index]
        elif operation["op"] == "remove":
            del place[name]
        else:
            assert (operation["op"] == "replace") == (name in place), f"{operation['op']} of {operation['path']}"
            place[name] = operation["value"]
    return value


class Follower:
    """A client that keeps a copy of parts of the state and a list of the actions, over restarts of the gateway."""

    def __init__(self, gateway, paths):
        self.gateway, self.paths = gateway, paths
        self.values, self.id, self.revision = {}, None, 0
        self.rows, self.epochs = [], set()
        self.states, self.patches, self.resumes, self.skipped = [], 0, [], 0
        self.status, self.failure = None, None
        self.isEnding = threading.Event()
        self.stream = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.isEnding.is_set():
                try:
                    self.follow()
                except (OSError, http.client.HTTPException):
                    self.isEnding.wait(0.05)
        except BaseException as failure:
            self.failure = failure
            raise

    def follow(self):
        self.stream = self.gateway.stream(self.paths, log=True, since=self.id)
        resumed_from, isFirst, logged = self.id, True, None
        for name, data, number in self.stream.events():
            if name == "hello" and resumed_from:
                assert not self.rows or data["version"] == 1
            elif name == "status":
                self.status = data["status"]
            elif name == "state":
                if resumed_from and isFirst:
                    self.resumes.append(data["reason"])
                isFirst = False
                self.states.append(data["reason"])
                if data["reason"] == "lineage":
                    # Another history, whose rows begin anew.
                    self.rows, self.revision, self.id, logged = [], 0, None, None
                self.values = data["values"]
                self.moved(data["position"], number)
            elif name == "patch":
                # Revisions in between that changed nothing have no event.
                assert self.revision <= data["from"] <= data["to"], f"a patch from {data['from']} at {self.revision}"
                if resumed_from and isFirst:
                    self.resumes.append("patch")
                isFirst = False
                self.patches += 1
                for operation in data["ops"]:
                    path = next(p for p in self.paths if operation["path"] == p or operation["path"].startswith(p + "/"))
                    below = dict(operation, path=operation["path"][len(path) :])
                    if not below["path"] and operation["op"] == "remove":
                        del self.values[path]
                    else:
                        self.values[path] = apply([below], self.values.get(path))
                self.moved(data["position"], number)
            elif name == "log":
                ids = [row_id(row) for row in data["actions"]]
                assert ids == sorted(set(ids)), "the rows of a log are not in order"
                assert logged is None or not ids or ids[0] > logged, f"a row is repeated: {ids[0]} after {logged}"
                # After a connection, and after skipped rows, the older ones come by page.
                if logged is None or data["skipped"]:
                    self.skipped += data["skipped"]
                    self.catch_up()
                logged = ids[-1] if ids else logged
                last = self.rows[-1][0] if self.rows else (0, 0)
                self.rows += [(number, row) for number, row in zip(ids, data["actions"]) if number > last]
            elif name == "end":
                assert data["reason"] == "stopping", data
        raise ConnectionError("the stream ended")

    def moved(self, position, number):
        assert position["revision"] >= self.revision or not self.id
        self.id, self.revision = number, position["revision"]
        self.epochs.add(position["epoch"])

    def catch_up(self):
        while True:
            last = self.rows[-1][1]["id"] if self.rows else "0.0"
            answer = self.gateway.get("actions", after=last, limit=1000)
            self.rows += [(row_id(row), row) for row in reversed(answer["actions"])]
            if not answer["next"]:
                return

    def end(self):
        self.isEnding.set()
        self.stream.close()
        self.thread.join(HANG)


def row_id(row):
    return tuple(map(int, row["id"].split(".")))
