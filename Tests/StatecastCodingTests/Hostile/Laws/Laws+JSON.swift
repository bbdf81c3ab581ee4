import StatecastCoding
import StatecastJSON

extension Laws {
    /// Parsed JSON that is printed and parsed again prints the same text, and every value has a JSON text of bounded
    /// size.
    static func checkJSON(_ bytes: [UInt8]) throws(BrokenLaw) {
        if case .success(let value) = may({ () throws(CodingFailure) in try JSON.value(parsing: bytes) }) {
            let text = JSON.text(of: value)
            let again = try must("printed JSON can be read") { try JSON.value(parsing: text) }
            try require(JSON.text(of: again) == text, "JSON comes back as it was")
        }
        guard case .success(let value) = may({ () throws(CodingFailure) in try Value(decoding: bytes) }) else { return }
        let text = JSON.text(of: value)
        // A control character has six bytes in JSON; the quotes of a key within a key are escaped.
        try require(text.utf8.count <= 64 + 64 * bytes.count, "JSON is a small multiple of CBOR: \(text.utf8.count)")
        switch may({ () throws(CodingFailure) in try JSON.value(parsing: text) }) {
        case .success(let read):
            // Its keys are texts now, which may have another order.
            let again = try must("the JSON view can be read") { try JSON.value(parsing: JSON.text(of: read)) }
            try require(again.encoded == read.encoded, "the JSON view of a value is JSON")
        // Two keys may look alike in JSON, and a decimal fraction may be beyond the range of a `Double`.
        case .failure(let failure):
            let isExplained = failure.code == .duplicateKey || failure.code == .outOfRange
            try require(isExplained, "the JSON view is JSON: \(failure)")
        }
    }
}
