package import StateCoding
import StateCore

extension BatchRecord {
    /// In CBOR; elements behind these may come in later versions.
    package var encoded: [UInt8] {
        var writer = CBORWriter(reserving: 64 + patch.count + runs.reduce(0) { $0 + $1.byteCount })
        writer.array(count: migrations == nil ? 8 : 9)
        writer.write(epoch)
        writer.write(from)
        writer.write(to)
        writer.unsigned(digest)
        writer.write(count: bytes)
        writer.array(count: runs.count)
        for run in runs { run.write(to: &writer) }
        writer.array(count: forgotten.count)
        for session in forgotten { writer.write(session) }
        if from == to { writer.null() } else { writer.encoded(patch) }
        if let migrations { writer.write(count: migrations) }
        return writer.bytes
    }

    /// Reads a record's body.
    ///
    /// - Throws: ``CodingFailure`` that says what is wrong with it.
    package init(decoding body: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(body, limits: .record)
        let count = try reader.arrayCount()
        guard count >= 8 else {
            throw CodingFailure(.malformed, "a record is an array of at least 8 elements, one of \(count) came")
        }
        epoch = try reader.quantity()
        from = try reader.quantity()
        to = try reader.quantity()
        digest = try reader.unsigned()
        bytes = try reader.count()
        runs = try reader.list { reader throws(CodingFailure) in try Run(from: &reader) }
        forgotten = try reader.list { reader throws(CodingFailure) in try reader.session() }
        patch = reader.isNull() ? [] : try reader.encodedItem()
        guard (from == to) == patch.isEmpty, from <= to else {
            throw CodingFailure(.malformed, "a record from \(from) to \(to) came with a patch of \(patch.count) bytes")
        }
        migrations = count > 8 ? try reader.optional { reader throws(CodingFailure) in try reader.count() } : nil
        for _ in min(9, count)..<count { try reader.skip() }
        try reader.requireEnd()
    }
}

extension CodingLimits {
    /// A patch nests up to about twice as deep as the state that it changes.
    fileprivate static let record = CodingLimits(depthMax: 3 * CodingLimits.standard.depthMax)
}

extension BatchRecord.Run {
    /// About how many bytes it takes.
    fileprivate var byteCount: Int { entries.reduce(48) { $0 + $1.action.count + 9 } }

    fileprivate func write(to writer: inout CBORWriter) {
        writer.array(count: 6)
        writer.write(session)
        writer.write(opened)
        writer.write(first)
        writer.write(time)
        if let user { writer.text(user) } else { writer.null() }
        writer.array(count: entries.count)
        for entry in entries {
            guard let rejection = entry.rejection else {
                writer.bytes(entry.action)
                continue
            }
            writer.array(count: 3)
            writer.bytes(entry.action)
            writer.write(rejection)
        }
    }

    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(6)
        session = try reader.session()
        opened = try reader.quantity()
        first = try reader.quantity()
        time = try reader.timestamp()
        user = try reader.optional { reader throws(CodingFailure) in try reader.text() }
        entries = try reader.list { reader throws(CodingFailure) in
            guard reader.peek == .array else { return BatchRecord.Entry(action: try reader.bytes(), rejection: nil) }
            try reader.fixedArray(3)
            return BatchRecord.Entry(action: try reader.bytes(), rejection: try reader.rejection())
        }
    }
}
