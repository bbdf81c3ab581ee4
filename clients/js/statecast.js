// Follows Statecast stores, and sends actions to them, through an HTTP gateway. For browsers and Node.

const maxInFlight = 64; // actions of one sender without an outcome; the gateway accepts no more
const maxDepth = 128; // levels of an answer: a state has at most 64, and an answer adds a few
const maxEventLength = 64 * 1024 * 1024; // UTF-16 units, so that a broken server does not exhaust the memory
const maxPause = 60_000; // milliseconds; longer pauses that a server asks for are cut
const lockTimeout = 1000; // milliseconds for a page that is being reloaded to release the lock of its session

// Errors

export class StatecastError extends Error {
    constructor(code, message, { cause, ...details } = {}) {
        super(message, cause === undefined ? undefined : { cause });
        Object.assign(this, { code, status: null, retryAfter: null, oldest: null }, details);
        this.name = new.target.name;
    }
}
export class RejectedError extends StatecastError {}
export class UnknownOutcomeError extends StatecastError {}

const closed = () => new StatecastError("closed", "closed by this program");

function check(condition, expectation) {
    if (!condition) throw new StatecastError("protocol", `the gateway's answer is malformed: expected ${expectation}`);
}

/** Whether the same request may succeed later. */
function isTransient({ code, status }) {
    return status === null ? ["connection", "timeout", "protocol"].includes(code) : status === 429 || status >= 500;
}

/** The error of an answer with a status other than 2xx, which may also come from a proxy. */
function failure({ status, headers }, body) {
    let error;
    try { error = JSON.parse(body).error; } catch {}
    const { code, message, oldest = null } = error ?? {};
    const retryAfter = error?.retryAfter ?? Number.parseFloat(headers.get("Retry-After"));
    const details = { status, retryAfter: isPause(retryAfter) ? retryAfter : null, oldest };
    return new StatecastError(text(code, "http"), text(message, `the answer has status ${status}`), details);
}

// Values

export class Cut {
    constructor(type, count) { Object.freeze(Object.assign(this, { type, count })); }
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const isPause = (value) => typeof value === "number" && value >= 0;
const text = (value, otherwise) => (typeof value === "string" ? value : otherwise);
const isText = (value, pattern) => typeof value === "string" && pattern.test(value);
const [lineagePattern, openedPattern] = [/^[0-9a-f]{16,32}$/, /^[0-9a-f]{16,32}\.\d{1,20}$/];
const floats = { nan: NaN, infinity: Infinity, "-infinity": -Infinity };

/** Sets an own property, also with the key `__proto__`. */
function put(target, key, value) {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

export function decodeValue(value) { return decode(value, 0); }
export function encodeValue(value) { return encode(value, 0); }

function decode(value, depth) {
    if (typeof value === "number") check(Number.isFinite(value), "a number in the range of a double");
    if (value === null || typeof value !== "object") return value;
    check(depth < maxDepth, `at most ${maxDepth} levels`);
    const keys = Object.keys(value);
    const isEscaped = !Array.isArray(value) && keys.some((key) => key[0] === "$");
    if (isEscaped && keys.length === 1 && Object.hasOwn(decoders, keys[0])) {
        const [isValid, meaning] = decoders[keys[0]];
        check(isValid(value[keys[0]]), `a valid ${keys[0]}`);
        return meaning(value[keys[0]]);
    }
    let result = isEscaped ? {} : value;
    for (const key of keys) {
        const child = decode(value[key], depth + 1);
        if (isEscaped) {
            check(key[0] !== "$" || key[1] === "$", "a known key after $");
            put(result, key[0] === "$" ? key.slice(1) : key, child);
        } else if (child !== value[key]) {
            if (result === value) result = Array.isArray(value) ? value.slice() : { ...value };
            put(result, key, child);
        }
    }
    return result;
}

/** For each special key, whether a value is valid, and its meaning. */
const decoders = {
    $int: [(value) => isText(value, /^-?\d{1,1000}$/), BigInt],
    $float: [(value) => Object.hasOwn(floats, value), (value) => floats[value]],
    $bytes: [
        (value) => isText(value, /^[A-Za-z0-9+/]*={0,2}$/) && value.length % 4 === 0,
        (value) => Uint8Array.from(atob(value), (character) => character.charCodeAt(0)),
    ],
    $cut: [(value) => isText(value?.type, /./) && isCount(value.count), ({ type, count }) => new Cut(type, count)],
};

function encode(value, depth) {
    if (depth > maxDepth) throw new TypeError("a value that is nested too deeply, or contains itself, cannot be sent");
    if (value === null || Number.isFinite(value) || ["string", "boolean"].includes(typeof value)) return value;
    if (typeof value === "number") return { $float: Object.keys(floats).find((name) => Object.is(floats[name], value)) };
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : { $int: String(value) };
    if (value instanceof Uint8Array) return { $bytes: btoa(Array.from(value, (code) => String.fromCharCode(code)).join("")) };
    if (typeof value?.toJSON === "function") return encode(value.toJSON(), depth + 1);
    if (Array.isArray(value)) return Array.from(value, (element) => encode(element, depth + 1));
    if (typeof value !== "object" || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) {
        throw new TypeError(`a value of type ${value?.constructor?.name ?? typeof value} cannot be sent`);
    }
    const result = {};
    for (const [key, child] of Object.entries(value)) {
        if (child !== undefined) put(result, key[0] === "$" ? `$${key}` : key, encode(child, depth + 1));
    }
    return result;
}

function position(value) {
    const { lineage, epoch, revision } = value ?? {};
    check(isText(lineage, lineagePattern) && isCount(epoch) && isCount(revision), "a position");
    return Object.freeze({ lineage, epoch, revision });
}

/** Whether a patch from one revision to another leads from a position to the next one. */
function isNext({ from, to }, { lineage, epoch, revision }, next) {
    return lineage === next.lineage && epoch <= next.epoch && revision === from && from <= to && to === next.revision;
}

const isPointer = (text) => isText(text, /^(\/|$)/) && !/~(?![01])/.test(text);
const isWithin = (path, root) => path === root || path.startsWith(`${root}/`);
const isLeaf = (value) => value === null || typeof value !== "object" || ArrayBuffer.isView(value) || value instanceof Cut;
const arrayIndex = (key) => (/^(0|[1-9]\d{0,9})$/.test(key) ? Number(key) : Infinity);

function checkExists(parent, key) {
    check(Array.isArray(parent) ? arrayIndex(key) < parent.length : Object.hasOwn(parent, key), "a path that exists");
}

/** The values of watched paths after the operations. Containers that do not change are shared with `values`. */
function applyPatch(values, watched, operations) {
    const copies = new Set();
    const copy = (container) => {
        if (copies.has(container)) return container;
        check(!isLeaf(container), "a path through containers");
        const result = Array.isArray(container) ? container.slice() : { ...container };
        copies.add(result);
        return result;
    };
    const result = copy(values);
    check(Array.isArray(operations), "an array of operations");
    for (const operation of operations) {
        const { op, path, value } = operation ?? {};
        check(isPointer(path), "a JSON Pointer in each operation");
        check(op === "remove" || ((op === "add" || op === "replace") && value !== undefined), "add, remove or replace");
        const root = watched.find((each) => isWithin(path, each));
        check(root !== undefined, "operations below watched paths");
        let [parent, last] = [result, root];
        for (const key of path.slice(root.length).split("/").slice(1)) {
            checkExists(parent, last);
            const child = copy(parent[last]);
            put(parent, last, child);
            [parent, last] = [child, key.replaceAll("~1", "/").replaceAll("~0", "~")];
        }
        if (op !== "add") checkExists(parent, last);
        if (Array.isArray(parent)) {
            const index = op === "add" && last === "-" ? parent.length : arrayIndex(last);
            check(index <= parent.length, "an index in the array");
            parent.splice(index, op === "add" ? 0 : 1, ...(op === "remove" ? [] : [value]));
        } else if (op === "remove") delete parent[last];
        else put(parent, last, value);
    }
    return result;
}

class Connection {
    constructor(url, { token, fetch, timeout = 30_000, minDelay = 500, maxDelay = 30_000 } = {}) {
        const { origin, pathname } = new URL(url, globalThis.location?.href);
        this.base = origin + pathname.replace(/\/+$/, "");
        this.fetch = fetch ?? ((...request) => globalThis.fetch(...request));
        Object.assign(this, { token, timeout, minDelay, maxDelay });
    }

    url(store, route, query = {}) {
        const given = Object.entries(query).filter(([, value]) => (value ?? false) !== false);
        const list = (value) => (value === true ? 1 : [value].flat().map(encodeURIComponent).join(","));
        const items = given.map(([key, value], index) => `${index === 0 ? "?" : "&"}${key}=${list(value)}`);
        return `${this.base}/v1/stores${store === null ? "" : `/${encodeURIComponent(store)}/${route}`}${items.join("")}`;
    }

    /** Returns the result of `read(response, alive)`; the request fails if `alive` is not called within the time limit. */
    async request(url, { signal, headers, ...init }, read) {
        if (signal?.aborted) throw signal.reason;
        const controller = new AbortController();
        const abort = () => controller.abort();
        signal?.addEventListener("abort", abort);
        let timer, isLate = false;
        const alive = () => {
            clearTimeout(timer);
            timer = setTimeout(() => { isLate = true; abort(); }, this.timeout);
        };
        alive();
        try {
            const response = await this.fetch(url, {
                // A redirect could pass the token on to another server.
                redirect: "error", cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer", ...init,
                headers: { ...headers, ...(this.token === undefined ? {} : { Authorization: `Bearer ${this.token}` }) },
                signal: controller.signal,
            });
            if (!response.ok) throw failure(response, await response.text());
            return await read(response, alive);
        } catch (error) {
            if (signal?.aborted) throw signal.reason;
            if (isLate) throw new StatecastError("timeout", `the gateway sent nothing for ${this.timeout} ms`);
            if (error instanceof StatecastError) throw error;
            throw new StatecastError("connection", "the connection to the gateway failed", { cause: error });
        } finally {
            clearTimeout(timer);
            signal?.removeEventListener("abort", abort);
            abort();
        }
    }

    /** The decoded JSON of an answer. */
    json(url, init) { return this.request(url, init, async (response) => parse(await response.text())); }

    /** Repeats a request, with the present body, until it is answered or refused; calls `interrupted` before each repetition. */
    async post(store, route, body, signal, interrupted) {
        const headers = { "Content-Type": "application/json", Statecast: "1" };
        for (let failures = 0; ; failures++) {
            try {
                return await this.json(this.url(store, route), { method: "POST", headers, body: body(), signal });
            } catch (error) {
                if (signal.aborted || error.code === "protocol" || !isTransient(error)) throw error;
                await this.pause(failures, error.retryAfter, signal);
                interrupted?.(error);
            }
        }
    }

    /** Waits after `failures + 1` attempts, at a random time so that clients do not return together. */
    async pause(failures, retryAfter, signal) {
        const backoff = Math.min(this.maxDelay, this.minDelay * 2 ** Math.min(failures, 30)) * (0.5 + Math.random() / 2);
        if (signal.aborted) return;
        await new Promise((resolve) => {
            const timer = setTimeout(end, Math.min(maxPause, (retryAfter ?? 0) * 1000) + backoff);
            signal.addEventListener("abort", end);
            function end() { clearTimeout(timer); signal.removeEventListener("abort", end); resolve(); }
        });
    }
}

/** An event or an answer. */
function parse(text) {
    let value = null;
    try { value = JSON.parse(text); } catch {}
    check(isObject(value), "a JSON object");
    return decodeValue(value);
}

/** An incremental parser of `text/event-stream`. */
class EventParser {
    #decoder = new TextDecoder("utf-8", { fatal: true });
    #rest = ""; #name = ""; #data = "";
    #endsWithReturn = false;

    /** The events that end in a chunk. */
    *push(bytes) {
        let chunk;
        try { chunk = this.#decoder.decode(bytes, { stream: true }); } catch { check(false, "UTF-8"); }
        if (chunk === "") return;
        // A line end may be divided between two chunks.
        const lines = chunk.slice(this.#endsWithReturn && chunk[0] === "\n" ? 1 : 0).split(/\r\n|\r|\n/);
        this.#endsWithReturn = chunk.endsWith("\r");
        lines[0] = this.#rest + lines[0];
        this.#rest = lines.pop();
        for (const line of lines) {
            if (line.startsWith("event:")) this.#name = line.slice(6).trimStart();
            if (line.startsWith("data:")) this.#data += `${line.slice(5)}\n`;
            if (line !== "") continue;
            if (this.#data !== "") yield { name: this.#name, data: this.#data };
            this.#name = this.#data = "";
        }
        check(this.#rest.length + this.#data.length <= maxEventLength, `at most ${maxEventLength} characters`);
    }
}

/** Tasks that wait for the next change of something. */
class Changes {
    #tasks = [];
    next() { return new Promise((resolve) => this.#tasks.push(resolve)); }
    notify() { this.#tasks.splice(0).forEach((resolve) => resolve()); }
}

/** Calls a function of the program. Its errors are reported as uncaught, and do not affect the caller. */
function notify(callback, ...values) {
    try { callback?.(...values); } catch (error) { queueMicrotask(() => { throw error; }); }
}

class Following {
    #connection; #store; #paths; #onState; #options;
    #controller = new AbortController();
    #values = {}; #position = null; #status = "connecting"; #error = null;
    /** The position with which a stream can resume; `null` if the shown state may be wrong. */
    #since = null;
    /** Lineages that the store had before. */
    #left = new Set();
    #changes = new Changes();
    #failures = 0;

    constructor(connection, store, paths, onState, options) {
        if (!paths.every((path) => isPointer(path))) throw new TypeError("each path is a JSON Pointer");
        // An operation could mean either of two overlapping values.
        const isAmbiguous = (path, index) => paths.some((other, place) => place !== index && isWithin(other, path));
        if (paths.some(isAmbiguous)) throw new TypeError("no path is within another one");
        [this.#connection, this.#store, this.#paths] = [connection, store, [...paths]];
        [this.#onState, this.#options] = [onState, options];
        this.#run();
    }

    get position() { return this.#position; }
    get status() { return this.#status; }
    close() { this.#end(null); }

    async reached(target) {
        let { lineage, revision } = typeof target === "number" ? { revision: target } : target;
        if (!isCount(revision)) throw new TypeError("a revision is an integer of 0 or more");
        for (;;) {
            lineage ??= this.#position?.lineage;
            if (lineage === this.#position?.lineage && this.#position?.revision >= revision) return;
            if (this.#controller.signal.aborted) throw this.#error ?? closed();
            const message = `revision ${revision} belongs to a history that the store no longer has`;
            if (this.#left.has(lineage)) throw new StatecastError("other-lineage", message);
            await this.#changes.next();
        }
    }

    async #run() {
        const { signal } = this.#controller;
        while (!signal.aborted) {
            const failuresBefore = this.#failures;
            const error = await this.#stream(signal).catch((error) => error);
            if (signal.aborted) return;
            if (!isTransient(error)) return this.#end(error);
            // Join again, and lengthen the pauses if that does not help.
            if (error.code === "protocol") [this.#since, this.#failures] = [null, failuresBefore];
            this.#show("offline", { error });
            await this.#connection.pause(this.#failures++, error.retryAfter, signal);
        }
    }

    /** Processes one stream; returns why it ended. */
    async #stream(signal) {
        const { depth, onLog } = this.#options;
        const query = { paths: this.#paths.length > 0 && this.#paths, depth, log: onLog !== undefined, since: this.#since };
        const url = this.#connection.url(this.#store, "events", query);
        const init = { signal, headers: { Accept: "text/event-stream" } };
        return this.#connection.request(url, init, async (response, alive) => {
            check(/^text\/event-stream\b/.test(response.headers.get("Content-Type")), "an event stream");
            const [reader, parser] = [response.body.getReader(), new EventParser()];
            const stream = { isGreeted: false, isJoined: false, end: null };
            for (;;) {
                const { done, value } = await reader.read();
                if (done) return new StatecastError("connection", "the connection to the gateway ended");
                alive();
                if (stream.isJoined) this.#failures = 0;
                for (const { name, data } of parser.push(value)) {
                    this.#process(name, data, stream);
                    if (signal.aborted || stream.end !== null) return stream.end;
                }
            }
        });
    }

    #process(name, data, stream) {
        if (!["hello", "state", "patch", "log", "status", "end"].includes(name)) return;
        const event = parse(data);
        const { values, ops, reason } = event;
        const retry = isPause(event.retry) ? event.retry : 1000;
        check(stream.isGreeted === (name !== "hello"), "hello as the first event");
        switch (name) {
            case "hello":
                if (event.version !== 1) throw new StatecastError("version", "the gateway's protocol has another version");
                check(event.resumed !== true || this.#since !== null, "a stream that does not resume");
                stream.isGreeted = true;
                stream.isJoined = event.resumed === true || this.#paths.length === 0;
                this.#show(stream.isJoined ? "live" : "joining");
                break;
            case "state":
                check(isObject(values) && Object.keys(values).every((path) => this.#paths.includes(path)), "watched values");
                this.#update(values, position(event.position), text(reason, "joined"));
                stream.isJoined = true;
                break;
            case "patch":
                check(stream.isJoined && isNext(event, this.#position ?? {}, position(event.position)), "the next patch");
                this.#update(applyPatch(this.#values, this.#paths, ops), position(event.position), "patch");
                break;
            case "log":
                check(Array.isArray(event.actions) && event.actions.every(isObject), "an array of rows");
                notify(this.#options.onLog, event.actions, { skipped: isCount(event.skipped) ? event.skipped : 0 });
                break;
            case "status":
                check(typeof event.status === "string", "a status");
                this.#show(event.status, event);
                break;
            case "end":
                stream.end = reason === "too-large" ? new StatecastError(reason, "a watched value is larger than the gateway sends")
                    : new StatecastError("connection", text(reason, "the stream ended"), { retryAfter: retry / 1000 });
        }
    }

    #update(values, next, reason) {
        this.#left.add(this.#position?.lineage).delete(next.lineage);
        [this.#values, this.#position] = [values, next];
        this.#since = `${next.lineage}.${next.epoch}.${next.revision}`;
        if (this.#status === "joining") this.#show("live");
        if (this.#controller.signal.aborted) return;
        notify(this.#onState, values, { position: next, status: this.#status, reason });
        this.#changes.notify();
    }

    #show(status, { since = null, why = null, error = null } = {}) {
        if (this.#controller.signal.aborted) return;
        [this.#status, this.#error] = [status, error];
        notify(this.#options.onStatus, status, { since, why, error });
    }

    #end(error) {
        if (error !== null) this.#show("closed", { error });
        this.#status = "closed";
        this.#controller.abort(closed());
        this.#changes.notify();
    }
}

class Sender {
    #connection; #store; #options; #key;
    #controller = new AbortController(); #signal = this.#controller.signal;
    #closed = new Promise((resolve) => this.#signal.addEventListener("abort", resolve));
    /** The stored session that is to be continued. */
    #record;
    /** `{ id, opened, next, brokenAt }`. Numbers above `brokenAt` are not repeated, and a new session follows. */
    #session = null;
    /** The actions without an outcome: `{ action, payload }`, by number, in order. */
    #inFlight = new Map();
    #outcomes = new Changes();
    /** One for each request, because Node warns of a signal with many listeners. */
    #requests = new Set();
    /** Ends when all earlier actions have their numbers. */
    #admissions = Promise.resolve();

    constructor(connection, store, options) {
        [this.#connection, this.#store] = [connection, store];
        this.#options = { locks: globalThis.navigator?.locks, ...options };
        this.#key = `statecast ${connection.base} ${store}`;
        this.#record = readRecord(options.storage, this.#key);
        if (this.#record?.pending.length > 0) this.#admissions = this.#openSession().catch(() => {});
    }

    async send(action, payload = {}) {
        const encoded = encodeValue(payload);
        const admission = this.#admissions.then(() => this.#admit(action, encoded));
        this.#admissions = admission.catch(() => {});
        return (await admission).outcome;
    }

    close() {
        for (const controller of [this.#controller, ...this.#requests]) controller.abort(closed());
        this.#outcomes.notify();
    }

    /** Gives an action its number when the session and the window allow it, and sends it. */
    async #admit(action, payload) {
        for (;;) {
            if (this.#signal.aborted) throw this.#signal.reason;
            const needsSession = this.#session === null || this.#session.brokenAt !== null;
            // A new session begins after the last outcome of the old one, which keeps the order.
            if (this.#inFlight.size >= (needsSession ? 1 : maxInFlight)) await this.#outcomes.next();
            else if (needsSession) await this.#openSession();
            else break;
        }
        const session = this.#session;
        const number = session.next;
        // Before the request, so that no other program uses the number for another action.
        this.#save({ ...session, next: number + 1 }, [...this.#inFlight, [number, { action, payload }]]);
        session.next += 1;
        this.#inFlight.set(number, { action, payload });
        return { outcome: this.#deliver(session, number, false) };
    }

    /** Continues the stored session, or begins a new one. */
    async #openSession() {
        const record = this.#record ?? { id: randomSession(), next: 1, brokenAt: null, pending: [] };
        record.isLocked ||= await this.#lock(record.id);
        if (!record.isLocked) this.#record = null;
        if (!record.isLocked) return this.#openSession();
        const request = () => JSON.stringify({ session: record.id });
        const { session: id, opened } = await this.#connection.post(this.#store, "sessions", request, this.#signal);
        check(id === record.id && isText(opened, openedPattern), "the session and its beginning");
        this.#record = null;
        // With another beginning, the store has a new history, or has forgotten the session.
        const brokenAt = opened === (record.opened ?? opened) ? record.brokenAt : 0;
        this.#session = { id, opened, next: record.next, brokenAt };
        this.#inFlight = new Map(record.pending);
        for (const [number, { action, payload }] of record.pending) {
            const outcome = this.#deliver(this.#session, number, true);
            outcome.catch(() => {});
            notify(this.#options.onResumed, { number, action, payload: decodeValue(payload) }, outcome);
        }
    }

    /** Whether this sender alone uses a session: a duplicated tab has a copy of the storage. */
    async #lock(id) {
        const { storage, locks } = this.#options;
        if (!storage || !locks) return true;
        const options = { signal: AbortSignal.timeout(lockTimeout) };
        return new Promise((resolve) => {
            const hold = () => { resolve(true); return this.#closed; };
            locks.request(`statecast ${id}`, options, hold).catch(() => resolve(false));
        });
    }

    /** Repeats a request until its outcome is known. */
    async #deliver(session, number, mayHaveArrived) {
        const { id, opened } = session;
        // The present lowest number, because a gateway that has restarted waits for the numbers from it on.
        const body = () => {
            const [lowest] = this.#inFlight.keys();
            return JSON.stringify({ session: id, opened, number, lowest, ...this.#inFlight.get(number) });
        };
        const details = { number, session: id, lineage: opened.split(".")[0] };
        const unknown = (message, cause) => new UnknownOutcomeError("unknown-outcome", message, { ...details, cause });
        const interrupted = ({ status }) => {
            if (status !== 429 && status !== 503) mayHaveArrived = true;
            if (mayHaveArrived && number > (session.brokenAt ?? Infinity)) throw unknown("the session has ended");
        };
        const controller = new AbortController();
        this.#requests.add(controller);
        try {
            if (mayHaveArrived) interrupted({});
            for (;;) {
                const answer = await this.#connection.post(this.#store, "actions", body, controller.signal, interrupted);
                const { status, revision, code, message } = answer;
                check((answer.number ?? number) === number, "the number of the action");
                if (status === "applied" && isCount(revision)) return { ...details, revision };
                if (status === "rejected") throw new RejectedError(text(code, "refused"), text(message, ""), details);
                if (status === "unknown") throw unknown(text(message, ""));
                check(status === "pending", "an outcome");
                await this.#connection.pause(0, null, controller.signal);
                interrupted({});
            }
        } catch (error) {
            if (error instanceof RejectedError) throw error;
            session.brokenAt = Math.min(session.brokenAt ?? number, number);
            // With a status, the gateway has refused the request.
            const isRefused = error.status !== null && !mayHaveArrived;
            throw isRefused || error instanceof UnknownOutcomeError ? error : unknown(error.message, error);
        } finally {
            this.#requests.delete(controller);
            // After close(), the stored session keeps its open numbers.
            if (!this.#signal.aborted) {
                this.#inFlight.delete(number);
                // If the storage fails, the next program repeats the number, and gets the same outcome.
                try { this.#save(session, [...this.#inFlight]); } catch {}
                this.#outcomes.notify();
            }
        }
    }

    #save(session, pending) {
        const { storage } = this.#options;
        try {
            if (session.brokenAt !== null && pending.length === 0) storage?.removeItem(this.#key);
            else storage?.setItem(this.#key, JSON.stringify({ ...session, pending }));
        } catch (cause) {
            throw new StatecastError("storage", "the session cannot be stored", { cause });
        }
    }
}

function randomSession() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The stored session; `null` if there is none that can be continued. */
function readRecord(storage, key) {
    try {
        const record = JSON.parse(storage.getItem(key));
        const isAction = ([number, { action, payload }]) => number < record.next && text(action) && payload !== undefined;
        return isText(record.id, /^[0-9a-f]{32}$/) && isCount(record.next) && record.pending.every(isAction) ? record : null;
    } catch { return null; }
}

export class Statecast {
    #connection;
    constructor(url, options) { this.#connection = new Connection(url, options); }
    follow(store, paths, onState, options = {}) { return new Following(this.#connection, store, paths, onState, options); }
    sender(store, options = {}) { return new Sender(this.#connection, store, options); }
    async stores({ signal } = {}) { return this.#connection.json(this.#connection.url(null), { signal }); }
    async get(store, route, params = {}, { signal } = {}) {
        return this.#connection.json(this.#connection.url(store, route, params), { signal });
    }
}
