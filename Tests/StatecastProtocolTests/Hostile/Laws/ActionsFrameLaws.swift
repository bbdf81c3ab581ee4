import StatecastCore

// A fuzzer in another package uses them, too.
@testable import StatecastCoding
@testable import StatecastProtocol

/// Laws of frames of actions.
enum ActionsFrameLaws {
    /// The actions of a frame are those that a reader finds one by one; an action has one meaning, in a frame, alone
    /// and in another form; and the record of the actions can be read, whatever their outcomes.
    static func check(_ frame: ActionsFrame) throws(BrokenLaw) {
        let actions = try readOneByOne(frame)
        try require(frame.contents == actions, "the frame has the actions that a reader finds")
        try checkDecoding(of: frame, actions)
        try checkRecord(of: frame, actions)
    }

    private static func readOneByOne(_ frame: ActionsFrame) throws(BrokenLaw) -> [[UInt8]] {
        var reader = CBORReader(frame.actions)
        var actions: [[UInt8]] = []
        do throws(CodingFailure) {
            for _ in 0..<frame.header.count { actions.append(try reader.bytes()) }
            try reader.requireEnd()
        } catch {
            throw BrokenLaw("a reader accepts the actions of a frame: \(error)")
        }
        return actions
    }

    // MARK: Decoding

    private static let table: ActionTable = {
        do { return try ActionTable([Moved.self, Named.self]) } catch { preconditionFailure("\(error)") }
    }()

    private static func checkDecoding(of frame: ActionsFrame, _ actions: [[UInt8]]) throws(BrokenLaw) {
        var memory = ActionTable.Memory()
        try ItemBuffer.withItems(frame.actions) { items throws(BrokenLaw) in
            for (item, action) in zip(frame.items(), actions) {
                // Only the first unknown name gets a hint.
                memory = ActionTable.Memory(index: memory.index)
                let framed: Result<String, Rejection>
                do throws(Rejection) {
                    framed = .success("\(try table.decode(item.content, in: items, from: nil, after: &memory))")
                } catch {
                    framed = .failure(error)
                }
                let alone = Result { () throws(Rejection) in "\(try table.decode(action))" }
                try require(framed == alone, "\(action) is \(alone) alone, and \(framed) in a frame")
                guard action.first == 0x82 else { continue }
                let longer = Result { () throws(Rejection) in "\(try table.decode([0x98, 2] + action.dropFirst()))" }
                // The offsets in messages differ.
                try require(
                    meaning(longer) == meaning(alone),
                    "\(action) is \(alone), and with a longer head \(longer)"
                )
            }
        }
    }

    /// What a decoded action is; of a failure, the code.
    private static func meaning(_ result: Result<String, Rejection>) -> String {
        switch result {
        case .success(let action): action
        case .failure(let rejection): rejection.code.rawValue
        }
    }

    // MARK: The record

    private static func checkRecord(of frame: ActionsFrame, _ actions: [[UInt8]]) throws(BrokenLaw) {
        let header = frame.header
        var (entries, wanted) = (RecordEntries(), [BatchRecord.Entry]())
        entries.begin(header.session, opened: header.opened, first: header.first, time: time, user: nil)
        for (item, action) in zip(frame.items(), actions) {
            wanted.append(append(item.item, action, to: &entries))
        }
        let body = entries.body(
            RecordHead(epoch: Epoch(1), from: Revision(1), to: Revision(1), summary: Summary(of: .null)),
            frames: [frame],
            forgotten: [header.session],
            patch: [],
            maxMessageBytes: .max
        )
        let record: BatchRecord
        do throws(CodingFailure) { record = try BatchRecord(decoding: body) } catch {
            throw BrokenLaw("the record of a frame can be read: \(error)")
        }
        let run = BatchRecord.Run(
            session: header.session,
            opened: header.opened,
            first: header.first,
            time: time,
            user: nil,
            entries: wanted
        )
        try require(record.runs == (actions.isEmpty ? [] : [run]), "the record has the actions of the frame")
        try require(record.forgotten == [header.session], "what follows the actions is read")
    }

    private static let time = Timestamp(milliseconds: 1_700_000_000_000)

    /// Appends an action with an outcome that its bytes decide.
    private static func append(
        _ item: Range<Int>,
        _ action: [UInt8],
        to entries: inout RecordEntries
    ) -> BatchRecord.Entry {
        let rejection = Rejection(.refused, "by \(action.count) bytes")
        switch action.last.map({ $0 % 8 }) {
        case 0:
            entries.applied(.bytes(action.reversed()))
            return BatchRecord.Entry(action: action.reversed(), rejection: nil)
        case 1:
            entries.rejected(.item(0, item), rejection)
            return BatchRecord.Entry(action: action, rejection: rejection)
        case 2:
            entries.rejected(.absent, rejection)
            return BatchRecord.Entry(action: [], rejection: rejection)
        case 3:
            entries.rejected(.bytes(action), rejection)
            return BatchRecord.Entry(action: action, rejection: rejection)
        default:
            entries.applied(.item(0, item))
            return BatchRecord.Entry(action: action, rejection: nil)
        }
    }
}

private struct Moved: Action {
    var x: Int
    var y: Double?
}

private struct Named: Action {
    var text: String
}
