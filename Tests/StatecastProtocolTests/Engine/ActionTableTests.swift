import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `A table of actions` {
    private static let types: [any Action.Type] = [
        Moved.self, Stopped.self, Renamed.self, CaféOpened.self, MeasuredWithAVeryLongNameIndeed.self,
    ]

    private func table() throws -> ActionTable { try ActionTable(Self.types) }

    /// Frames of actions in all forms, some of them damaged: each action is decoded and rejected as by itself.
    @Test(arguments: seeds(0..<500))
    func `A table of actions decodes what its bytes say, or rejects it with the reason`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let table = try table()
        let actions = (0..<20).map { _ in encoded(from: &generator) }
        let frame = Fixture.frame(actions)
        var memory = ActionTable.Memory()
        ItemBuffer.withItems(frame.actions) { items in
            for (index, item) in frame.items().enumerated() {
                let wanted = Result { () throws(Rejection) in try reference(actions[index]) }
                // Only the first unknown name gets a hint.
                memory = ActionTable.Memory(index: memory.index)
                let framed = decoded(table, item.content, items, &memory).map { Decoded($0) }
                #expect(framed == wanted, "\(actions[index])")
                let alone = Result { () throws(Rejection) in Decoded(try table.decode(actions[index])) }
                #expect(alone == wanted, "\(actions[index])")
            }
        }
    }

    @Test func `A table of actions remembers the entry that matched last`() throws {
        let table = try table()
        let frame = Fixture.frame([encoded(Stopped()), [0x80], encoded(Renamed(name: "a"), arrayHead: [0x98, 2])])
        let items = Array(frame.items())
        var memory = ActionTable.Memory()
        ItemBuffer.withItems(frame.actions) { buffer in
            let stopped = decoded(table, items[0].content, buffer, &memory)
            #expect((try? stopped.get()) is Stopped)
            #expect(memory.index == 1)
            let malformed = decoded(table, items[1].content, buffer, &memory)
            #expect(throws: Rejection.self) { try malformed.get() }
            let renamed = decoded(table, items[2].content, buffer, &memory)
            #expect((try? renamed.get()) is Renamed)
            #expect(memory.index == 1)
            memory.index = 99
            let again = decoded(table, items[0].content, buffer, &memory)
            #expect((try? again.get()) is Stopped)
            #expect(memory.index == 1)
        }
    }

    /// With keys, all senders can read a rejection.
    @Test func `A table of actions quotes nothing of the payload of a user, and all that helps without keys`() throws {
        let table = try table()
        let payload = Value.map(["x": .text("secret"), "y": .float(0.5)])
        let frame = Fixture.frame([[0x82] + Value.text("Moved").encoded + payload.encoded])
        let item = try #require(Array(frame.items()).first)
        let user = FrameSender(user: "operator", sendingTo: try StoreName("store"), actions: nil)
        let messages = [user, nil].map { (sender: FrameSender?) in
            ItemBuffer.withItems(frame.actions) { buffer in
                var memory = ActionTable.Memory()
                do throws(Rejection) {
                    _ = try table.decode(item.content, in: buffer, from: sender, after: &memory)
                    return ""
                } catch { return error.message }
            }
        }
        #expect(messages == ["Moved: x: type-mismatch", "Moved: x: expected an integer, got text \"secret\""])
    }

    @Test func `A table of actions names a missing field, also to a user`() throws {
        let user = FrameSender(user: "operator", sendingTo: try StoreName("store"), actions: nil)
        let payload = Value.map(["parts": .map(["secret": .map(["size": 1])])])
        let actions = [
            [0x82] + Value.text("Moved").encoded + [0xA0], [0x82] + Value.text("Packed").encoded + payload.encoded,
        ]
        let (frame, packing) = (Fixture.frame(actions), try ActionTable([Moved.self, Packed.self]))
        let messages = ItemBuffer.withItems(frame.actions) { buffer in
            frame.items().map { item in
                var memory = ActionTable.Memory()
                do throws(Rejection) {
                    _ = try packing.decode(item.content, in: buffer, from: user, after: &memory)
                    return ""
                } catch { return error.message }
            }
        }
        // The key of the dictionary is of the payload.
        #expect(messages == ["Moved: missing the key \"x\"", "Packed: parts: missing the key \"weight\""])
    }

    /// A hint costs a comparison with all known names.
    @Test func `A table of actions computes one hint, for the first unknown name`() throws {
        let table = try table()
        let names = ["Moves", "Stoped", "Moves"] + (0..<100).map { "Stopped\($0)" } + ["Moves"]
        let frame = Fixture.frame(names.map { [0x82] + Value.text($0).encoded + [0xA0] })
        var memory = ActionTable.Memory()
        let messages = ItemBuffer.withItems(frame.actions) { buffer in
            frame.items().map { item -> String in
                guard case .failure(let reason) = decoded(table, item.content, buffer, &memory) else { return "" }
                return reason.message
            }
        }
        #expect(messages.count == names.count)
        for (name, message) in zip(names, messages) {
            #expect(message.hasPrefix("there is no action \"\(name)\""))
            #expect(message.contains("(did you mean \"Moved\"?)") == (name == "Moves"))
            #expect(message.contains("did you mean") == (name == "Moves"), "\(name) has a near name, too")
            #expect(message.contains(", only: "))
        }
        let alone = #expect(throws: Rejection.self) { try table.decode([0x82] + Value.text("Stoped").encoded + [0xA0]) }
        #expect(alone?.message.contains("did you mean \"Stopped\"?") == true)
    }

    private func decoded(
        _ table: ActionTable,
        _ content: Range<Int>,
        _ buffer: borrowing ItemBuffer,
        _ memory: inout ActionTable.Memory
    ) -> Result<any Action, Rejection> {
        do throws(Rejection) { return .success(try table.decode(content, in: buffer, from: nil, after: &memory)) } catch
        {
            return .failure(error)
        }
    }

    @Test func `A table of actions of no actions rejects all`() throws {
        let table = try ActionTable([])
        let frame = Fixture.frame([encoded(Stopped())])
        var memory = ActionTable.Memory()
        let result = ItemBuffer.withItems(frame.actions) { decoded(table, 1..<frame.actions.count, $0, &memory) }
        #expect(throws: Rejection(.unknownAction, "there is no action \"Stopped\", only: ")) { try result.get() }
    }

    @Test func `A table of actions has one entry for a name`() throws {
        #expect(try table().entries.map(\.name) == Self.types.map { $0.name })
        #expect(try table().entries.first?.example == StateEncoder().encode(Moved(x: 5, y: 0.5)))
        #expect(throws: ActionNameFailure.duplicate("Stopped")) { try ActionTable(Self.types + [Other.Stopped.self]) }
        // A set of names, such as that of a user's rights, has one of these.
        #expect(throws: ActionNameFailure.duplicate("Cafe\u{301}Opened")) {
            try ActionTable(Self.types + [Other.CaféOpened.self])
        }
    }

    // MARK: Names

    @Test func `A table of actions has names of at most maxActionNameBytes bytes`() throws {
        #expect(LongestName.name.utf8.count == Limits.maxActionNameBytes)
        let table = try ActionTable([LongestName.self])
        let action = try table.decode([0x98, 2] + Value.text(LongestName.name).encoded + [0xA0])
        #expect(action is LongestName)
        #expect(throws: ActionNameFailure.tooLong(TooLongName.name)) { try ActionTable([TooLongName.self]) }
    }

    /// The name would be refused as undecodable if it was read, and so would the payload.
    @Test func `A table of actions knows no action with a longer name, which it does not read`() throws {
        let table = try table()
        for (bytes, code) in [(256, Rejection.Code.undecodable), (257, .unknownAction), (245_000, .unknownAction)] {
            let name = Array(
                CBORWriter.bytes(reserving: 9) { $0.text(String(repeating: "n", count: bytes)) }.dropLast(bytes)
            )
            for payload in [[0xA0], [0xFF], []] as [[UInt8]] {
                let action = [0x82] + name + Array(repeating: 0xCC, count: bytes) + payload
                let rejection = #expect(throws: Rejection.self) { try table.decode(action) }
                #expect(rejection?.code == code)
                let says = "the name of an action has at most 256 bytes, this one has \(bytes)"
                #expect((rejection?.message == says) == (code == .unknownAction))
            }
        }
    }

    @Test func `A table of actions rejects a long name for good, and goes on with the next number`() throws {
        var bench = PrimaryBench()
        let long = [0x82] + Value.text(String(repeating: "\u{301}\u{316}", count: 1000)).encoded + [0xA0]
        let frame = Fixture.frame([TestAction(number: 1).encoded, long, TestAction(number: 3).encoded])
        bench.receive(frame)
        bench.turn()
        let receipts = bench.commit().receipts()
        #expect([receipts[1]?.code, receipts[2]?.code, receipts[3]?.code] == [nil, .unknownAction, nil])
        #expect(receipts.count == 3 && bench.reduced == Revision(2))
        bench.receive(frame)
        #expect(bench.turn().receipts()[2]?.code == .unknownAction, "it is remembered")
    }

    @Test func `A table of actions compares names by their bytes`() throws {
        let table = try table()
        let other = "Cafe\u{301}Opened"
        #expect(other == CaféOpened.name)
        #expect(try table.decode([0x98, 2] + Value.text(CaféOpened.name).encoded + [0xA0]) is CaféOpened)
        let rejection = #expect(throws: Rejection.self) {
            try table.decode([0x82] + Value.text(other).encoded + [0xA0])
        }
        #expect(rejection?.code == .unknownAction)
        #expect(rejection?.message.contains("(did you mean \"Caf\u{E9}Opened\"?)") == true)
    }

    /// A payload's key is brought into its canonical form, which costs more than to read a value.
    @Test func `A table of actions rejects combining marks in a key as it does in a value`() throws {
        let table = try table()
        let most = "e" + String(repeating: "\u{301}", count: CodingLimits.maxCombiningMarks)
        for (text, isRead) in [(most, true), (most + "\u{301}", false)] {
            let payloads: [Value] = [
                ["name": .text(text)], ["name": "a", .text(text): 1], ["name": "a", "b": [.text(text): 1]],
            ]
            for payload in payloads {
                let result = Result { () throws(Rejection) in
                    try table.decode([0x82] + Value.text("Renamed").encoded + payload.encoded)
                }
                switch result {
                case .success(let action): #expect(action is Renamed && isRead)
                case .failure(let reason):
                    #expect(!isRead && reason.code == .undecodable)
                    #expect(reason.message.contains("at most 128 combining marks"))
                }
            }
        }
    }

    /// Who may send one action does not learn the names of the others.
    @Test func `A table of actions names only actions that the sender may send`() throws {
        let table = try table()
        let store = try StoreName("store")
        let limited = FrameSender(user: "operator", sendingTo: store, actions: ["Moved", "Renamed"])
        let free = FrameSender(user: "admin", sendingTo: store, actions: nil)
        let frame = Fixture.frame(["Stoped", "Stoped", "Other"].map { [0x82] + Value.text($0).encoded + [0xA0] })
        func messages(_ senders: [FrameSender?]) -> [[String]] {
            ItemBuffer.withItems(frame.actions) { buffer in
                var memory = ActionTable.Memory()
                return senders.map { sender in
                    frame.items().map { item in
                        do throws(Rejection) {
                            _ = try table.decode(item.content, in: buffer, from: sender, after: &memory)
                            return ""
                        } catch { return error.message }
                    }
                }
            }
        }
        let known = "only: Moved, Stopped, Renamed, Caf\u{E9}Opened, MeasuredWithAVeryLongNameIndeed"
        // In one batch, in any order: what one of them gets is not repeated to the other.
        for senders in [[free, limited], [limited, free], [nil, limited], [limited, limited]] {
            for (sender, messages) in zip(senders, messages(senders)) {
                #expect(messages[0] == messages[1])
                for message in messages {
                    #expect(message.hasSuffix(sender == limited ? "only: Moved, Renamed" : known))
                    #expect(!message.contains("Stopped") || sender != limited)
                }
            }
        }
        #expect(messages([free])[0][0].contains("did you mean \"Stopped\"?"))
        #expect(
            messages([limited])[0]
                == ["Stoped", "Stoped", "Other"].map {
                    "there is no action \"\($0)\", only: Moved, Renamed"
                }
        )
    }

    // MARK: Encoded actions

    private func encoded<A: Action>(_ action: A, arrayHead: [UInt8] = [0x82]) -> [UInt8] {
        guard let payload = try? StateEncoder().encode(action) else { return [] }
        return arrayHead + Value.text(A.name).encoded + payload
    }

    private func encoded(from generator: inout SeededGenerator) -> [UInt8] {
        let name = name(from: &generator)
        var bytes: [UInt8]
        switch generator.below(12) {
        case 0: bytes = [0x98, 2] + name
        case 1: bytes = [0x9F] + name
        case 2: bytes = [UInt8(generator.below(256))] + name
        default: bytes = [0x82] + name
        }
        bytes += payload(from: &generator)
        if bytes[0] == 0x9F { bytes.append(0xFF) }
        switch generator.below(8) {
        case 0: bytes = bytes.dropLast(generator.below(bytes.count + 1))
        case 1: bytes[generator.below(bytes.count)] = UInt8(generator.below(256))
        case 2: bytes.append(contentsOf: generator.bytes(below: 3))
        default: break
        }
        return bytes
    }

    private func name(from generator: inout SeededGenerator) -> [UInt8] {
        let known = Self.types[generator.below(Self.types.count)].name
        let name = generator.oneIn(6) ? ["Stoped", "", "Cafe\u{301}Opened"][generator.below(3)] : known
        let utf8 = Array(name.utf8)
        switch generator.below(10) {
        case 0: return [0x78, UInt8(utf8.count)] + utf8
        case 1: return [0x79, 0, UInt8(utf8.count)] + utf8
        case 2: return [0x7F] + Value.text(name).encoded + [0xFF]
        default: return Value.text(name).encoded
        }
    }

    private func payload(from generator: inout SeededGenerator) -> [UInt8] {
        let number = Value.unsigned(generator.number())
        switch generator.below(8) {
        case 0: return [0xBF] + Value.text("y").encoded + [0xF9, 0x3C, 0x00] + Value.text("x").encoded + [0x07, 0xFF]
        case 1: return [0xA2] + Value.text("y").encoded + [0x01] + Value.text("x").encoded + [0x18, 0x07]
        case 2: return Value.map(["name": .text(generator.text()), "other": number]).encoded
        case 3: return Value.map(["name": number]).encoded
        case 4: return Value.map([:]).encoded
        case 5: return Value.array(Array(repeating: number, count: generator.below(4))).encoded
        case 6: return Array(repeating: 0x81, count: 60 + generator.below(10)) + [0x00]
        default: return Value.map(["x": number, "y": .float(0.5)]).encoded
        }
    }

    // MARK: The reference

    private struct Decoded: Equatable {
        let name: String
        let bytes: [UInt8]?

        init(_ action: any Action) {
            name = type(of: action).name
            bytes = try? StateEncoder().encode(action)
        }
    }

    /// Decodes an action part by part, with copies.
    private func reference(_ bytes: [UInt8]) throws(Rejection) -> Decoded {
        let name: String
        let payload: [UInt8]
        do throws(CodingFailure) {
            var reader = CBORReader(bytes)
            guard try reader.arrayCount() == 2 else {
                throw CodingFailure(.malformed, "an action is an array of its name and its payload")
            }
            name = try reader.text()
            payload = try reader.encodedItem()
            try reader.requireEnd()
        } catch {
            throw Rejection(.undecodable, "not an action: \(error)")
        }
        guard let type = Self.types.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            let names = Self.types.map { $0.name }
            let hint = name.nearest(among: names).map { " (did you mean \"\($0)\"?)" } ?? ""
            let known = names.joined(separator: ", ")
            throw Rejection(.unknownAction, "there is no action \"\(name.prefix(64))\"\(hint), only: \(known)")
        }
        func decode<A: Action>(_ type: A.Type) throws(CodingFailure) -> any Action {
            try StateDecoder().decode(type, from: payload)
        }
        do throws(CodingFailure) { return Decoded(try decode(type)) } catch {
            throw Rejection(.undecodable, "\(type.name): \(error)")
        }
    }
}

private struct Moved: Action {
    var x: Int8
    var y: Double
    static let example: Self? = Self(x: 5, y: 0.5)
}

private struct Stopped: Action {}

private struct Renamed: Action {
    static let name = "Renamed"
    let text: String

    init(name: String) { text = name }

    init(from decoder: any Decoder) throws {
        text = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .name)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(text, forKey: .name)
    }

    private enum Key: CodingKey { case name }
}

private struct CaféOpened: Action {
    static let name = "Caf\u{E9}Opened"
    var x: UInt64?
}

private struct MeasuredWithAVeryLongNameIndeed: Action {
    var x: Double
}

private struct Packed: Action {
    struct Part: Codable { var size: Int, weight: Int }
    var parts: [String: Part]
}

private struct LongestName: Action {
    static let name = String(repeating: "\u{E9}", count: 128)
}

private struct TooLongName: Action {
    static let name = String(repeating: "n", count: 257)
}

private enum Other {
    struct Stopped: Action {}
    struct CaféOpened: Action { static let name = "Cafe\u{301}Opened" }
}
