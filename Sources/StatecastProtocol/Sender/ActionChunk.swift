import StatecastCoding
package import StatecastCore

/// Encoded actions that were submitted one after the other. Senders store, send and save their bytes as they are.
package struct ActionChunk: Hashable, Sendable {
    /// The position in the input after an action that has one.
    package struct InputProgress: Hashable, Sendable {
        package let ticket: Ticket
        package let mark: InputMark
    }

    /// Input that is no action.
    package struct InvalidInput: Hashable, Sendable {
        package let ticket: Ticket
        package let rejection: Rejection

        var outcome: ResolvedRun { ResolvedRun(ticket, sent: nil, .rejected(rejection)) }
    }

    /// The actions, each as a CBOR byte string; an empty one for input that is no action.
    package private(set) var bytes: [UInt8]
    /// The ticket of the first action; the others follow.
    package let first: Ticket
    package private(set) var count = 0
    /// The size of the largest action, without its head.
    package private(set) var largestActionBytes = 0
    package private(set) var marks: [InputProgress] = []
    package private(set) var invalidInputs: [InvalidInput] = []

    /// Creates an empty chunk.
    ///
    /// - Parameter buffer: an array whose storage is reused.
    package init(first: Ticket, reusing buffer: consuming [UInt8] = []) {
        self.first = first
        buffer.removeAll(keepingCapacity: true)
        bytes = buffer
    }

    /// A chunk that was saved.
    ///
    /// - Returns: `nil` unless the bytes are `count` byte strings of definite length, at least one.
    init?(first: Ticket, count: Int, bytes: [UInt8], marks: [InputProgress]) {
        guard count >= 1, count <= bytes.count else { return nil }
        self.init(first: first)
        var offset = 0
        for _ in 0..<count {
            guard let content = bytes[...].contentOfByteString(at: offset) else { return nil }
            offset = content.upperBound
            largestActionBytes = max(largestActionBytes, content.count)
        }
        guard offset == bytes.count else { return nil }
        self.count = count
        self.bytes = bytes
        self.marks = marks
    }

    package var isEmpty: Bool { count == 0 }
    /// The ticket of the last action.
    package var last: Ticket { first.advanced(by: count - 1) }
    /// The ticket after the last action.
    package var end: Ticket { first.advanced(by: count) }

    // MARK: Adding

    /// Adds an action, and the position in the input after it.
    package mutating func append(_ action: UnsafeBufferPointer<UInt8>, mark: InputMark? = nil) {
        if let mark { marks.append(InputProgress(ticket: end, mark: mark)) }
        bytes.appendByteString(action)
        largestActionBytes = max(largestActionBytes, action.count)
        count += 1
    }

    package mutating func append(_ action: [UInt8], mark: InputMark? = nil) {
        action.withUnsafeBufferPointer { append($0, mark: mark) }
    }

    /// Adds input that is no action, which is not sent.
    package mutating func append(invalid rejection: Rejection, mark: InputMark?) {
        invalidInputs.append(InvalidInput(ticket: end, rejection: rejection))
        append([], mark: mark)
    }

    // MARK: Reading

    /// The place of the action whose head is at an offset.
    func action(at offset: Int) -> Range<Int> {
        guard let content = bytes[...].contentOfByteString(at: offset) else {
            preconditionFailure("a chunk of \(bytes.count) bytes has no action at \(offset)")
        }
        return content
    }

    /// The offset after `count` actions from an offset on.
    func offset(after count: Int, from offset: Int) -> Int {
        var offset = offset
        for _ in 0..<count { offset = action(at: offset).upperBound }
        return offset
    }
}
