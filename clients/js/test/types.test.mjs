import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as module from "../statecast.js";

test("The types name what the module exports", () => {
    const types = readFileSync(new URL("../statecast.d.ts", import.meta.url), "utf8");
    const named = [...types.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name);
    assert.deepEqual(named.sort(), Object.keys(module).sort());
    const methods = [...types.slice(types.indexOf("export class Statecast {")).matchAll(/^ {4}(\w+)\(/gm)].map(([, name]) => name);
    assert.deepEqual(methods.sort(), Object.getOwnPropertyNames(module.Statecast.prototype).sort());
});
