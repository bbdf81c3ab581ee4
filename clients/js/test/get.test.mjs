import assert from "node:assert/strict";
import { test } from "node:test";
import { Statecast, StatecastError } from "../statecast.js";
import { lineage, startGateway } from "./gateway.mjs";

test("routes are read with their parameters, and values are decoded", async (t) => {
    const gateway = await startGateway(t);
    const client = gateway.client();
    const answer = client.get("a/b", "actions", { path: "/x y", name: ["A,1", "B"], whole: true, at: 0, before: undefined, after: null, log: false });
    const request = await gateway.next();
    assert.equal(request.url, "/v1/stores/a%2Fb/actions?path=%2Fx%20y&name=A%2C1,B&whole=1&at=0");
    assert.equal(request.headers.authorization, "Bearer secret");
    request.answer({ position: { lineage, epoch: 1, revision: 2 }, actions: [{ id: "1.0", payload: { $int: "-9007199254740993" } }] });
    assert.deepEqual((await answer).actions, [{ id: "1.0", payload: -9007199254740993n }]);
    const stores = client.stores();
    const second = await gateway.next();
    assert.equal(second.url, "/v1/stores");
    second.answer({ version: 1, stores: [] });
    assert.deepEqual(await stores, { version: 1, stores: [] });
});

test("the base URL may have a path, and the token is optional", async (t) => {
    const gateway = await startGateway(t);
    const answer = new Statecast(`${gateway.url}/gateway/#token=x`).get("s", "health");
    const request = await gateway.next();
    assert.equal(request.url, "/gateway/v1/stores/s/health");
    assert.equal(request.headers.authorization, undefined);
    request.answer({});
    await answer;
});

test("errors have the code, status and details of the answer", async (t) => {
    const gateway = await startGateway(t);
    const failing = (respond) => {
        const answer = gateway.client().get("s", "state");
        gateway.next().then(respond);
        return answer.then(() => assert.fail("no error"), (error) => error);
    };
    const pruned = await failing((request) => request.fail(410, "pruned", { oldest: 5 }));
    assert.ok(pruned instanceof StatecastError);
    assert.deepEqual([pruned.code, pruned.status, pruned.oldest, pruned.retryAfter], ["pruned", 410, 5, null]);
    const budget = await failing((request) => request.fail(504, "budget", { retryAfter: 2 }));
    assert.deepEqual([budget.code, budget.retryAfter], ["budget", 2]);
    const busy = await failing((request) => request.fail(429, "busy", {}, { "Retry-After": "3" }));
    assert.equal(busy.retryAfter, 3);
    const proxy = await failing((request) => request.answer("<html>", 502));
    assert.deepEqual([proxy.code, proxy.status, proxy.message], ["http", 502, "the answer has status 502"]);
    for (const body of ["null", "5", '{"error":null}', '{"error":{"code":{"toString":1},"message":[],"retryAfter":-1}}']) {
        const error = await failing((request) => request.answer(body, 400));
        assert.deepEqual([error.code, error.status, error.retryAfter], ["http", 400, null]);
    }
    assert.equal((await failing((request) => request.answer("<html>"))).code, "protocol");
    assert.equal((await failing((request) => request.cut())).code, "connection");
    assert.equal((await failing((request) => request.answer("", 302, { Location: "/elsewhere" }))).code, "connection");
});

test("a signal ends a request", async (t) => {
    const gateway = await startGateway(t);
    const controller = new AbortController();
    const answer = gateway.client().get("s", "search", { q: "x" }, { signal: controller.signal });
    const request = await gateway.next();
    controller.abort();
    await assert.rejects(answer, { name: "AbortError" });
    await request.ended;
    await assert.rejects(gateway.client().stores({ signal: controller.signal }), { name: "AbortError" });
});
