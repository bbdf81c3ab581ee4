extension EncodingOutput {
    private static let spare = Spare<EncodingOutput>()
    /// How much memory a spare output may hold.
    private static let spareBytesMax = 65_536

    /// Has something written to an output that may have served before.
    static func run<Result>(refusesClasses: Bool = false, _ body: (EncodingOutput) throws -> Result) rethrows -> Result
    {
        var output = spare.take() ?? EncodingOutput()
        output.contents.pointee.isRunning = true
        output.contents.pointee.refusesClasses = refusesClasses
        defer {
            output.contents.pointee.endRun()
            let isSmall = output.contents.pointee.writer.capacity <= spareBytesMax
            if isSmall, isKnownUniquelyReferenced(&output) { spare.keep(output) }
        }
        return try body(output)
    }

    /// What is written by a writer that may have served before.
    static func bytes(reserving capacity: Int, _ write: (inout CBORWriter) -> Void) -> [UInt8] {
        run { output in
            _ = output.writer.room(for: capacity)
            write(&output.writer)
            return output.writer.bytes
        }
    }

    /// The root of a run.
    func root(_ limits: CodingLimits) -> PathNode {
        if let root = contents.pointee.root, root.limits == limits { return root }
        let root = PathNode(limits: limits)
        contents.pointee.root = root
        return root
    }
}

extension CBORWriter {
    /// What is written to a writer with room for so many bytes; it has more if they are needed.
    package static func bytes(reserving capacity: Int = 0, _ write: (inout CBORWriter) -> Void) -> [UInt8] {
        EncodingOutput.bytes(reserving: capacity, write)
    }
}
