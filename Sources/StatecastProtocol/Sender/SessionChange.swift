package import StatecastCoding
import StatecastCore

/// The changes of a session since it was last saved. They are saved as a unit.
package struct SessionChange: Hashable, Sendable {
    package var checkpoint: SessionCheckpoint?
    /// The submitted actions.
    package private(set) var chunks: [ActionChunk] = []
    package private(set) var resolved: [ResolvedRun] = []
    /// The outcomes up to this ticket are not needed any more.
    package private(set) var acknowledged: Ticket?
    package private(set) var mark: InputMark?
    package private(set) var isInputEnded: Bool?
    /// Whether the session has outcomes that the sender decided and has not reported yet: until it has, the file keeps
    /// all outcomes. `nil` if there are none.
    var keepsOutcomes: Bool?

    package init() {}

    package var isEmpty: Bool { self == SessionChange() }

    package mutating func enqueue(_ chunk: ActionChunk) {
        resolved += chunk.invalidInputs.map(\.outcome)
        chunks.append(chunk)
        mark = chunk.marks.last?.mark ?? mark
        isInputEnded = false
    }

    package mutating func resolve(_ run: ResolvedRun) { resolved.append(run) }

    package mutating func acknowledge(upTo ticket: Ticket) { acknowledged = max(acknowledged ?? ticket, ticket) }

    package mutating func endInput(at mark: InputMark) { (self.mark, isInputEnded) = (mark, true) }

    /// Appends later changes.
    package mutating func merge(_ later: SessionChange) {
        checkpoint = later.checkpoint ?? checkpoint
        chunks += later.chunks
        resolved += later.resolved
        if let acknowledged = later.acknowledged { acknowledge(upTo: acknowledged) }
        mark = later.mark ?? mark
        isInputEnded = later.isInputEnded ?? isInputEnded
        keepsOutcomes = later.keepsOutcomes ?? keepsOutcomes
    }
}

// MARK: Coding

/// The encoding in CBOR: an array of 7 elements, to which later versions may append some.
extension SessionChange {
    package var encoded: [UInt8] {
        let size = chunks.reduce(0) { $0 + $1.bytes.count + 32 + 24 * $1.marks.count }
        var writer = CBORWriter(reserving: 64 + size + 64 * resolved.count)
        writer.array(count: 7)
        if let checkpoint { checkpoint.write(to: &writer) } else { writer.null() }
        if let acknowledged { writer.unsigned(acknowledged.rawValue) } else { writer.null() }
        if let mark { writer.write(mark) } else { writer.null() }
        if let isInputEnded { writer.bool(isInputEnded) } else { writer.null() }
        writer.array(count: chunks.count)
        for chunk in chunks { chunk.write(from: chunk.first, to: &writer) }
        writer.array(count: resolved.count)
        for run in resolved { run.write(to: &writer) }
        if let keepsOutcomes { writer.bool(keepsOutcomes) } else { writer.null() }
        return writer.bytes
    }

    /// - Throws: ``CodingFailure`` that names the malformed part.
    package init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        let count = try reader.arrayCount(atLeast: 7)
        checkpoint = try reader.optional { reader throws(CodingFailure) in try SessionCheckpoint(from: &reader) }
        acknowledged = try reader.optional { reader throws(CodingFailure) in Ticket(rawValue: try reader.unsigned()) }
        mark = try reader.optional { reader throws(CodingFailure) in try reader.mark() }
        isInputEnded = try reader.optional { reader throws(CodingFailure) in try reader.bool() }
        chunks = try reader.list { reader throws(CodingFailure) in try ActionChunk(from: &reader) }
        resolved = try reader.list { reader throws(CodingFailure) in try ResolvedRun(from: &reader) }
        keepsOutcomes = try reader.optional { reader throws(CodingFailure) in try reader.bool() }
        for _ in 7..<count { try reader.skip() }
        try reader.requireEnd()
    }
}
