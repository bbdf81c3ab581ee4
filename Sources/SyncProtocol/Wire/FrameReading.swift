package import StateCoding
import StateCore

extension Frame {
    /// Reads a frame. Elements behind those that this version knows are skipped.
    ///
    /// - Throws: ``CodingFailure`` for anything that is not a frame of a known kind; never traps.
    package init(decoding bytes: ArraySlice<UInt8>) throws(CodingFailure) {
        var reader = CBORReader(bytes, limits: .frame)
        let count = try reader.arrayCount()
        let number = count > 0 ? try reader.unsigned() : .max
        guard let kind = FrameKind(rawValue: number) else {
            throw CodingFailure(
                .malformed,
                "a frame begins with its kind, 0 to 9, but \(count > 0 ? "\(number)" : "nothing") came"
            )
        }
        let fields = kind.fieldCount
        guard count > fields else {
            throw CodingFailure(.malformed, "a frame of kind \(number) has \(fields + 1) elements, \(count) came")
        }
        switch kind {
        case .update: self = .update(try Update(from: &reader))
        case .heartbeat: self = .heartbeat(try Heartbeat(from: &reader))
        case .welcome: self = .welcome(try Welcome(from: &reader))
        case .chunk: self = .chunk(Chunk(bytes: try reader.bytes()[...]))
        case .watermark: self = .watermark(try Watermark(from: &reader))
        case .receipts: self = .receipts(try Receipts(from: &reader))
        case .expected: self = .expected(try Expected(from: &reader))
        case .refusal: self = .refusal(try Refusal(from: &reader))
        case .schema: self = .schema(try StoreSchema(from: &reader))
        case .actions: self = .actions(try ActionsFrame(from: &reader))
        }
        for _ in (fields + 1)..<count { try reader.skip() }
        try reader.requireEnd()
    }
}

extension CodingLimits {
    /// A patch nests up to about twice as deep as the state that it changes, and stands inside a frame.
    fileprivate static let frame = CodingLimits(depthMax: 3 * CodingLimits.standard.depthMax)
}

extension FrameKind {
    /// The elements behind the kind that this version reads.
    fileprivate var fieldCount: Int {
        switch self {
        case .chunk: 1
        case .expected: 2
        case .refusal, .receipts: 4
        case .update, .heartbeat: 5
        case .actions: 6
        case .welcome, .schema: 7
        case .watermark: 8
        }
    }
}

extension Update {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            epoch: try reader.quantity(),
            from: try reader.quantity(),
            to: try reader.quantity(),
            patch: try reader.encodedItem()
        )
    }
}

extension Heartbeat {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            epoch: try reader.quantity(),
            head: try reader.quantity(),
            digest: try reader.unsigned(),
            time: try reader.timestamp()
        )
    }
}

extension Welcome {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            epoch: try reader.quantity(),
            head: try reader.quantity(),
            time: try reader.timestamp(),
            fingerprint: try reader.unsigned(),
            heartbeatInterval: try reader.duration(),
            offer: try reader.optional { reader throws(CodingFailure) in try Offer(from: &reader) }
        )
    }
}

extension Welcome.Offer {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(4)
        self.init(
            revision: try reader.quantity(),
            bytes: try reader.count(),
            chunkBytes: try reader.count(),
            digest: try reader.unsigned()
        )
    }
}

extension Watermark {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            epoch: try reader.quantity(),
            number: try reader.optional { reader throws(CodingFailure) in try reader.quantity() },
            opened: try reader.quantity(),
            windowActionsMax: try reader.count(),
            actionBytesMax: try reader.count(),
            frameBytesMax: try reader.count(),
            endpoint: try reader.text()
        )
    }
}

extension Receipts {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            epoch: try reader.quantity(),
            first: try reader.quantity(),
            outcomes: try reader.outcomes()
        )
    }
}

extension Expected {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(lineage: try reader.lineage(), number: try reader.quantity())
    }
}

extension Refusal {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            try reader.rejection(),
            retryAfter: try reader.optional { reader throws(CodingFailure) in try reader.duration() },
            frame: try reader.optional { reader throws(CodingFailure) in
                try reader.fixedArray(2)
                return PushedFrame(opened: try reader.quantity(), first: try reader.quantity())
            }
        )
    }
}

extension StoreSchema {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            fingerprint: try reader.unsigned(),
            actions: try reader.list { reader throws(CodingFailure) in
                try reader.fixedArray(2)
                return Entry(
                    name: try reader.text(),
                    example: try reader.optional { reader throws(CodingFailure) in try reader.encodedItem() }
                )
            },
            epoch: try reader.quantity(),
            head: try reader.quantity(),
            sessions: try reader.count(),
            durability: try reader.optional { reader throws(CodingFailure) in try reader.text() }
        )
    }
}

extension ActionsFrame {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            session: try reader.session(),
            opened: try reader.quantity(),
            base: try reader.quantity(),
            first: try reader.quantity(),
            actions: try reader.list { reader throws(CodingFailure) in try reader.bytes() }
        )
    }
}
