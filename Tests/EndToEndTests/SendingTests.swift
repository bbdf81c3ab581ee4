import Foundation
import Testing

/// Input and output of statecast-send.
@Suite(.timeLimit(.minutes(10))) struct SendingTests {
    private func state(_ served: Served) async throws -> ReplicaLine.Counter {
        let shown = try await Tool.replica.run(served.upstream + ["--once", "--json"])
        return try ReplicaLine(try #require(shown.output.last)).state
    }

    @Test func `help is not an action`() async throws {
        let ending = try await Tool.send.run(["help"])
        #expect(ending.exitCode == 0, "\(ending)")
        #expect(ending.output.contains { $0.hasPrefix("USAGE: statecast-send") })
    }

    // MARK: Waiting

    /// The environment sets no time limit.
    private static let env = Tool(name: "/usr/bin/env")

    @Test(arguments: [["CounterIncreaseRequested"], ["--list"], ["--ping"]])
    func `by default one action, --list and --ping wait ten seconds`(question: [String])
        async throws
    {
        let gone = try AbsentPrimary()
        let command = ["-u", "STATECAST_TIMEOUT", Tool.send.location] + gone.upstream + question
        let ending = try await Self.env.run(command)
        #expect(ending.exitCode == 1, "\(ending)")
        #expect(ending.errors.contains("10.0 seconds"), "\(ending.errors)")
        #expect(ending.errors.contains("no primary answered at \(gone.publish)"), "\(ending.errors)")
    }

    @Test func `--wait waits for a primary, --ndjson does so by default`() async throws {
        let address = try AbsentPrimary()
        let hurried = ["STATECAST_TIMEOUT=1ms", Tool.send.location] + address.upstream
        let patient = ["-u", "STATECAST_TIMEOUT", Tool.send.location] + address.upstream
        let sending = [
            Task { try await Self.env.run(hurried + ["--wait", "--json", "CounterIncreaseRequested"]) },
            Task { try await Self.env.run(hurried + ["--wait", "--list"]) },
            Task { try await Self.env.run(patient + ["--ndjson"], input: increases(1)) },
        ]
        let late = try await Self.env.run(hurried + ["CounterIncreaseRequested"])
        #expect(late.exitCode == 1, "\(late)")
        try await withServed(publish: address.publish, actions: address.actions) { served in
            for sending in sending {
                let ending = try await sending.value
                #expect(ending.exitCode == 0, "\(ending)")
            }
            #expect(try await state(served).counter == 2)
        }
    }

    @Test func `a duration has a unit`() async throws {
        let gone = try AbsentPrimary()
        let ending = try await Tool.send.run(gone.upstream + ["--timeout", "300ms", "CounterIncreaseRequested"])
        #expect(ending.exitCode == 1)
        #expect(ending.errors.contains("timed out after 0.3 seconds"), "\(ending.errors)")
        let refused = try await Tool.send.run(gone.upstream + ["--timeout", "3 weeks", "CounterIncreaseRequested"])
        #expect(refused.exitCode == 64)
        #expect(refused.errors.contains("expected a duration such as 5, 500ms, 2m or 1h"), "\(refused.errors)")
    }

    // MARK: Asking

    @Test func `a ping prints epoch and revision of the store`() async throws {
        let folder = try Folder()
        for (journal, durability) in [
            (["--journal", folder.path + "/journal", "--durability", "normal"], #""normal""#), ([], "null"),
        ] {
            try await withServed(journal) { served in
                for _ in 1...2 {
                    let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
                    #expect(sent.exitCode == 0, "\(sent.errors)")
                }
                let ping = try await Tool.send.run(served.upstream + ["--ping", "--json"])
                #expect(ping.exitCode == 0, "\(ping)")
                let shown =
                    #"{"store":"counter","lineage":"...","epoch":1,"revision":2,"sessions":2,"durability":"#
                    + durability + #","roundTripMicroseconds":...}"#
                #expect(ping.output.elementsEqual([shown], by: matches), "\(ping)")
                let text = try await Tool.send.run(served.upstream + ["--ping"])
                let line = "counter  epoch 1  revision 2  sessions 2  durability ...  round trip ... us"
                #expect(text.output.elementsEqual([line], by: matches), "\(text)")
            }
        }
    }

    // MARK: Payloads

    @Test func `a payload is fields, a file or standard input`() async throws {
        let folder = try Folder()
        let file = folder.path + "/payload.json"
        // With a byte order mark.
        try Data([0xEF, 0xBB, 0xBF] + Array(#"{"step":8}"#.utf8)).write(to: URL(filePath: file))
        try await withServed { served in
            let command = served.upstream + ["StepChangeRequested"]
            for (payload, input, step) in [
                ("step=7", "", 7), ("@" + file, "", 8), ("-", #"{"step":9}"#, 9), (#"{"step":10}"#, "", 10),
                ("step=-3", "", -3),
            ] {
                let sent = try await Tool.send.run(command + [payload], input: input)
                #expect(sent.exitCode == 0, "\(payload): \(sent)")
                #expect(try await state(served).step == step, "\(payload)")
            }
            let beyond = try await Tool.send.run(command + ["@" + folder.path + "/none"])
            #expect(beyond.exitCode == 64)
            #expect(beyond.errors.contains("cannot read the payload in \(folder.path)/none"), "\(beyond.errors)")
        }
    }

    @Test func `a misspelt name is reported with the nearest one`() async throws {
        try await withServed { served in
            let action = try await Tool.send.run(served.upstream + ["StepChangeReqested", "step=7"])
            #expect(action.exitCode == 2)
            #expect(action.output.first?.contains(#"did you mean "StepChangeRequested"?"#) == true, "\(action)")
            let field = try await Tool.send.run(served.upstream + ["StepChangeRequested", "step=7", "stpe=8"])
            #expect(field.exitCode == 0, "\(field)")
            #expect(field.errors.contains(#"has no field "stpe""#), "\(field.errors)")
            #expect(field.errors.contains(#"did you mean "step"?"#), "\(field.errors)")
            let right = try await Tool.send.run(served.upstream + ["StepChangeRequested", "step=7"])
            #expect(!right.errors.contains("has no field"), "\(right.errors)")
        }
    }

    // MARK: Input

    @Test func `each outcome has its line, and the end of the input logs the totals`() async throws {
        let blank = String(repeating: " ", count: 1 << 20)
        let text = String(repeating: "x", count: 1 << 19)
        let large = #"{"action":"StepChangeRequested","payload":"\#(text)"}"#
        let input = "\u{FEFF}" + increases(1) + "not json\n\n" + large + "\n" + blank + " \n" + increases(1)
        try await withServed { served in
            let sent = try await Tool.send.run(served.upstream + ["--ndjson", "--json"], input: input)
            #expect(sent.exitCode == 2, "\(sent.errors)")
            let lines = try sent.output.map(ReceiptLine.init)
            #expect(lines.map(\.line) == [1, 2, 4, 5, 6])
            #expect(lines.map(\.code) == [nil, "malformed", "too-large", "malformed", nil])
            #expect(sent.errors.contains("applied 2, rejected 3"), "\(sent.errors)")
            let plain = try await Tool.send.run(served.upstream + ["--ndjson"], input: input)
            #expect(plain.output.contains { $0.contains("too-large") && $0.hasSuffix("(line 4)") }, "\(plain.output)")
        }
    }
}
