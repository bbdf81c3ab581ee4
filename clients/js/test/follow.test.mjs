import assert from "node:assert/strict";
import { test } from "node:test";
import { Cut, StatecastError } from "../statecast.js";
import { follow, lineage, otherLineage, Queue, splittingFetch, startGateway } from "./gateway.mjs";

test("a stream asks for its paths, depth and log with the token", async (t) => {
    const gateway = await startGateway(t);
    follow(t, gateway.client(), ["/a,b", "/hosts/web~11", "/ü"], { depth: 2, onLog() {} });
    const request = await gateway.next();
    assert.equal(request.url, "/v1/stores/fleet/events?paths=%2Fa%2Cb,%2Fhosts%2Fweb~11,%2F%C3%BC&depth=2&log=1");
    assert.equal(request.headers.authorization, "Bearer secret");
    assert.equal(request.headers.accept, "text/event-stream");
    follow(t, gateway.client(), [""]);
    assert.equal((await gateway.next()).url, "/v1/stores/fleet/events?paths=");
    follow(t, gateway.client(), []);
    assert.equal((await gateway.next()).url, "/v1/stores/fleet/events");
});

test("paths that are malformed or overlap are refused", async (t) => {
    const gateway = await startGateway(t);
    for (const paths of [["a"], ["/~2"], ["", "/a"], ["/a/b", "/a"], ["/a", "/a"], [5]]) {
        assert.throws(() => gateway.client().follow("fleet", paths, () => {}), TypeError);
    }
    follow(t, gateway.client(), ["/a", "/ab"]);
    await gateway.next();
});

test("a state is shown with its position, and patches change it", async (t) => {
    const gateway = await startGateway(t);
    const { handle, states, statuses } = follow(t, gateway.client(), ["/totals", "/list"]);
    assert.equal(handle.status, "connecting");
    assert.equal(handle.position, null);
    const stream = (await gateway.next()).stream();
    stream.event("status", { status: "live", since: 5, why: null });
    stream.state(7, { "/totals": { count: 1, "a/b": { "~": 1, "~1": 1 } }, "/list": [1, 2, 3] });
    const first = await states.next();
    assert.deepEqual(first, {
        values: { "/totals": { count: 1, "a/b": { "~": 1, "~1": 1 } }, "/list": [1, 2, 3] },
        position: { lineage, epoch: 1, revision: 7 }, status: "live", reason: "joined",
    });
    assert.deepEqual(await statuses.next(), { status: "joining", since: null, why: null, error: null });
    assert.deepEqual(await statuses.next(), { status: "live", since: 5, why: null, error: null });
    stream.patch(7, 12, [
        { op: "replace", path: "/totals/count", value: { $int: "9007199254740993" } },
        { op: "replace", path: "/totals/a~1b/~0", value: 2 },
        { op: "replace", path: "/totals/a~1b/~01", value: 3 },
        { op: "add", path: "/totals/new", value: { x: 1 } },
        { op: "add", path: "/totals/new/y", value: 2 },
        { op: "add", path: "/list/1", value: "b" },
        { op: "add", path: "/list/-", value: "z" },
        { op: "remove", path: "/list/0" },
        { op: "replace", path: "/list/0", value: "B" },
    ]);
    const second = await states.next();
    assert.deepEqual(second.values, {
        "/totals": { count: 9007199254740993n, "a/b": { "~": 2, "~1": 3 }, new: { x: 1, y: 2 } }, "/list": ["B", 2, 3, "z"],
    });
    assert.deepEqual([second.position.revision, second.reason], [12, "patch"]);
    assert.equal(handle.position.revision, 12);
    assert.deepEqual(first.values["/list"], [1, 2, 3], "values that were shown never change");
    stream.patch(12, 13, [{ op: "remove", path: "/totals" }, { op: "replace", path: "/list", value: null }]);
    assert.deepEqual((await states.next()).values, { "/list": null });
    stream.patch(13, 14, [{ op: "add", path: "/totals", value: {} }]);
    assert.deepEqual((await states.next()).values, { "/totals": {}, "/list": null });
    stream.patch(14, 15, []);
    assert.equal((await states.next()).position.revision, 15);
});

test("subtrees that a patch does not change keep their identity", async (t) => {
    const gateway = await startGateway(t);
    const { states } = follow(t, gateway.client(), ["/a", "/b"]);
    const stream = (await gateway.next()).stream();
    stream.state(1, { "/a": { x: { deep: [1] }, y: { z: {} } }, "/b": {} });
    const before = (await states.next()).values;
    stream.patch(1, 2, [{ op: "replace", path: "/a/x/deep/0", value: 2 }]);
    const after = (await states.next()).values;
    assert.equal(after["/b"], before["/b"]);
    assert.equal(after["/a"].y, before["/a"].y);
    for (const changed of [(v) => v, (v) => v["/a"], (v) => v["/a"].x, (v) => v["/a"].x.deep]) {
        assert.notEqual(changed(after), changed(before));
    }
});

test("the root is a path, also with operations on the root itself", async (t) => {
    const gateway = await startGateway(t);
    const { states } = follow(t, gateway.client(), [""], { depth: 1 });
    const stream = (await gateway.next()).stream().state(1, { "": { hosts: { $cut: { type: "object", count: 3 } }, n: 1 } });
    const { hosts } = (await states.next()).values[""];
    assert.ok(hosts instanceof Cut);
    stream.patch(1, 2, [{ op: "replace", path: "/n", value: 2 }]);
    const { values } = await states.next();
    assert.equal(values[""].hosts, hosts);
    stream.patch(2, 3, [{ op: "replace", path: "", value: [] }, { op: "add", path: "/0", value: 1 }]);
    assert.deepEqual((await states.next()).values, { "": [1] });
});

for (const size of [1, 2, 3, 7]) {
    for (const lineEnd of ["\n", "\r\n", "\r"]) {
        test(`a stream with line ends ${JSON.stringify(lineEnd)} is read in pieces of ${size} bytes`, async (t) => {
            const gateway = await startGateway(t);
            const { states } = follow(t, gateway.client({ fetch: splittingFetch(size) }), ["/text"]);
            const stream = (await gateway.next()).stream(null);
            const position = (revision) => JSON.stringify({ lineage, epoch: 1, revision });
            const lines = [
                "\uFEFF: comment", "retry: 5", "", "event:hello", 'data: {"version":1,', 'data:"resumed":false}', "",
                "event: unknown", "data: not JSON", "", "data: without a name", "", "event: state",
                `data: {"position":${position(1)},"reason":"joined","values":{"/text":"naïve 😀 語"}}`, "id: x", "", ": comment", "",
                "event: patch", `data: {"from":1,"to":2,"position":${position(2)},`,
                'data: "ops":[{"op":"replace","path":"/text","value":"😀: é"}]}', "", "",
            ];
            stream.raw(lines.join(lineEnd));
            assert.deepEqual((await states.next()).values, { "/text": "naïve 😀 語" });
            assert.deepEqual((await states.next()).values, { "/text": "😀: é" });
        });
    }
}

test("a lost connection is resumed with the shown position", async (t) => {
    const gateway = await startGateway(t);
    const { handle, states, statuses } = follow(t, gateway.client(), ["/n"]);
    const first = (await gateway.next()).stream().state(4, { "/n": 1 }, { epoch: 2 });
    await states.next();
    first.cut();
    const { error } = await statuses.first(({ status }) => status === "offline");
    assert.ok(error instanceof StatecastError);
    assert.equal(error.code, "connection");
    assert.equal(handle.position.revision, 4, "the state stays while the connection is lost");
    const second = await gateway.next();
    assert.equal(second.query.get("since"), `${lineage}.2.4`);
    second.stream({ version: 1, resumed: true, limits: {} }).patch(4, 9, [{ op: "replace", path: "/n", value: 2 }], { epoch: 3 });
    const { values, position, status } = await states.next();
    assert.deepEqual([values, position, status], [{ "/n": 2 }, { lineage, epoch: 3, revision: 9 }, "live"]);
});

test("a connection that is cut within an event delivers only the events before", async (t) => {
    const gateway = await startGateway(t);
    const { states, statuses } = follow(t, gateway.client(), ["/n"]);
    const first = (await gateway.next()).stream().state(1, { "/n": 1 });
    await states.next();
    first.raw(`event: patch\ndata: {"from":1,"to":2,"position":{"lineage":"${lineage}","epoch":1,"revision":2},"ops":[]}\n`);
    first.response.end();
    await statuses.first(({ status }) => status === "offline");
    const second = await gateway.next();
    assert.equal(second.query.get("since"), `${lineage}.1.1`);
    assert.equal(states.length, 0);
});

test("a gateway that restarts announces it, and the stream is resumed", async (t) => {
    const gateway = await startGateway(t);
    const { states, statuses } = follow(t, gateway.client(), ["/n"]);
    const first = (await gateway.next()).stream().state(1, { "/n": 1 });
    await states.next();
    first.event("end", { reason: "stopping", retry: 1 });
    const { error } = await statuses.first(({ status }) => status === "offline");
    assert.deepEqual([error.message, error.retryAfter], ["stopping", 0.001]);
    await first.ended;
    const second = await gateway.next();
    second.fail(503, "no-state", { retryAfter: 0.001 });
    const third = await gateway.next();
    assert.equal(third.query.get("since"), `${lineage}.1.1`);
    third.stream().state(2, { "/n": 2 }, { reason: "behind" });
    assert.equal((await states.next()).reason, "behind");
});

test("a stream that ends because a value is too large is not opened again", async (t) => {
    const gateway = await startGateway(t);
    const { handle, states, statuses } = follow(t, gateway.client(), ["/n"]);
    const stream = (await gateway.next()).stream().state(1, { "/n": 1 });
    await states.next();
    const reached = handle.reached(2);
    stream.event("end", { reason: "too-large", retry: 1 });
    const { status, error } = await statuses.first((each) => ["offline", "closed"].includes(each.status));
    assert.deepEqual([status, error.code, handle.status], ["closed", "too-large", "closed"]);
    await assert.rejects(reached, { code: "too-large" });
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.equal(gateway.requests.length, 0);
});

test("a silent connection is replaced", async (t) => {
    const gateway = await startGateway(t);
    const { statuses } = follow(t, gateway.client({ timeout: 30 }), ["/n"]);
    (await gateway.next()).stream();
    const { error } = await statuses.first(({ status }) => status === "offline");
    assert.equal(error.code, "timeout");
    await gateway.next();
});

test("statuses of the store are passed on", async (t) => {
    const gateway = await startGateway(t);
    const { handle, states, statuses } = follow(t, gateway.client(), ["/n"]);
    const stream = (await gateway.next()).stream().event("status", { status: "stale", since: 7, why: "no heartbeat" });
    stream.state(1, { "/n": 1 });
    assert.equal((await states.next()).status, "stale");
    assert.equal(handle.status, "stale");
    await statuses.next();
    assert.deepEqual(await statuses.next(), { status: "stale", since: 7, why: "no heartbeat", error: null });
});

test("rows of the log are passed on in their order", async (t) => {
    const gateway = await startGateway(t);
    const logs = new Queue();
    follow(t, gateway.client(), [], { onLog: (rows, info) => logs.push({ rows, ...info }) });
    const stream = (await gateway.next()).stream();
    stream.event("log", { actions: [{ id: "1.0", payload: { at: { $int: "9007199254740993" } } }, { id: "2.0" }], skipped: 3 });
    assert.deepEqual(await logs.next(), { rows: [{ id: "1.0", payload: { at: 9007199254740993n } }, { id: "2.0" }], skipped: 3 });
});

test("a refusal that cannot pass ends the stream with its error", async (t) => {
    const gateway = await startGateway(t);
    for (const [status, code] of [[400, "bad-request"], [401, "token"], [403, "origin"], [404, "no-such-store"]]) {
        const { handle, statuses } = follow(t, gateway.client(), ["/n"]);
        const reached = handle.reached(1);
        (await gateway.next()).fail(status, code);
        const { error } = await statuses.first((each) => each.status === "closed");
        assert.deepEqual([error.code, error.status, handle.status], [code, status, "closed"]);
        await assert.rejects(reached, error);
    }
    const { statuses } = follow(t, gateway.client(), ["/n"]);
    (await gateway.next()).stream({ version: 2, resumed: false });
    assert.equal((await statuses.first((each) => each.status === "closed")).error.code, "version");
});

test("a busy gateway is asked again", async (t) => {
    const gateway = await startGateway(t);
    const { states, statuses } = follow(t, gateway.client(), ["/n"]);
    (await gateway.next()).fail(429, "busy", { retryAfter: 0.002 });
    (await gateway.next()).answer("<html>Bad gateway</html>", 502, { "Retry-After": "0" });
    (await gateway.next()).stream().state(1, { "/n": 1 });
    await states.next();
    const errors = [(await statuses.next()).error, (await statuses.next()).error];
    assert.deepEqual(errors.map(({ code, status, retryAfter }) => [code, status, retryAfter]), [["busy", 429, 0.002], ["http", 502, 0]]);
});

test("no callback follows close, and the connection ends", async (t) => {
    const gateway = await startGateway(t);
    let calls = 0;
    const client = gateway.client();
    const handle = client.follow("fleet", ["/n"], () => { calls += 1; handle.close(); }, { onLog() { calls += 1; } });
    const stream = (await gateway.next()).stream(null);
    const hello = 'event: hello\ndata: {"version":1,"resumed":false}\n\n';
    const state = `event: state\ndata: {"position":${JSON.stringify(position)},"values":{}}\n\n`;
    stream.raw(`${hello}${state}event: log\ndata: {"actions":[],"skipped":0}\n\n`);
    await stream.ended;
    assert.equal(calls, 1);
    assert.equal(handle.status, "closed");
    handle.close();
    await assert.rejects(handle.reached(9), { code: "closed" });
});

test("an error in a callback is reported as uncaught, and the stream goes on", async (t) => {
    const gateway = await startGateway(t);
    const states = new Queue();
    const uncaught = new Promise((resolve) => process.setUncaughtExceptionCaptureCallback(resolve));
    t.after(() => process.setUncaughtExceptionCaptureCallback(null));
    const handle = gateway.client().follow("fleet", ["/n"], (values, { position }) => {
        states.push(position.revision);
        if (position.revision === 1) throw new RangeError("of the program");
    });
    t.after(() => handle.close());
    (await gateway.next()).stream().state(1, { "/n": 1 }).patch(1, 2, []);
    assert.equal((await uncaught).message, "of the program");
    assert.deepEqual([await states.next(), await states.next()], [1, 2]);
});

// reached

test("reached waits for the revision, also over a lost connection", async (t) => {
    const gateway = await startGateway(t);
    const { handle, states } = follow(t, gateway.client(), ["/n"]);
    const early = handle.reached(3);
    const first = (await gateway.next()).stream().state(1, { "/n": 1 });
    await states.next();
    let isReached = false;
    const reached = handle.reached({ lineage, revision: 3 }).then(() => { isReached = true; });
    await handle.reached(1);
    first.patch(1, 2, []);
    await states.next();
    await handle.reached(2);
    assert.equal(isReached, false);
    first.cut();
    (await gateway.next()).stream({ version: 1, resumed: true }).patch(2, 5, []);
    await Promise.all([early, reached]);
    await assert.rejects(handle.reached(-1), TypeError);
    await assert.rejects(handle.reached(1.5), TypeError);
});

test("reached rejects when the lineage changes", async (t) => {
    const gateway = await startGateway(t);
    const { handle, states } = follow(t, gateway.client(), ["/n"]);
    const stream = (await gateway.next()).stream().state(4, { "/n": 1 });
    await states.next();
    const ofOld = handle.reached(5);
    const ofNew = handle.reached({ lineage: otherLineage, revision: 1 });
    stream.state(9, { "/n": 2 }, { reason: "lineage", of: otherLineage });
    await assert.rejects(ofOld, { code: "other-lineage" });
    await ofNew;
    await assert.rejects(handle.reached({ lineage, revision: 1 }), { code: "other-lineage" });
    assert.equal((await states.next()).reason, "lineage");
    stream.patch(9, 10, [], { of: otherLineage });
    await handle.reached(10);
});

test("a state that was rewound replaces the newer one", async (t) => {
    const gateway = await startGateway(t);
    const { handle, states } = follow(t, gateway.client(), ["/n"]);
    const stream = (await gateway.next()).stream().state(9, { "/n": 9 });
    await states.next();
    const reached = handle.reached(10);
    stream.state(8, { "/n": 8 }, { reason: "rewound", epoch: 2 });
    const { values, position, reason } = await states.next();
    assert.deepEqual([values, position.revision, reason], [{ "/n": 8 }, 8, "rewound"]);
    stream.patch(8, 10, [{ op: "replace", path: "/n", value: 10 }], { epoch: 2 });
    await reached;
});

// Hostile input

const position = { lineage, epoch: 1, revision: 2 };
const patch = (ops, more = {}) => ["patch", { from: 1, to: 2, position, ops, ...more }];
const deep = (levels) => "[".repeat(levels) + "]".repeat(levels);
const violations = {
    "garbage": ["patch", "garbage"],
    "an event that is no object": ["state", "[]"],
    "a second hello": ["hello", { version: 1, resumed: false }],
    "no position": ["state", { values: {} }],
    "a lineage that is an array": ["state", { position: { ...position, lineage: [lineage] }, values: {} }],
    "a revision beyond 2^53": ["state", `{"position":{"lineage":"${lineage}","epoch":1,"revision":1e300},"values":{}}`],
    "an infinite number": ["state", `{"position":${JSON.stringify(position)},"values":{"/a":1e999}}`],
    "a negative revision": ["state", { position: { ...position, revision: -1 }, values: {} }],
    "no values": ["state", { position }],
    "values that are an array": ["state", { position, values: [] }],
    "a value that is not watched": ["state", { position, values: { "/other": 1 } }],
    "a value __proto__": ["state", `{"position":${JSON.stringify(position)},"values":{"__proto__":{"polluted":1}}}`],
    "an unknown special value": ["state", { position, values: { "/a": { $evil: 1 } } }],
    "10,000 levels": ["state", `{"position":${JSON.stringify(position)},"values":{"/a":${deep(10_000)}}}`],
    "a patch without operations": ["patch", { from: 1, to: 2, position }],
    "a patch from another revision": patch([], { from: 0 }),
    "a patch to another revision": patch([], { to: 3 }),
    "a patch of another lineage": patch([], { position: { ...position, lineage: otherLineage } }),
    "a patch of an earlier epoch": patch([], { position: { ...position, epoch: 0 } }),
    "a patch that goes back": patch([], { to: 0, position: { ...position, revision: 0 } }),
    "an operation that is null": patch([null]),
    "an unknown operation": patch([{ op: "move", path: "/a", value: 1 }]),
    "an operation without a value": patch([{ op: "add", path: "/a/x" }]),
    "a path that is no pointer": patch([{ op: "add", path: "a", value: 1 }]),
    "a path with a wrong escape": patch([{ op: "add", path: "/a/~2", value: 1 }]),
    "a path that is not watched": patch([{ op: "add", path: "/ab", value: 1 }]),
    "a path above the watched one": patch([{ op: "replace", path: "", value: {} }]),
    "a missing parent": patch([{ op: "add", path: "/a/none/x", value: 1 }]),
    "a missing key": patch([{ op: "replace", path: "/a/none", value: 1 }]),
    "a missing key to remove": patch([{ op: "remove", path: "/a/none" }]),
    "a path through a leaf": patch([{ op: "add", path: "/a/leaf/x", value: 1 }]),
    "a path through a text": patch([{ op: "add", path: "/a/text/0", value: 1 }]),
    "a path through null": patch([{ op: "add", path: "/a/null/x", value: 1 }]),
    "a path through bytes": patch([{ op: "replace", path: "/a/bytes/0", value: 1 }]),
    "a path through a cut": patch([{ op: "replace", path: "/a/cut/count", value: 1 }]),
    "a path through the prototype": patch([{ op: "add", path: "/a/__proto__/polluted", value: 1 }]),
    "a path through the constructor": patch([{ op: "add", path: "/a/constructor/prototype/polluted", value: 1 }]),
    "a method of arrays": patch([{ op: "replace", path: "/a/list/length", value: 0 }]),
    "an index beyond the array": patch([{ op: "add", path: "/a/list/3", value: 1 }]),
    "an index that is replaced beyond the array": patch([{ op: "replace", path: "/a/list/2", value: 1 }]),
    "an index with a zero": patch([{ op: "replace", path: "/a/list/01", value: 1 }]),
    "an index that is huge": patch([{ op: "add", path: `/a/list/${"9".repeat(400)}`, value: 1 }]),
    "an end of an array that is removed": patch([{ op: "remove", path: "/a/list/-" }]),
    "a failure after a valid operation": patch([{ op: "add", path: "/a/leaf", value: 2 }, { op: "remove", path: "/a/none" }]),
    "a log that is no array": ["log", { actions: {} }],
    "a row that is null": ["log", { actions: [null] }],
    "a status that is no text": ["status", { status: 5 }],
};
for (const [name, [event, data]] of Object.entries(violations)) {
    test(`${name} is a protocol error; the state stays, and the store is joined again`, async (t) => {
        const gateway = await startGateway(t);
        const { handle, states, statuses } = follow(t, gateway.client(), ["/a"], { onLog() {} });
        const value = { leaf: 1, text: "abc", list: [1, 2], null: null, bytes: { $bytes: "AA==" }, cut: { $cut: { type: "array", count: 1 } } };
        (await gateway.next()).stream().state(1, { "/a": value }).event(event, data);
        const shown = (await states.next()).values;
        const { error } = await statuses.first(({ status }) => status === "offline");
        assert.ok(error instanceof StatecastError);
        assert.equal(error.code, "protocol", error.stack);
        assert.equal(handle.position.revision, 1);
        assert.deepEqual([shown["/a"].leaf, shown["/a"].list], [1, [1, 2]]);
        const second = await gateway.next();
        assert.equal(second.query.get("since"), null, "the state is fetched again");
        second.stream().state(5, { "/a": { leaf: 5 } });
        assert.deepEqual((await states.next()).values, { "/a": { leaf: 5 } });
        assert.equal({}.polluted, undefined);
    });
}

test("streams that begin wrongly are protocol errors", async (t) => {
    const gateway = await startGateway(t);
    const { states, statuses } = follow(t, gateway.client(), ["/a"]);
    const offline = () => statuses.first(({ status }) => status === "offline");
    for (const begin of [
        (request) => request.answer({}),
        (request) => request.answer("<html>"),
        (request) => request.stream(null).state(1, {}),
        (request) => request.stream().patch(0, 1, []),
        (request) => request.stream({ version: 1, resumed: true }),
        (request) => request.stream().raw(Uint8Array.of(0x64, 0xff, 0x0a)),
    ]) {
        begin(await gateway.next());
        assert.equal((await offline()).error.code, "protocol");
    }
    assert.equal(states.length, 0);
});

test("a patch before the state of a stream that did not resume is a protocol error", async (t) => {
    const gateway = await startGateway(t);
    const { states, statuses } = follow(t, gateway.client(), ["/a"]);
    const first = (await gateway.next()).stream().state(1, { "/a": 1 });
    await states.next();
    first.cut();
    (await gateway.next()).stream().patch(1, 2, []);
    await statuses.first(({ error }) => error?.code === "protocol");
    assert.equal((await gateway.next()).query.get("since"), null);
    assert.equal(states.length, 0);
});

test("a key __proto__ of the state is an own property, also after a patch", async (t) => {
    const gateway = await startGateway(t);
    const { states } = follow(t, gateway.client(), ["/a"]);
    const stream = (await gateway.next()).stream();
    stream.event("state", `{"position":${JSON.stringify({ ...position, revision: 1 })},"values":{"/a":{"__proto__":{"x":1}}}}`);
    stream.patch(1, 2, [{ op: "replace", path: "/a/__proto__/x", value: 2 }, { op: "add", path: "/a/y", value: {} }]);
    stream.patch(2, 3, [{ op: "add", path: "/a/y/__proto__", value: { polluted: 1 } }]);
    const [first, second, third] = [await states.next(), await states.next(), await states.next()].map(({ values }) => values["/a"]);
    assert.equal(JSON.stringify(first), '{"__proto__":{"x":1}}');
    assert.equal(JSON.stringify(second), '{"__proto__":{"x":2},"y":{}}');
    assert.equal(JSON.stringify(third), '{"__proto__":{"x":2},"y":{"__proto__":{"polluted":1}}}');
    assert.equal(third.y.polluted, undefined);
    stream.patch(3, 4, [{ op: "remove", path: "/a/__proto__" }]);
    assert.deepEqual(Object.keys((await states.next()).values["/a"]), ["y"]);
});
