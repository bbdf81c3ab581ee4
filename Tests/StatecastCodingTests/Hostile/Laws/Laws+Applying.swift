import StatecastCoding

/// A value and patches for it in one sequence of bytes, separated by `FE FE`, which no item of CBOR begins with.
struct ApplyInput {
    var value: [UInt8]
    var patches: [[UInt8]]

    static let separator: [UInt8] = [0xFE, 0xFE]

    init(_ bytes: [UInt8]) {
        var parts: [[UInt8]] = []
        var (start, index) = (0, 0)
        while let first = bytes[index...].firstIndex(of: Self.separator[0]) {
            index = first + 1
            guard bytes[first...].starts(with: Self.separator) else { continue }
            parts.append(Array(bytes[start..<first]))
            start = first + Self.separator.count
            index = start
        }
        parts.append(Array(bytes[start...]))
        value = parts.removeFirst()
        patches = Array(parts.prefix(4))
    }

    var bytes: [UInt8] { Array(([value] + patches).joined(separator: Self.separator)) }
}

extension Laws {
    /// A patch applies completely or not at all, patches have the same effect in order and composed, and summaries stay
    /// equal.
    static func checkApplying(_ bytes: [UInt8]) throws(BrokenLaw) {
        let input = ApplyInput(bytes)
        var patches: [Patch] = []
        for bytes in input.patches {
            if let patch = try patch(bytes) { patches.append(patch) }
        }
        guard case .success(let first) = may({ () throws(CodingFailure) in try Value(decoding: input.value) }) else {
            return
        }
        try checkTypedApplying(patches, to: input.value)
        var (value, isWhole) = (first, true)
        for patch in patches where try !applies(patch, to: &value) { isWhole = false }
        try checkDifference(from: first, to: value)

        // Composing must be harmless even where the parts do not fit.
        let composed = patches.reduce(Patch.none) { $0.composed(with: $1) }
        var atOnce = first
        let fits = try applies(composed, to: &atOnce)
        guard isWhole else { return }
        try require(fits, "patches that fit one after the other fit composed")
        try require(atOnce.encoded == value.encoded, "composed patches do what their parts do")
    }

    private static func patch(_ bytes: [UInt8]) throws(BrokenLaw) -> Patch? {
        guard case .success(let patch) = may({ () throws(CodingFailure) in try Patch(decoding: bytes) }) else {
            return nil
        }
        let encoded = patch.encode()
        let again = try must("a written patch can be read") { try Patch(decoding: encoded) }
        try require(again == patch && again.encode() == encoded, "a patch comes back as it was")
        return patch
    }

    /// Whether the patch fits; checks that it then has the same effect with and without a summary, and otherwise none.
    private static func applies(_ patch: Patch, to value: inout Value) throws(BrokenLaw) -> Bool {
        var (alone, withSummary, summary) = (value, value, Summary(of: value))
        let before = summary
        let result = may { () throws(CodingFailure) in try patch.apply(to: &alone) }
        let resultWithSummary = may { () throws(CodingFailure) in
            try patch.apply(to: &withSummary, summary: &summary)
        }
        try require(alone.encoded == withSummary.encoded, "a kept summary changes nothing else")
        switch (result, resultWithSummary) {
        case (.success, .success):
            try require(summary == Summary(of: alone), "the summary follows the value")
            value = alone
            return true
        case (.failure(let failure), .failure):
            try require(alone.encoded == value.encoded, "a patch that does not fit leaves the value as it was")
            try require(summary == before, "a patch that does not fit leaves the summary as it was")
            try require(failure.code == .patchMismatch, "a patch that does not fit is a mismatch: \(failure)")
            return false
        default: throw BrokenLaw("a patch fits with a summary or without, not only one of them")
        }
    }

    private static func checkDifference(from old: Value, to new: Value) throws(BrokenLaw) {
        let patch = Patch(from: old, to: new)
        var value = old
        guard try applies(patch, to: &value) else { throw BrokenLaw("a difference fits its old value") }
        try require(value == new, "a difference leads from one value to the other")
    }
}
