// Compiled, not run: what the types permit, and what they refuse.
import { Cut, RejectedError, Statecast, StatecastError, UnknownOutcomeError, decodeValue, encodeValue } from "../statecast.js";
import type { LogRow, Position, Receipt, Status, Value } from "../statecast.js";

const client = new Statecast("/", { token: "secret", timeout: 1000 });
const following = client.follow("fleet", ["/totals"], (values, { position, reason }) => {
    const totals: Value | undefined = values["/totals"];
    const revision: number = position.revision;
    if (totals instanceof Cut) console.log(totals.type, totals.count, revision, reason === "patch");
    // @ts-expect-error states are shared: a page does not change them
    values["/totals"] = null;
}, {
    depth: 2,
    onLog: (rows: LogRow[], { skipped }) => rows.forEach((row) => console.log("update" in row ? row.ops : row.action, skipped)),
    onStatus: (status: Status, { error }) => console.log(status, error?.code),
});
const sender = client.sender("fleet", { storage: sessionStorage, onResumed: ({ action }, outcome) => console.log(action, outcome) });

export async function run(): Promise<Position | null> {
    try {
        const receipt: Receipt = await sender.send("NoteAdded", { text: encodeValue("hello") });
        await following.reached(receipt);
        await following.reached(receipt.revision);
        await client.get("fleet", "state", { path: "/totals", depth: 1, whole: true, at: null });
    } catch (error) {
        if (error instanceof RejectedError || error instanceof UnknownOutcomeError) console.log(error.number, error.session);
        else if (error instanceof StatecastError) console.log(error.code, error.status, error.retryAfter, error.oldest);
    }
    // @ts-expect-error there is no such route
    await client.get("fleet", "stats");
    // @ts-expect-error paths are a list
    client.follow("fleet", "/totals", () => {});
    console.log(decodeValue({ $int: "9007199254740993" }), (await client.stores()).stores);
    sender.close();
    following.close();
    return following.position;
}
