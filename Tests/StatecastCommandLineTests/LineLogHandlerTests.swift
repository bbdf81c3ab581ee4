import Logging
import Testing

@testable import StatecastCommandLine

@Suite struct LineLogHandlerTests {
    private struct Fault: Error, CustomStringConvertible { let description = "broken" }

    private func line(
        _ message: Logger.Message,
        _ metadata: Logger.Metadata? = nil,
        error: (any Error)? = nil,
        in handler: LineLogHandler = LineLogHandler(label: "statecast.test", logLevel: .notice)
    ) -> String {
        let event = LogEvent(
            level: .warning,
            message: message,
            error: error,
            metadata: metadata,
            source: "Tests",
            file: "Tests.swift",
            function: "test()",
            line: 1
        )
        return handler.line(for: event)
    }

    @Test func `a line has the level and the message`() {
        #expect(line("the primary fell silent") == "warning: the primary fell silent")
    }

    @Test func `metadata follows the message, sorted`() {
        #expect(line("gone", ["store": "fleet", "code": "busy"]) == "warning: gone (code=busy store=fleet)")
    }

    @Test func `an error is a field of the metadata`() {
        #expect(line("gone", ["store": "fleet"], error: Fault()) == "warning: gone (error=broken store=fleet)")
    }

    @Test func `an event's metadata wins over the handler's`() {
        var handler = LineLogHandler(label: "statecast.test", logLevel: .notice)
        handler[metadataKey: "store"] = "fleet"
        handler[metadataKey: "epoch"] = "1"
        #expect(handler[metadataKey: "store"] == "fleet")
        #expect(line("gone", ["store": "counter"], in: handler) == "warning: gone (epoch=1 store=counter)")
        handler.metadataProvider = Logger.MetadataProvider { ["epoch": "2"] }
        #expect(line("gone", in: handler) == "warning: gone (epoch=2 store=fleet)")
    }

    @Test func `the label is printed at the level debug`() {
        for (level, prefix) in [(Logger.Level.info, "warning: "), (.debug, "warning statecast.test: ")] {
            let handler = LineLogHandler(label: "statecast.test", logLevel: level)
            #expect(line("gone", in: handler) == prefix + "gone")
        }
    }

    @Test func `as JSON, an event is one object with all that it has`() {
        var handler = LineLogHandler(label: "statecast.test", logLevel: .notice, .json)
        handler[metadataKey: "store"] = "fleet"
        let event = LogEvent(
            level: .warning,
            message: "a\n\"b\"\u{9B}",
            error: Fault(),
            metadata: ["epoch": "1"],
            source: "Tests",
            file: "Tests.swift",
            function: "test()",
            line: 1
        )
        #expect(
            handler.jsonLine(for: event, at: "2026-02-03T14:03:09Z")
                == #"{"time":"2026-02-03T14:03:09Z","level":"warning","label":"statecast.test","#
                + #""message":"a\n\"b\"\u009b","metadata":{"epoch":"1","error":"broken","store":"fleet"}}"#
        )
    }

    @Test func `an event is one line, with control characters escaped`() {
        let line = line("a\nb\r\u{1B}[31m", ["key\n": "\u{9B}2J\u{202E}", "list": ["x\n"]], error: nil)
        let controls = line.unicodeScalars.filter { [.control, .format].contains($0.properties.generalCategory) }
        #expect(controls.isEmpty)
        #expect(line.hasPrefix("warning: a\\u{a}b\\u{d}\\u{1b}[31m ("))
    }
}
