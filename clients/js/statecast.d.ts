/** Follows Statecast stores, and sends actions to them, through an HTTP gateway. */

// Values

/**
 * A value of a state, a payload or an answer. Values that were received are shared between states: do not change them.
 *
 * Integers beyond ±2^53 are a `bigint`, byte strings a `Uint8Array`. The order of keys is that of JavaScript objects.
 */
export type Value = null | boolean | number | bigint | string | Uint8Array | Cut | Value[] | { [key: string]: Value };

/** A container below the requested depth: its content was not sent. */
export class Cut {
    constructor(type: string, count: number);
    /** `object` or `array`. */
    readonly type: string;
    /** The number of its children. */
    readonly count: number;
}

/**
 * Converts parsed JSON of a gateway (`$int`, `$bytes`, `$float`, `$cut`, keys with `$$`). `follow` and `get` do so themselves.
 *
 * @throws StatecastError with the code `protocol` if a special value is malformed, or a number is outside the range of a double.
 */
export function decodeValue(json: unknown): Value;

/**
 * Converts a value to JSON for a gateway. `send` does so itself. Members that are `undefined` are omitted; `toJSON` is used.
 *
 * @throws TypeError if a value has no form in a state, such as a function, a `Map` or an object that contains itself.
 */
export function encodeValue(value: unknown): unknown;

// Errors

/** An error of this module. Programs act on its `code`; people read its message. */
export class StatecastError extends Error {
    constructor(
        code: string,
        message: string,
        details?: { cause?: unknown; status?: number | null; retryAfter?: number | null; [name: string]: unknown },
    );
    /**
     * A code of the gateway (`token`, `no-such-path`, `pruned`, `busy`, ...), or:
     * - `connection`: the connection failed
     * - `timeout`: the gateway sent nothing within the time limit
     * - `protocol`: an answer was malformed
     * - `version`: the gateway speaks another version of the protocol
     * - `http`: an answer of another server, such as a proxy; see `status`
     * - `other-lineage`: the revision belongs to a history that the store no longer has
     * - `storage`: the session could not be stored; the action was not sent
     * - `closed`: the program closed the handle or the sender
     */
    readonly code: string;
    /** The HTTP status, if the error is an answer. */
    readonly status: number | null;
    /** The seconds after which the gateway expects a request to succeed. */
    readonly retryAfter: number | null;
    /** With the code `pruned`: the oldest revision that the gateway has. */
    readonly oldest: number | null;
}

/** The store rejected an action. The code is that of the store. */
export class RejectedError extends StatecastError {
    /** The number of the action in its session. */
    readonly number: number;
    readonly session: string;
    readonly lineage: string;
}

/** It is unknown whether an action was applied. The code is `unknown-outcome`; `cause` is the last error, if any. */
export class UnknownOutcomeError extends StatecastError {
    readonly number: number;
    readonly session: string;
    readonly lineage: string;
}

// Following

/** Where a state is in the history of its store. Revisions of different lineages are not comparable. */
export interface Position {
    readonly lineage: string;
    readonly epoch: number;
    readonly revision: number;
}

/**
 * - `connecting`: no stream was opened yet
 * - `joining`, `live`, `stale`, `refused`, `incompatible`: the gateway's relation to the store
 * - `offline`: the connection to the gateway is lost and will be opened again; the shown state stays
 * - `closed`: the stream has ended, by `close()` or by a permanent refusal
 */
export type Status = "connecting" | "joining" | "live" | "stale" | "refused" | "incompatible" | "offline" | "closed";

export interface StateInfo {
    readonly position: Position;
    readonly status: Status;
    /** `patch`: the values are the previous ones with a patch applied. Otherwise, the reason why the gateway sent all values. */
    readonly reason: "patch" | "joined" | "behind" | "rewound" | "lineage";
}

export interface StatusInfo {
    /** Milliseconds since 1970. */
    readonly since: number | null;
    readonly why: string | null;
    /** With `offline` and `closed`: the cause. */
    readonly error: StatecastError | null;
}

/** The watched values, by path. A path that the state does not have is absent. Unchanged subtrees keep their identity. */
export type Values = { readonly [path: string]: Value };

export interface FollowOptions {
    /** Containers below this number of levels are a `Cut`. Without it, values are whole. */
    depth?: number;
    /**
     * Is called with rows of the log, the oldest first; `skipped` rows before them were not sent. After a lost connection,
     * rows may be missing or repeated: compare their ids.
     */
    onLog?: (rows: LogRow[], info: { skipped: number }) => void;
    /** Is called when the status changes or the gateway reports it. Not called by `close()`. */
    onStatus?: (status: Status, info: StatusInfo) => void;
}

/** A row of the log: an action; or without a journal an update of the state. */
export type LogRow = ActionRow | { update: { from: number; to: number }; time: number; ops: number };

export interface ActionRow {
    id: string;
    /** The revision after the action; of a rejected action, the revision that it saw. */
    revision: number;
    batch: { from: number; to: number };
    time: number;
    /** `null` if the journal does not record the action (too large, or not decodable), and for a conversion, which has a `kind`. */
    action: string | null;
    kind?: string;
    payload?: Value;
    /** The size in bytes of a payload that was not sent. */
    cut?: number;
    status?: "applied" | "rejected";
    code?: string;
    message?: string;
    session?: string;
    number?: number;
    user?: string | null;
    /** Milliseconds from the action's time to its arrival at the gateway. */
    delay?: number;
}

export interface Following {
    /** The position of the shown state; `null` before the first one. */
    readonly position: Position | null;
    readonly status: Status;
    /** Ends the stream. No callback is called any more. */
    close(): void;
    /**
     * Resolves when the shown state contains a change: read your own writes. A number is a revision in the lineage of the shown state.
     *
     * @throws StatecastError with the code `other-lineage` if the store has left the lineage, with the code `closed` after
     *     `close()`, or the error with which the stream ended.
     */
    reached(target: number | { lineage: string; revision: number }): Promise<void>;
}

// Sending

export interface Receipt {
    /** The revision that contains the action. */
    readonly revision: number;
    readonly lineage: string;
    readonly number: number;
    readonly session: string;
}

export interface SenderOptions {
    /**
     * Keeps the session, so that the sender of a reloaded page continues it, and repeats the actions without an outcome.
     * Use `sessionStorage`: each tab needs a session of its own.
     */
    storage?: Pick<Storage, "getItem" | "setItem" | "removeItem">;
    /** Keeps two tabs from using one session; `navigator.locks` by default. */
    locks?: LockManager;
    /** Is called for each stored action without an outcome. */
    onResumed?: (action: { number: number; action: string; payload: Value }, outcome: Promise<Receipt>) => void;
}

export interface Sender {
    /**
     * Sends an action; resolves when it is applied. The store applies the actions of a sender in their order, each once.
     * Up to 64 are in flight. Lost connections and busy gateways only delay an action.
     *
     * @throws RejectedError if the store rejected it.
     * @throws UnknownOutcomeError if it is unknown whether it was applied.
     * @throws StatecastError if it was not applied: the gateway refused it, or the sender is closed.
     * @throws TypeError if the payload cannot be encoded.
     */
    send(action: string, payload?: unknown): Promise<Receipt>;
    /** Ends all requests. Their outcomes are unknown, unless a sender with the same storage continues the session. */
    close(): void;
}

// The client

export interface Options {
    /** Is sent as `Authorization: Bearer`. */
    token?: string;
    /** Replaces the global `fetch`. */
    fetch?: typeof fetch;
    /** Milliseconds without a byte of a stream, and for a whole answer (default: 30,000). A gateway sends a comment every 10 s. */
    timeout?: number;
    /** Milliseconds before the first repetition (default: 500); each further one doubles it. Half of it is random. */
    minDelay?: number;
    /** Milliseconds; the limit of the doubling (default: 30,000). */
    maxDelay?: number;
}

export type Route = "state" | "search" | "actions" | "diff" | "blame" | "timeline" | "schema" | "peers" | "health";

/** Parameters of a route. `undefined`, `null` and `false` are omitted, `true` is 1, a list is joined by commas. */
export type Parameters = {
    [name: string]: string | number | boolean | null | undefined | readonly (string | number)[];
};

export class Statecast {
    /** @param url The address of the gateway. In a browser it may be relative, such as `/`. */
    constructor(url: string | URL, options?: Options);
    /**
     * Follows the values at JSON Pointers (`""` is the root) until `close()`. No path may be within another one. Without
     * paths, the stream has only the log and the status.
     *
     * @throws TypeError if the paths are malformed or overlap.
     */
    follow(
        store: string,
        paths: readonly string[],
        onState: (values: Values, info: StateInfo) => void,
        options?: FollowOptions,
    ): Following;
    /** A sender with a session of its own, which it opens with its first action. */
    sender(store: string, options?: SenderOptions): Sender;
    /**
     * Reads a route once, without a repetition. Values in the answer are decoded.
     *
     * @throws StatecastError; the reason of the signal if it was aborted.
     */
    get(store: string, route: Route, params?: Parameters, options?: { signal?: AbortSignal }): Promise<any>;
    /** Reads the list of stores. */
    stores(options?: { signal?: AbortSignal }): Promise<any>;
}
