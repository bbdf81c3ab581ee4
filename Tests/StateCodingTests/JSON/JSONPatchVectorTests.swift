import StateCoding
import Testing

/// The examples of RFC 6902, appendix A, and the rules of RFC 6901 for pointers.
@Suite struct `A JSON Patch of the RFC` {
    @Test(
        arguments: [
            ("A.1", #"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux"}]"#, #"{"baz":"qux","foo":"bar"}"#),
            (
                "A.2", #"{"foo":["bar","baz"]}"#, #"[{"op":"add","path":"/foo/1","value":"qux"}]"#,
                #"{"foo":["bar","qux","baz"]}"#
            ),
            ("A.3", #"{"baz":"qux","foo":"bar"}"#, #"[{"op":"remove","path":"/baz"}]"#, #"{"foo":"bar"}"#),
            ("A.4", #"{"foo":["bar","qux","baz"]}"#, #"[{"op":"remove","path":"/foo/1"}]"#, #"{"foo":["bar","baz"]}"#),
            (
                "A.5", #"{"baz":"qux","foo":"bar"}"#, #"[{"op":"replace","path":"/baz","value":"boo"}]"#,
                #"{"baz":"boo","foo":"bar"}"#
            ),
            (
                "A.6", #"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
                #"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
                #"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#
            ),
            (
                "A.7", #"{"foo":["all","grass","cows","eat"]}"#, #"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#,
                #"{"foo":["all","cows","eat","grass"]}"#
            ),
            (
                "A.8", #"{"baz":"qux","foo":["a",2,"c"]}"#,
                #"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]"#,
                #"{"baz":"qux","foo":["a",2,"c"]}"#
            ),
            (
                "A.10", #"{"foo":"bar"}"#, #"[{"op":"add","path":"/child","value":{"grandchild":{}}}]"#,
                #"{"foo":"bar","child":{"grandchild":{}}}"#
            ),
            (
                "A.11", #"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux","xyz":123}]"#,
                #"{"foo":"bar","baz":"qux"}"#
            ),
            ("A.14", #"{"/":9,"~1":10}"#, #"[{"op":"test","path":"/~01","value":10}]"#, #"{"/":9,"~1":10}"#),
            (
                "A.16", #"{"foo":["bar"]}"#, #"[{"op":"add","path":"/foo/-","value":["abc","def"]}]"#,
                #"{"foo":["bar",["abc","def"]]}"#
            ),
            // Beyond the appendix.
            (
                "whole", #"{"a":1}"#, #"[{"op":"replace","path":"","value":[1]},{"op":"add","path":"/-","value":2}]"#,
                "[1,2]"
            ),
            ("empty key", #"{"":{"":1}}"#, #"[{"op":"replace","path":"//","value":2}]"#, #"{"":{"":2}}"#),
            ("null", #"{"a":1}"#, #"[{"op":"replace","path":"/a","value":null}]"#, #"{"a":null}"#),
            ("add to what is there", #"{"a":1}"#, #"[{"op":"add","path":"/a","value":2}]"#, #"{"a":2}"#),
            ("no operations", "5", "[]", "5"),
            ("onto itself", "[1,2]", #"[{"op":"move","from":"/0","path":"/0"}]"#, "[1,2]"),
            (
                "copy", #"{"a":[1]}"#, #"[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/0","value":0}]"#,
                #"{"a":[1],"b":[0,1]}"#
            ),
            (
                "into what came", "{}", #"[{"op":"add","path":"/a","value":{}},{"op":"add","path":"/a/b","value":1}]"#,
                #"{"a":{"b":1}}"#
            ),
            (
                "gone and back", #"{"a":{"b":1},"c":1}"#,
                #"[{"op":"remove","path":"/a"},{"op":"add","path":"/a","value":{}}]"#, #"{"a":{},"c":1}"#
            ),
            (
                "array in array", "[[1,2],[3]]",
                #"[{"op":"replace","path":"/0/1","value":5},{"op":"copy","from":"/0/1","path":"/1/0"}]"#,
                "[[1,5],[5,3]]"
            ),
            (
                "numbers", "[10,1.0,1e400000000]".replacing("1e400000000", with: "1e3"),
                #"[{"op":"test","path":"","value":[10.0,1,1000]}]"#, "[10,1.0,1000.0]"
            ),
            (
                "exchange", #"{"a":1,"b":2}"#,
                #"[{"op":"move","from":"/a","path":"/c"},{"op":"move","from":"/b","path":"/a"},{"op":"move","from":"/c","path":"/b"}]"#,
                #"{"a":2,"b":1}"#
            ),
            (
                "grown after going in", #"[{"a":1}]"#,
                #"[{"op":"replace","path":"/0/a","value":2},{"op":"add","path":"/0","value":9}]"#, #"[9,{"a":2}]"#
            ),
        ]
    ) func `does what it says`(name: String, document: String, operations: String, expected: String) throws {
        let base = try JSON.value(parsing: document)
        var value = base
        try Patch(jsonPatch: JSON.value(parsing: operations), on: base).apply(to: &value)
        #expect(try value == JSON.value(parsing: expected))
    }

    @Test(
        arguments: [
            (
                "A.9", #"{"baz":"qux"}"#, #"[{"op":"test","path":"/baz","value":"bar"}]"#,
                #"operation 0 test "/baz": expected text "bar", got text "qux""#
            ),
            (
                "A.12", #"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz/bat","value":"qux"}]"#,
                #"operation 0 add "/baz/bat": expected the key text "baz" to be there"#
            ),
            (
                "A.15", #"{"/":9,"~1":10}"#, #"[{"op":"test","path":"/~01","value":"10"}]"#,
                #"operation 0 test "/~01": expected text "10", got the integer 10"#
            ),
            (
                "second", "[1]", #"[{"op":"add","path":"/0","value":0},{"op":"remove","path":"/2"}]"#,
                #"operation 1 remove "/2": expected an index from 0 to 1, got text "2""#
            ),
            (
                "empty", "[]", #"[{"op":"remove","path":"/0"}]"#,
                #"operation 0 remove "/0": expected an array that is not empty, got text "0""#
            ),
            (
                "inside a number", #"{"a":1}"#, #"[{"op":"test","path":"/a/b","value":1}]"#,
                #"operation 0 test "/a/b": expected an object or an array, got the integer 1"#
            ),
            (
                "into itself", #"{"a":{}}"#, #"[{"op":"move","from":"/a","path":"/a/b"}]"#,
                #"operation 0 move "/a" "/a/b": expected a target outside of what is moved"#
            ),
            (
                "the whole gone", "1", #"[{"op":"remove","path":""}]"#,
                #"operation 0 remove "": expected a part to remove, got the whole document"#
            ),
        ]
    ) func `says which operation does not fit`(name: String, document: String, operations: String, message: String)
        throws
    {
        let base = try JSON.value(parsing: document)
        let failure = #expect(throws: CodingFailure.self) {
            try Patch(jsonPatch: JSON.value(parsing: operations), on: base)
        }
        #expect(failure?.code == .patchMismatch && failure?.message == message)
    }

    @Test(arguments: ["/01", "/-1", "/+1", "/1.0", "/ 1", "/", "/1e0", "/3", "/9223372036854775808", "/\u{661}", "/x"])
    func `takes no other index than the RFC's`(pointer: String) throws {
        for name in ["add", "replace", "test", "remove"] {
            let operation: Value = ["op": .text(name), "path": .text(pointer), "value": 1]
            #expect(throws: CodingFailure.self, "\(name)") { try Patch(jsonPatch: [operation], on: [1, 2]) }
        }
        for name in ["replace", "test", "remove"] {
            let operation: Value = ["op": .text(name), "path": "/-", "value": 1]
            #expect(throws: CodingFailure.self, "\(name)") { try Patch(jsonPatch: [operation], on: [1, 2]) }
        }
    }

    @Test(
        arguments: [
            ("A.13", #"[{"op":"add","path":"/baz","value":"qux","op":"remove"}]"#, .duplicateKey),
            ("no array", #"{"op":"add","path":"/a","value":1}"#, .malformed), ("null", "null", .malformed),
            ("no object", "[1]", .malformed), ("no op", #"[{"path":"/a"}]"#, .malformed),
            ("number as op", #"[{"op":1,"path":"/a"}]"#, .malformed),
            ("another op", #"[{"op":"spam","path":"/a"}]"#, .malformed),
            ("capitals", #"[{"op":"Add","path":"/a","value":1}]"#, .malformed),
            ("no path", #"[{"op":"remove"}]"#, .malformed),
            ("null path", #"[{"op":"remove","path":null}]"#, .malformed),
            ("no value", #"[{"op":"add","path":"/a"}]"#, .malformed),
            ("no from", #"[{"op":"copy","path":"/a"}]"#, .malformed),
            ("no slash", #"[{"op":"remove","path":"a"}]"#, .malformed),
            ("half an escape", #"[{"op":"remove","path":"/a~"}]"#, .malformed),
            ("no escape", #"[{"op":"remove","path":"/a~2"}]"#, .malformed),
        ] as [(String, String, CodingFailure.Code)]
    ) func `is refused where it is none`(name: String, operations: String, code: CodingFailure.Code) {
        let failure = #expect(throws: CodingFailure.self) {
            try Patch(jsonPatch: JSON.value(parsing: operations), on: ["a": 1])
        }
        #expect(failure?.code == code)
    }
}
