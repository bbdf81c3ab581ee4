import StateCoding
import StateCore
import SyncProtocol
import Testing

@Suite struct `A table of actions` {
    private static let types: [any Action.Type] = [
        Moved.self, Stopped.self, Renamed.self, CaféOpened.self, MeasuredWithAVeryLongNameIndeed.self,
    ]

    private func table() throws -> ActionTable { try ActionTable(Self.types) }

    /// Frames of actions in all forms, some of them damaged: each action is decoded and rejected as by itself.
    @Test(arguments: seeds(0..<500)) func `decodes what its bytes say, or rejects it with the reason`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let table = try table()
        let actions = (0..<20).map { _ in encoded(from: &generator) }
        let frame = Self.frame(actions)
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

    @Test func `remembers the entry that matched last`() throws {
        let table = try table()
        let frame = Self.frame([encoded(Stopped()), [0x80], encoded(Renamed(name: "a"), arrayHead: [0x98, 2])])
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
    @Test func `quotes nothing of the payload of a user, and all that helps without keys`() throws {
        let table = try table()
        let payload = Value.map(["x": .text("secret"), "y": .float(0.5)])
        let frame = Self.frame([[0x82] + Value.text("Moved").encoded + payload.encoded])
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

    /// A hint costs a comparison with all known names.
    @Test func `computes one hint, for the first unknown name`() throws {
        let table = try table()
        let names = ["Moves", "Stoped", "Moves"] + (0..<100).map { "Stopped\($0)" } + ["Moves"]
        let frame = Self.frame(names.map { [0x82] + Value.text($0).encoded + [0xA0] })
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

    @Test func `of no actions rejects all`() throws {
        let table = try ActionTable([])
        let frame = Self.frame([encoded(Stopped())])
        var memory = ActionTable.Memory()
        let result = ItemBuffer.withItems(frame.actions) { decoded(table, 1..<frame.actions.count, $0, &memory) }
        #expect(throws: Rejection(.unknownAction, "there is no action \"Stopped\", only: ")) { try result.get() }
    }

    @Test func `has one entry for a name`() throws {
        #expect(try table().entries.map(\.name) == Self.types.map { $0.name })
        #expect(try table().entries.first?.example == StateEncoder().encode(Moved(x: 5, y: 0.5)))
        #expect(throws: DuplicateActionName.self) { try ActionTable(Self.types + [Other.Stopped.self]) }
    }

    // MARK: Encoded actions

    private static func frame(_ actions: [[UInt8]]) -> ActionsFrame {
        ActionsFrame(
            lineage: Fixture.lineage,
            session: Fixture.session,
            opened: JournalSequence(0),
            base: ActionNumber(1),
            first: ActionNumber(1),
            actions: actions
        )
    }

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
        guard let type = Self.types.first(where: { $0.name == name }) else {
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

private enum Other {
    struct Stopped: Action {}
}
