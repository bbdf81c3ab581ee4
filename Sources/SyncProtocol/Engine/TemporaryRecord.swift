import StateCoding
import StateCore

struct RecordHead { let epoch: Epoch, from: Revision, to: Revision, summary: Summary }

struct RecordEntries: Sendable {
    enum Source { case none, item(Int, Range<Int>), bytes([UInt8]) }
    enum Piece { case applied(Int, Range<Int>), bytes([UInt8]), rejected(Source, Rejection) }
    var runs: [(run: BatchRecord.Run, pieces: [Piece])] = []
    mutating func begin(_ session: SessionID, opened: JournalSequence, first: ActionNumber, time: Timestamp, user: String?) {
        runs.append((BatchRecord.Run(session: session, opened: opened, first: first, time: time, user: user, entries: []), []))
    }
    mutating func applied(_ frame: Int, _ item: Range<Int>) { runs[runs.count - 1].pieces.append(.applied(frame, item)) }
    mutating func applied(_ bytes: [UInt8]) { runs[runs.count - 1].pieces.append(.bytes(bytes)) }
    mutating func rejected(_ source: Source, _ rejection: Rejection) { runs[runs.count - 1].pieces.append(.rejected(source, rejection)) }
    func body(_ head: RecordHead, frames: [ActionsFrame], forgotten: [SessionID], patch: [UInt8], messageBytesMax: Int) -> [UInt8] {
        func content(_ frame: Int, _ item: Range<Int>) -> [UInt8] {
            var items = frames[frame].items(from: item.lowerBound)
            return Array(frames[frame][items.next()!.content])
        }
        var record = BatchRecord(epoch: head.epoch, from: head.from, to: head.to, digest: head.summary.digest, bytes: head.summary.bytes, runs: runs.map { part in
            var run = part.run
            run.entries = part.pieces.map { piece in
                switch piece {
                case .applied(let frame, let item): BatchRecord.Entry(action: content(frame, item), rejection: nil)
                case .bytes(let bytes): BatchRecord.Entry(action: bytes, rejection: nil)
                case .rejected(.none, let rejection): BatchRecord.Entry(action: [], rejection: rejection)
                case .rejected(.item(let frame, let item), let rejection): BatchRecord.Entry(action: content(frame, item), rejection: rejection)
                case .rejected(.bytes(let bytes), let rejection): BatchRecord.Entry(action: bytes, rejection: rejection)
                }
            }
            return run
        }, forgotten: forgotten, patch: patch)
        record.dropMessages(bytesMax: messageBytesMax)
        return record.encoded
    }
}
