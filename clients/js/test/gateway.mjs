// A gateway that a test scripts: the test takes each request and decides its answer.
import { createServer } from "node:http";
import { Statecast } from "../statecast.js";

export const lineage = "00112233445566778899aabbccddeeff";
export const otherLineage = "ffeeddccbbaa99887766554433221100";

/** A queue of which tests await the elements. */
export class Queue {
    #elements = [];
    #tasks = [];

    push(element) {
        const task = this.#tasks.shift();
        if (task) task(element);
        else this.#elements.push(element);
    }

    next() {
        if (this.#elements.length > 0) return Promise.resolve(this.#elements.shift());
        return new Promise((resolve) => this.#tasks.push(resolve));
    }

    /** The first of the next elements that satisfies a condition. */
    async first(condition) {
        for (;;) {
            const element = await this.next();
            if (condition(element)) return element;
        }
    }

    get length() { return this.#elements.length; }
}

class Request {
    constructor(request, response, body) {
        this.method = request.method;
        this.url = request.url;
        this.path = request.url.split("?")[0];
        this.query = new URL(request.url, "http://gateway").searchParams;
        this.headers = request.headers;
        this.body = body === "" ? null : JSON.parse(body);
        this.text = body;
        this.response = response;
        this.ended = new Promise((resolve) => response.on("close", resolve));
    }

    answer(value, status = 200, headers = {}) {
        this.response.writeHead(status, { "Content-Type": "application/json", ...headers });
        this.response.end(typeof value === "string" ? value : JSON.stringify(value));
    }

    fail(status, code, details = {}, headers = {}) {
        this.answer({ error: { code, message: `because of ${code}`, ...details } }, status, headers);
    }

    cut() { this.response.destroy(); }

    // An event stream

    stream(hello = { version: 1, resumed: false, limits: {} }) {
        this.response.writeHead(200, { "Content-Type": "text/event-stream; charset=utf-8" });
        this.response.flushHeaders();
        if (hello !== null) this.event("hello", hello);
        return this;
    }

    raw(bytes) {
        this.response.write(bytes);
        return this;
    }

    event(name, data, id = null) {
        const text = typeof data === "string" ? data : JSON.stringify(data);
        return this.raw(`event: ${name}\n${id === null ? "" : `id: ${id}\n`}data: ${text}\n\n`);
    }

    state(revision, values, { reason = "joined", epoch = 1, of = lineage } = {}) {
        const position = { lineage: of, epoch, revision };
        return this.event("state", { position, reason, values }, `${of}.${epoch}.${revision}`);
    }

    patch(from, to, ops, { epoch = 1, of = lineage } = {}) {
        return this.event("patch", { from, to, position: { lineage: of, epoch, revision: to }, ops }, `${of}.${epoch}.${to}`);
    }
}

/** Starts a gateway that lives until the end of a test. */
export async function startGateway(t) {
    const requests = new Queue();
    const server = createServer(async (request, response) => {
        response.on("error", () => {});
        let body = "";
        for await (const chunk of request.setEncoding("utf8")) body += chunk;
        requests.push(new Request(request, response, body));
    });
    server.on("connection", (socket) => socket.setNoDelay(true));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => {
        server.close();
        server.closeAllConnections();
    });
    const url = `http://127.0.0.1:${server.address().port}`;
    const client = (options = {}) => new Statecast(url, { token: "secret", minDelay: 1, maxDelay: 4, ...options });
    return { url, requests, client, next: () => requests.next() };
}

/** Follows until the end of a test; the callbacks fill queues. */
export function follow(t, client, paths, options = {}) {
    const states = new Queue();
    const statuses = new Queue();
    const handle = client.follow(
        "fleet",
        paths,
        (values, info) => states.push({ values, ...info }),
        { onStatus: (status, details) => statuses.push({ status, ...details }), ...options },
    );
    t.after(() => handle.close());
    return { handle, states, statuses };
}

/** A `fetch` that delivers each body in pieces of a given size. */
export function splittingFetch(size) {
    return async (...request) => {
        const response = await fetch(...request);
        const pieces = new TransformStream({
            transform(chunk, controller) {
                for (let start = 0; start < chunk.length; start += size) controller.enqueue(chunk.slice(start, start + size));
            },
        });
        return new Response(response.body.pipeThrough(pieces), { status: response.status, headers: response.headers });
    };
}
