import StatecastCoding

extension Laws {
    /// A decoded value can be encoded, and decodes to an equal one; typed and untyped decoding agree.
    static func checkDecoding(_ bytes: [UInt8]) throws(BrokenLaw) {
        var value: Value?
        if case .success(let read) = may({ () throws(CodingFailure) in try Value(decoding: bytes) }) {
            value = read
            try checkRoundTrip(read)
        }
        for shape in shapes { try checkDecoding(bytes, value, as: shape) }
    }

    private static func checkRoundTrip(_ value: Value) throws(BrokenLaw) {
        let encoded = value.encoded
        let again = try must("an encoded value can be decoded") { try Value(decoding: encoded) }
        try require(again == value, "a value comes back equal")
        try require(again.encoded == encoded, "the encoding is deterministic")
        try require(again.hashValue == value.hashValue, "equal values hash alike")
        try require(Summary(of: value) == Summary(of: again), "equal values have one summary")
        try require(Patch(from: value, to: again).isEmpty, "between equal values nothing changed")
    }

    private static func checkDecoding<State: Codable>(
        _ bytes: [UInt8],
        _ value: Value?,
        as type: State.Type
    ) throws(BrokenLaw) {
        let decoder = StateDecoder()
        let direct = may { () throws(CodingFailure) in try decoder.decode(type, from: bytes) }
        if let value {
            let viaTree = may { () throws(CodingFailure) in try decoder.decode(type, from: value) }
            switch (direct, viaTree) {
            case (.success(let left), .success(let right)):
                try require(try encoding(left) == encoding(right), "\(type) is read alike from bytes and tree")
            case (.failure, .failure): break
            case (.success, .failure(let failure)): throw BrokenLaw("\(type) is read from bytes only: \(failure)")
            case (.failure(let failure), .success): throw BrokenLaw("\(type) is read from the tree only: \(failure)")
            }
        }
        guard case .success(let state) = direct else { return }
        let encoded = try encoding(state)
        let again = try must("an encoded \(type) can be read") { try decoder.decode(type, from: encoded) }
        try require(try encoding(again) == encoded, "\(type) comes back as it was")
    }

    static func encoding(_ state: some Encodable) throws(BrokenLaw) -> [UInt8] {
        try must("a decoded state can be encoded") { try StateEncoder().encode(state) }
    }
}
