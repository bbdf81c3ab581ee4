import ArgumentParser
import Foundation
import StatecastCoding
import Testing

@testable import StatecastCommandLine

@Suite struct ActionRequestTests {
    @Suite struct OnALine {
        private func request(_ line: String) throws(MalformedLine) -> ActionRequest {
            try ActionRequest(line: Array(line.utf8), number: 1)
        }

        private func fault(_ line: String) -> String? {
            do throws(MalformedLine) {
                _ = try request(line)
                return nil
            } catch { return error.message }
        }

        @Test func `a line has an action and its payload, in any order and with any white space`() throws {
            let step = try request(#"{"action":"StepChangeRequested","payload":{"step":7}}"#)
            #expect(step.name == "StepChangeRequested")
            #expect(step.payload == ["step": 7])
            #expect(try request(" { \"payload\" : {\"step\":7} , \"action\" : \"StepChangeRequested\" }\t\r") == step)
        }

        @Test func `the default payload is empty`() throws {
            #expect(try request(#"{"action":"Reset"}"#).payload == .map([:]))
        }

        @Test(
            arguments: [("null", Value.null), ("7", 7), ("[1,2]", [1, 2]), (#""text""#, "text")] as [(String, Value)]
        )
        func `a payload may be any JSON`(text: String, payload: Value) throws {
            #expect(try request(#"{"action":"A","payload":\#(text)}"#).payload == payload)
        }

        @Test(arguments: [
            "{}", #"{"payload":{}}"#, #"{"action":7}"#, #"{"action":null}"#, #"{"action":{"name":"A"}}"#, "[]", "7",
            #""Reset""#, "null",
        ]) func `the error for a line without a name has a valid example`(line: String) throws {
            let message = try #require(fault(line))
            let example = try #require(message.firstIndex(of: "{").map { String(message[$0...]) })
            #expect(try request(example).name == "StepChangeRequested")
        }

        @Test func `an unknown field is named`() throws {
            let message = try #require(fault(#"{"action":"A","paylod":{}}"#))
            #expect(message.contains("\"paylod\""))
            #expect(message.contains("\"action\" and \"payload\""))
        }

        @Test(arguments: ["", "{", #"{"action":"A""#, "action", #"{"action":"A"} {}"#, #"{"action":"A","payload":}"#])
        func `a line that is not JSON is refused with the column alone`(line: String) throws {
            let message = try #require(fault(line))
            #expect(message.hasPrefix("not JSON: column "))
        }

        @Test func `another encoding than UTF-8 is refused`() throws {
            let bytes = [0xFF, 0xFE] + Array(try #require(#"{"action":"A"}"#.data(using: .utf16LittleEndian)))
            let failure = #expect(throws: MalformedLine.self) { try ActionRequest(.line(number: 1, bytes)) }
            #expect(failure?.message.hasPrefix("not JSON: column 1:") == true, "\(String(describing: failure))")
        }

        @Test func `carriage returns alone do not end a line`() throws {
            #expect(try #require(fault("{\"action\":\"A\"}\r{\"action\":\"B\"}\r")).hasPrefix("not JSON: column "))
            #expect(try request("{\"action\":\r\"A\"}\r").name == "A")
            let long = #expect(throws: MalformedLine.self) { try ActionRequest(.tooLong(number: 1)) }
            #expect(long?.message.contains("a line must end with a line feed") == true)
        }

        @Test func `a duplicate field is refused`() throws {
            #expect(fault(#"{"action":"A","action":"B"}"#) != nil)
        }

        @Test func `bytes that are not UTF-8 are refused`() {
            #expect(throws: MalformedLine.self) {
                try ActionRequest(line: Array(#"{"action":""#.utf8) + [0xFF] + Array(#""}"#.utf8), number: 1)
            }
        }

        @Test func `depth is bounded`() {
            let deep = String(repeating: "[", count: 100_000)
            #expect(fault(#"{"action":"A","payload":\#(deep)"#) != nil)
        }
    }

    @Suite struct OnTheCommandLine {
        private func payload(_ arguments: String...) throws -> Value {
            try ActionRequest(name: "A", payload: arguments).payload
        }

        @Test func `the payload is an argument of its own, and optional`() throws {
            #expect(try payload(#"{"step":7}"#) == ["step": 7])
            #expect(try payload() == .map([:]))
        }

        @Test func `a field's value is JSON if it parses, or else a text`() throws {
            #expect(try payload("step=7") == ["step": 7])
            #expect(
                try payload("name=web-1", "count=-2", "note=a=b", "empty=", "list=[1,2]", #"text="7""#, "on=true")
                    == [
                        "name": "web-1", "count": -2, "note": "a=b", "empty": "", "list": [1, 2], "text": "7",
                        "on": true,
                    ]
            )
            #expect(try payload(#"{"a":"b=c"}"#) == ["a": "b=c"])
            #expect(try payload(#""a=b""#) == "a=b")
        }

        @Test func `a payload that is not JSON is wrong usage`() throws {
            let failure = try #require(throws: CommandFailure.self) { try payload("{step:7}") }
            #expect(failure.exitCode == .validationFailure)
            #expect(failure.message.hasPrefix("the payload is not JSON: "))
        }

        @Test(arguments: [
            (["step=7", "{}"], "expected a field such as step=7, got \"{}\""),
            (["step=7", "step=8"], "step stands twice"),
            (["{}", "step=7"], "got \"{}\""),
        ]) func `fields exclude JSON, and are unique`(arguments: [String], message: String) throws {
            let failure = try #require(throws: CommandFailure.self) {
                try ActionRequest(name: "A", payload: arguments)
            }
            #expect(failure.exitCode == .validationFailure)
            #expect(failure.message.contains(message), "\(failure.message)")
        }
    }
}
