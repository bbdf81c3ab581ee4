extension Summary {
    /// The summary of a state as it is encoded: without a tree of it, which would take several times its memory.
    ///
    /// - Throws: what is wrong with the bytes.
    public init(ofEncoded bytes: [UInt8], limits: CodingLimits = .standard) throws(CodingFailure) {
        let source = try DecodingSource(bytes, limits: limits)
        var change = SummaryChange()
        _ = change.add(source, at: 0, path: .root)
        self.init(digest: change.digest, bytes: change.bytes)
    }
}

extension SummaryChange {
    /// Adds the item at an offset.
    ///
    /// - Returns: where it ends.
    fileprivate mutating func add(_ source: DecodingSource, at offset: Int, path: DigestPath) -> Int {
        let head = source.head(at: offset)
        let (major, argument, next) = (head.major, head.argument, head.next)
        switch major {
        case 4 where argument > 0:
            weigh(next - offset)
            var offset = next
            for index in 0..<Int(argument) { offset = add(source, at: offset, path: path.index(index)) }
            return offset
        case 5 where argument > 0:
            weigh(next - offset)
            var offset = next
            for _ in 0..<argument {
                // The keys of a checked source are canonical.
                let value = source.end(of: offset)
                weigh(value - offset)
                offset = add(source, at: value, path: path.step(0x4B, source[offset..<value]))
            }
            return offset
        case 3, 6, 7:
            // Texts, floats and what a tag holds may be written in more than one way.
            var cursor = ItemCursor(source: source, offset: offset)
            add(cursor.value(), at: path)
            return cursor.offset
        default:
            let end = source.end(of: offset)
            addLeaf(source[offset..<end][...], at: path)
            return end
        }
    }
}
