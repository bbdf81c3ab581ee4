import assert from "node:assert/strict";
import { test } from "node:test";
import { Cut, decodeValue, encodeValue, StatecastError } from "../statecast.js";

const parsed = (text) => decodeValue(JSON.parse(text));
const isMalformed = (error) => error instanceof StatecastError && error.code === "protocol";

test("special values decode to the types of the language", () => {
    assert.equal(parsed('{"$int":"-9223372036854775808"}'), -9223372036854775808n);
    assert.deepEqual(parsed('{"$bytes":"AP8="}'), Uint8Array.of(0, 255));
    assert.deepEqual(parsed('[{"$float":"nan"},{"$float":"infinity"},{"$float":"-infinity"}]'), [NaN, Infinity, -Infinity]);
    const cut = parsed('{"$cut":{"type":"object","count":3}}');
    assert.ok(cut instanceof Cut);
    assert.deepEqual([cut.type, cut.count], ["object", 3]);
});

test("keys of the state that begin with $ lose one $", () => {
    assert.deepEqual(parsed('{"$$int":"5"}'), { $int: "5" });
    assert.deepEqual(parsed('{"$$$a":1,"$$a":2,"b":3}'), { $$a: 1, $a: 2, b: 3 });
});

test("decoding leaves its argument as it is, and shares what it does not change", () => {
    const source = { plain: { a: [1] }, special: { deep: [{ $int: "9007199254740993" }] } };
    const copy = structuredClone(source);
    const decoded = decodeValue(source);
    assert.deepEqual(source, copy);
    assert.equal(decoded.plain, source.plain);
    assert.deepEqual(decoded.special, { deep: [9007199254740993n] });
    assert.equal(decodeValue(source.plain), source.plain);
});

test("a key __proto__ is an own property and changes no prototype", () => {
    const decoded = parsed('{"__proto__":{"polluted":{"$int":"1"}},"$$x":1}');
    assert.deepEqual(Object.keys(decoded), ["__proto__", "$x"]);
    assert.equal(Object.getPrototypeOf(decoded), Object.prototype);
    assert.equal(decoded.polluted, undefined);
    const encoded = encodeValue(JSON.parse('{"__proto__":{"a":1}}'));
    assert.equal(JSON.stringify(encoded), '{"__proto__":{"a":1}}');
});

test("malformed special values are errors", () => {
    const digits = "9".repeat(1001);
    for (const text of [
        '{"$int":5}', '{"$int":"1.5"}', '{"$int":""}', `{"$int":"${digits}"}`, '{"$float":"inf"}', '{"$float":"toString"}',
        '{"$bytes":"?"}', '{"$bytes":"AA"}', '{"$bytes":7}', '{"$cut":{"type":"object"}}', '{"$cut":null}', '{"$new":1}',
        '{"$a":1,"$b":2}', '{"$int":"1","b":2}', '{"$":1}', "1e400", "-1e999",
    ]) {
        assert.throws(() => parsed(text), isMalformed, text);
    }
});

test("values have at most 128 levels", () => {
    const nested = (levels) => "[".repeat(levels) + "]".repeat(levels);
    assert.ok(Array.isArray(parsed(nested(128))));
    assert.throws(() => parsed(nested(129)), isMalformed);
    assert.throws(() => parsed(nested(20_000)), isMalformed);
    const circular = {};
    circular.self = circular;
    assert.throws(() => encodeValue(circular), TypeError);
});

test("each value survives encoding, JSON and decoding", () => {
    const value = {
        integers: [0, -1, 2 ** 53, 18446744073709551615n, -9007199254740993n],
        floats: [1.5, 1e300, NaN, Infinity, -Infinity],
        bytes: Uint8Array.from({ length: 256 }, (_, index) => index),
        keys: { $int: 1, $$: 2, "": 3, "a/b~c": 4 },
        text: "naïve 😀\u0000",
        others: [true, false, null, [], {}],
    };
    assert.deepEqual(decodeValue(JSON.parse(JSON.stringify(encodeValue(value)))), value);
    assert.equal(encodeValue(7n), 7);
    assert.deepEqual(encodeValue({ when: new Date(0), none: undefined }), { when: "1970-01-01T00:00:00.000Z" });
});

test("values without a form in the state cannot be sent", () => {
    for (const value of [undefined, () => {}, Symbol("s"), new Map(), new Set(), new Cut("object", 1), [undefined], new Float32Array(1)]) {
        assert.throws(() => encodeValue(value), TypeError);
    }
});
