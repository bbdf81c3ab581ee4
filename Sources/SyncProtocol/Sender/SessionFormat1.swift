import StateCoding
import StateCore

// Session files of format 1 have single actions with their outcomes instead of chunks and runs.

extension CBORReader {
    /// Reads the actions of a file of format 1.
    mutating func savedActions() throws(CodingFailure) -> (chunks: [ActionChunk], resolved: [ResolvedRun]) {
        let actions = try list { reader throws(CodingFailure) in try SavedAction(from: &reader) }
        var (chunks, resolved): ([ActionChunk], [ResolvedRun]) = ([], [])
        for action in actions {
            if chunks.last?.end != action.ticket { chunks.append(ActionChunk(first: action.ticket)) }
            let mark = action.position.map { InputMark(position: $0) }
            chunks[chunks.count - 1].append(action.bytes, mark: mark)
            if let outcome = action.outcome { resolved.append(ResolvedRun(action.ticket, outcome)) }
        }
        return (chunks, resolved)
    }

    /// Reads outcomes of actions that were saved before.
    mutating func savedOutcomes() throws(CodingFailure) -> [ResolvedRun] {
        try list { reader throws(CodingFailure) in
            try reader.fixedArray(2)
            let ticket = Ticket(rawValue: try reader.unsigned())
            return ResolvedRun(ticket, try ResolvedAction(from: &reader))
        }
    }
}

extension SavedAction {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(4)
        self.init(
            ticket: Ticket(rawValue: try reader.unsigned()),
            position: try reader.optional { reader throws(CodingFailure) in try reader.unsigned() },
            bytes: try reader.bytes(),
            outcome: try reader.optional { reader throws(CodingFailure) in try ResolvedAction(from: &reader) }
        )
    }
}

extension ResolvedAction {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(2)
        let sent = try reader.optional { reader throws(CodingFailure) in try SentAction(from: &reader) }
        switch (try reader.arrayCount(), sent) {
        case (2, _): self.init(sent: sent, .failure(try reader.rejection()))
        case (3, _?): self.init(sent: sent, .success(try reader.position()))
        case (let count, _): throw CodingFailure(.malformed, "an outcome has 2 or 3 elements, got \(count)")
        }
    }
}
