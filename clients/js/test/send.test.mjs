import assert from "node:assert/strict";
import { test } from "node:test";
import { RejectedError, StatecastError, UnknownOutcomeError } from "../statecast.js";
import { lineage, otherLineage, Queue, startGateway } from "./gateway.mjs";

const opened = `${lineage}.12`;

/** A sender that ends with the test. */
function sender(t, client, options) {
    const result = client.sender("fleet", options);
    t.after(() => result.close());
    return result;
}

/** Answers the request that opens a session; returns the session. */
async function openSession(gateway, at = opened) {
    const request = await gateway.next();
    assert.deepEqual([request.method, request.path, Object.keys(request.body)], ["POST", "/v1/stores/fleet/sessions", ["session"]]);
    assert.match(request.body.session, /^[0-9a-f]{32}$/);
    request.answer({ session: request.body.session, opened: at });
    return request.body.session;
}

/** The next request for an action. */
async function nextAction(gateway) {
    const request = await gateway.next();
    assert.equal(request.path, "/v1/stores/fleet/actions");
    return request;
}

const apply = (request, revision) => request.answer({ number: request.body.number, status: "applied", revision });

/** A storage in memory, which survives a sender. */
class MemoryStorage {
    items = new Map();
    getItem(key) { return this.items.get(key) ?? null; }
    setItem(key, value) { this.items.set(key, value); }
    removeItem(key) { this.items.delete(key); }
}

/** Locks as of `navigator.locks`, of which the waiting requests fail when their time is over. */
class MemoryLocks {
    held = new Set();
    async request(name, { signal }, callback) {
        assert.ok(signal instanceof AbortSignal);
        if (this.held.has(name)) throw new DOMException("", "TimeoutError");
        this.held.add(name);
        await callback();
        this.held.delete(name);
    }
}

test("a session is opened before the first action, whose receipt names its revision", async (t) => {
    const gateway = await startGateway(t);
    const promise = sender(t, gateway.client()).send("NoteAdded", { text: "x", big: 2n ** 60n, $key: 1 });
    const session = await openSession(gateway);
    const request = await nextAction(gateway);
    assert.deepEqual(request.body, {
        session, opened, number: 1, lowest: 1, action: "NoteAdded",
        payload: { text: "x", big: { $int: "1152921504606846976" }, $$key: 1 },
    });
    assert.deepEqual(
        ["authorization", "content-type", "statecast"].map((name) => request.headers[name]),
        ["Bearer secret", "application/json", "1"],
    );
    apply(request, 7);
    assert.deepEqual(await promise, { number: 1, session, lineage, revision: 7 });
});

test("actions are numbered in their order, and at most 64 are in flight", async (t) => {
    const gateway = await startGateway(t);
    const client = sender(t, gateway.client());
    const results = Array.from({ length: 70 }, (_, index) => client.send("Counted", { index }));
    await openSession(gateway);
    const requests = [];
    for (let index = 0; index < 64; index++) requests.push(await nextAction(gateway));
    requests.sort((a, b) => a.body.number - b.body.number);
    for (const [index, { body }] of requests.entries()) {
        assert.deepEqual([body.number, body.lowest, body.payload], [index + 1, 1, { index }]);
    }
    assert.equal(gateway.requests.length, 0);
    apply(requests[1], 102);
    const request65 = await nextAction(gateway);
    assert.deepEqual([request65.body.number, request65.body.lowest], [65, 1]);
    apply(requests[0], 101);
    const request66 = await nextAction(gateway);
    assert.deepEqual([request66.body.number, request66.body.lowest], [66, 3]);
    for (const request of [...requests.slice(2), request65, request66]) apply(request, 100 + request.body.number);
    for (let index = 67; index <= 70; index++) {
        const request = await nextAction(gateway);
        apply(request, 100 + request.body.number);
    }
    const receipts = await Promise.all(results);
    assert.deepEqual(receipts.map(({ number, revision }) => [number, revision]), receipts.map((_, index) => [index + 1, index + 101]));
});

test("a request whose connection is cut is repeated unchanged", async (t) => {
    const gateway = await startGateway(t);
    const promise = sender(t, gateway.client()).send("A");
    const opening = await gateway.next();
    opening.cut();
    const again = await gateway.next();
    assert.deepEqual(again.body, opening.body);
    again.answer({ session: again.body.session, opened });
    const first = await nextAction(gateway);
    first.cut();
    const second = await nextAction(gateway);
    assert.equal(second.text, first.text);
    second.response.writeHead(200, { "Content-Type": "application/json", "Content-Length": 100 });
    second.response.write('{"number":1,"sta');
    second.cut();
    const third = await nextAction(gateway);
    assert.equal(third.text, first.text);
    apply(third, 5);
    assert.equal((await promise).revision, 5);
});

test("a repetition has the lowest number that is then in flight", async (t) => {
    const gateway = await startGateway(t);
    const storage = new MemoryStorage();
    const client = sender(t, gateway.client(), { storage });
    const results = [client.send("A"), client.send("B"), client.send("C", { $n: 2n ** 60n })];
    await openSession(gateway);
    const requests = [await nextAction(gateway), await nextAction(gateway), await nextAction(gateway)];
    requests.sort((a, b) => a.body.number - b.body.number);
    apply(requests[0], 1);
    apply(requests[1], 2);
    await Promise.all(results.slice(0, 2));
    // A gateway that has restarted begins the session at `lowest`.
    requests[2].cut();
    const again = await nextAction(gateway);
    assert.deepEqual(again.body, { ...requests[2].body, lowest: 3 });
    client.close();
    await assert.rejects(results[2], UnknownOutcomeError);
    const resumed = new Queue();
    sender(t, gateway.client(), { storage, onResumed: (action, outcome) => resumed.push(outcome) });
    await openSession(gateway);
    const reloaded = await nextAction(gateway);
    assert.deepEqual(reloaded.body, again.body);
    apply(reloaded, 3);
    assert.equal((await resumed.next()).revision, 3);
});

test("a pending, busy or absent gateway is asked again", async (t) => {
    const gateway = await startGateway(t);
    const promise = sender(t, gateway.client()).send("A");
    (await gateway.next()).fail(429, "busy", { retryAfter: 0.001 });
    await openSession(gateway);
    const first = await nextAction(gateway);
    first.answer({ number: 1, status: "pending" }, 202);
    for (const answer of [
        (request) => request.fail(429, "busy", { retryAfter: 0.001 }),
        (request) => request.fail(503, "no-state"),
        (request) => request.answer("", 502),
        (request) => request.answer({ number: 1, status: "pending" }, 202),
    ]) {
        const request = await nextAction(gateway);
        assert.equal(request.text, first.text);
        answer(request);
    }
    apply(await nextAction(gateway), 2);
    assert.equal((await promise).revision, 2);
});

test("a gateway that never answers is asked again", async (t) => {
    const gateway = await startGateway(t);
    const promise = sender(t, gateway.client({ timeout: 30 })).send("A");
    await gateway.next();
    await openSession(gateway);
    const first = await nextAction(gateway);
    const second = await nextAction(gateway);
    assert.equal(second.text, first.text);
    apply(second, 1);
    await promise;
});

test("a rejected action throws its code, and the next action follows in the session", async (t) => {
    const gateway = await startGateway(t);
    const client = sender(t, gateway.client());
    const rejected = client.send("A");
    const session = await openSession(gateway);
    (await nextAction(gateway)).answer({ status: "rejected", code: "undecodable", message: "A: no text" });
    await assert.rejects(rejected, (error) => {
        assert.ok(error instanceof RejectedError && error instanceof StatecastError);
        assert.deepEqual([error.name, error.code, error.message, error.number, error.session],
            ["RejectedError", "undecodable", "A: no text", 1, session]);
        return true;
    });
    const applied = client.send("B");
    const request = await nextAction(gateway);
    assert.deepEqual([request.body.number, request.body.lowest, request.body.session], [2, 2, session]);
    apply(request, 3);
    await applied;
});

test("an unknown outcome is an error, and a new session begins after the last outcome of the old one", async (t) => {
    const gateway = await startGateway(t);
    const client = sender(t, gateway.client());
    const results = [client.send("A"), client.send("B")];
    const session = await openSession(gateway);
    const requests = [await nextAction(gateway), await nextAction(gateway)].sort((a, b) => a.body.number - b.body.number);
    requests[0].answer({ number: 1, status: "unknown", message: "the store has a new history" });
    await assert.rejects(results[0], (error) => {
        assert.ok(error instanceof UnknownOutcomeError);
        assert.deepEqual([error.code, error.message, error.number, error.session],
            ["unknown-outcome", "the store has a new history", 1, session]);
        return true;
    });
    results.push(client.send("C"));
    await Promise.resolve();
    assert.equal(gateway.requests.length, 0);
    requests[1].answer({ number: 2, status: "unknown", message: "" });
    await assert.rejects(results[1], UnknownOutcomeError);
    const newSession = await openSession(gateway, `${otherLineage}.0`);
    assert.notEqual(newSession, session);
    const request = await nextAction(gateway);
    assert.deepEqual([request.body.number, request.body.opened], [1, `${otherLineage}.0`]);
    apply(request, 1);
    assert.equal((await results[2]).lineage, otherLineage);
});

test("a refused first request is its error; a refused repetition is an unknown outcome", async (t) => {
    const gateway = await startGateway(t);
    const client = sender(t, gateway.client());
    const refused = client.send("A");
    await openSession(gateway);
    (await nextAction(gateway)).fail(409, "number-used");
    await assert.rejects(refused, (error) => error.code === "number-used" && error.status === 409 && !(error instanceof UnknownOutcomeError));
    const unknown = client.send("A");
    await openSession(gateway);
    (await nextAction(gateway)).cut();
    (await nextAction(gateway)).fail(401, "token");
    await assert.rejects(unknown, (error) => error instanceof UnknownOutcomeError && error.cause.code === "token");
    const busyThenRefused = client.send("A");
    await openSession(gateway);
    (await nextAction(gateway)).fail(429, "busy", { retryAfter: 0 });
    (await nextAction(gateway)).fail(401, "token");
    await assert.rejects(busyThenRefused, { code: "token", name: "StatecastError" });
});

test("numbers after a refused one are not repeated, because they can never be applied", async (t) => {
    const gateway = await startGateway(t);
    const client = sender(t, gateway.client());
    const results = [client.send("A"), client.send("B"), client.send("C")];
    await openSession(gateway);
    const requests = [await nextAction(gateway), await nextAction(gateway), await nextAction(gateway)];
    requests.sort((a, b) => a.body.number - b.body.number);
    requests[1].fail(413, "too-large");
    await assert.rejects(results[1], { code: "too-large", name: "StatecastError" });
    requests[2].answer({ number: 3, status: "pending" }, 202);
    await assert.rejects(results[2], UnknownOutcomeError);
    requests[0].cut();
    const repeated = await nextAction(gateway);
    assert.equal(repeated.body.number, 1, "numbers before are repeated");
    apply(repeated, 1);
    await results[0];
});

test("a session that cannot be opened fails the action, and the next action tries again", async (t) => {
    const gateway = await startGateway(t);
    const client = sender(t, gateway.client());
    const refused = client.send("A");
    (await gateway.next()).fail(403, "read-only");
    await assert.rejects(refused, { code: "read-only", status: 403 });
    const malformed = client.send("A");
    const request = await gateway.next();
    request.answer({ session: request.body.session, opened: "?" });
    await assert.rejects(malformed, { code: "protocol" });
    const applied = client.send("A");
    await openSession(gateway);
    apply(await nextAction(gateway), 1);
    await applied;
});

test("malformed outcomes are unknown outcomes", async (t) => {
    const gateway = await startGateway(t);
    const client = sender(t, gateway.client());
    for (const answer of [
        "garbage", "[]", "null", { number: 9, status: "applied", revision: 1 }, { number: 1, status: "applied", revision: -1 },
        '{"number":1,"status":"applied","revision":1e300}', { number: 1, status: "done" }, { number: 1 },
        { number: 1, status: { toString: 1 } },
    ]) {
        const result = client.send("A");
        await openSession(gateway);
        (await nextAction(gateway)).answer(answer);
        await assert.rejects(result, (error) => error instanceof UnknownOutcomeError && error.cause.code === "protocol");
    }
    const rejected = client.send("A");
    await openSession(gateway);
    (await nextAction(gateway)).answer({ number: 1, status: "rejected", code: { toString: 1 }, message: { toString: 1 } });
    await assert.rejects(rejected, { name: "RejectedError", code: "refused", message: "" });
});

test("close makes open outcomes unknown, and refuses actions that were not sent", async (t) => {
    const gateway = await startGateway(t);
    const client = sender(t, gateway.client());
    const sent = client.send("A");
    await openSession(gateway);
    const request = await nextAction(gateway);
    client.close();
    await assert.rejects(sent, (error) => error instanceof UnknownOutcomeError && error.cause.code === "closed");
    await assert.rejects(client.send("B"), { code: "closed" });
    await request.ended;
    const waiting = gateway.client().sender("fleet");
    const unsent = [waiting.send("A"), waiting.send("B")];
    await gateway.next();
    waiting.close();
    for (const result of unsent) await assert.rejects(result, { code: "closed", name: "StatecastError" });
});

test("a payload that cannot be sent is refused before it gets a number", async (t) => {
    const gateway = await startGateway(t);
    const client = sender(t, gateway.client());
    await assert.rejects(client.send("A", new Map()), TypeError);
    const applied = client.send("B");
    await openSession(gateway);
    const request = await nextAction(gateway);
    assert.equal(request.body.number, 1);
    apply(request, 1);
    await applied;
});

// Stored sessions

test("a stored session is continued with the next number", async (t) => {
    const gateway = await startGateway(t);
    const storage = new MemoryStorage();
    const first = sender(t, gateway.client(), { storage });
    const applied = first.send("A");
    const session = await openSession(gateway);
    apply(await nextAction(gateway), 1);
    await applied;
    first.close();
    const second = sender(t, gateway.client(), { storage });
    const result = second.send("B");
    assert.equal(await openSession(gateway), session);
    const request = await nextAction(gateway);
    assert.deepEqual([request.body.number, request.body.lowest, request.body.session], [2, 2, session]);
    apply(request, 2);
    assert.equal((await result).number, 2);
});

test("after a reload, open numbers are repeated, and their outcomes are reported", async (t) => {
    const gateway = await startGateway(t);
    const storage = new MemoryStorage();
    const first = sender(t, gateway.client(), { storage });
    const lost = [first.send("A", { n: 2n ** 60n }), first.send("B"), first.send("C")];
    const session = await openSession(gateway);
    const requests = [await nextAction(gateway), await nextAction(gateway), await nextAction(gateway)];
    requests.sort((a, b) => a.body.number - b.body.number);
    apply(requests[1], 2);
    await lost[1];
    first.close();
    for (const result of [lost[0], lost[2]]) await assert.rejects(result, UnknownOutcomeError);
    const resumed = new Queue();
    const second = sender(t, gateway.client(), { storage, onResumed: (action, outcome) => resumed.push({ ...action, outcome }) });
    assert.equal(await openSession(gateway), session);
    const again = [await nextAction(gateway), await nextAction(gateway)].sort((a, b) => a.body.number - b.body.number);
    assert.deepEqual(again.map(({ text }) => text), [requests[0].text, requests[2].text]);
    const [a, c] = [await resumed.next(), await resumed.next()];
    assert.deepEqual([a.number, a.action, a.payload, c.number], [1, "A", { n: 2n ** 60n }, 3]);
    apply(again[0], 1);
    again[1].answer({ number: 3, status: "rejected", code: "conflict", message: "" });
    assert.equal((await a.outcome).revision, 1);
    await assert.rejects(c.outcome, { code: "conflict" });
    const next = second.send("D");
    const request = await nextAction(gateway);
    assert.equal(request.body.number, 4);
    apply(request, 4);
    await next;
});

test("a number is stored before its request", async (t) => {
    const gateway = await startGateway(t);
    const storage = new MemoryStorage();
    let record = null;
    const client = gateway.client({
        fetch: (url, init) => {
            if (url.endsWith("/actions")) record = JSON.parse([...storage.items.values()][0]);
            return fetch(url, init);
        },
    });
    const result = sender(t, client, { storage }).send("A");
    const session = await openSession(gateway);
    const request = await nextAction(gateway);
    assert.deepEqual(record, { id: session, opened, next: 2, brokenAt: null, pending: [[1, { action: "A", payload: {} }]] });
    apply(request, 1);
    await result;
    assert.deepEqual(JSON.parse([...storage.items.values()][0]).pending, []);
});

test("a stored session that the store has forgotten makes its outcomes unknown, and a new one begins", async (t) => {
    const gateway = await startGateway(t);
    const storage = new MemoryStorage();
    const first = sender(t, gateway.client(), { storage });
    const lost = first.send("A");
    const session = await openSession(gateway);
    await nextAction(gateway);
    first.close();
    await assert.rejects(lost, UnknownOutcomeError);
    const resumed = new Queue();
    const second = sender(t, gateway.client(), { storage, onResumed: (action, outcome) => resumed.push(outcome) });
    const result = second.send("B");
    assert.equal(await openSession(gateway, `${otherLineage}.0`), session);
    await assert.rejects(resumed.next(), UnknownOutcomeError);
    assert.notEqual(await openSession(gateway, `${otherLineage}.0`), session);
    const request = await nextAction(gateway);
    assert.deepEqual([request.body.number, request.body.action], [1, "B"]);
    apply(request, 1);
    await result;
});

test("a duplicated tab has a session of its own", async (t) => {
    const gateway = await startGateway(t);
    const locks = new MemoryLocks();
    const storage = new MemoryStorage();
    const original = sender(t, gateway.client(), { storage, locks });
    const open = original.send("A");
    const session = await openSession(gateway);
    const request = await nextAction(gateway);
    const copy = new MemoryStorage();
    copy.items = new Map(storage.items);
    const duplicate = sender(t, gateway.client(), { storage: copy, locks });
    const result = duplicate.send("B");
    assert.notEqual(await openSession(gateway), session);
    const other = await nextAction(gateway);
    assert.deepEqual([other.body.number, other.body.action], [1, "B"]);
    apply(request, 1);
    apply(other, 2);
    await Promise.all([open, result]);
    original.close();
    const reloaded = sender(t, gateway.client(), { storage, locks });
    const next = reloaded.send("C");
    assert.equal(await openSession(gateway), session, "a closed sender releases its session");
    apply(await nextAction(gateway), 3);
    await next;
});

test("a storage that is full refuses an action without using its number", async (t) => {
    const gateway = await startGateway(t);
    const storage = new MemoryStorage();
    const client = sender(t, gateway.client(), { storage });
    const setItem = storage.setItem;
    storage.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };
    const refused = client.send("A");
    await openSession(gateway);
    await assert.rejects(refused, (error) => error.code === "storage" && error.cause.name === "QuotaExceededError");
    storage.setItem = setItem;
    const applied = client.send("B");
    const request = await nextAction(gateway);
    assert.deepEqual([request.body.number, request.body.action], [1, "B"]);
    apply(request, 1);
    await applied;
});

test("a damaged record begins a new session", async (t) => {
    const gateway = await startGateway(t);
    const id = "0".repeat(32);
    for (const record of ["", "{", "null", "5", "{}", `{"id":"${id}","opened":"${opened}","next":2,"brokenAt":null,"pending":[[1,"{}"]]}`,
        `{"id":"${id}","opened":"${opened}","next":2,"brokenAt":null,"pending":[[1,{"action":"A"}]]}`]) {
        const storage = new MemoryStorage();
        storage.getItem = () => record;
        const result = sender(t, gateway.client(), { storage }).send("A");
        assert.notEqual(await openSession(gateway), id);
        apply(await nextAction(gateway), 1);
        await result;
    }
});
