import Testing

@testable import StatecastCoding

/// Checks the laws of coding and patches for states that follow each other.
///
/// - Returns: The patch to the last state from the one before.
@discardableResult
func checkLaws<T: Codable & Equatable>(
    _ states: [T],
    at location: SourceLocation = #_sourceLocation
) throws -> Patch {
    let (encoder, decoder) = (StateEncoder(), StateDecoder())
    let type: Comment = "\(T.self)"
    let first = try encoder.value(of: states[0])
    var (tree, typed, summary) = (first, states[0], Summary(of: first))
    var (last, composed) = (Patch.none, Patch.none)
    for (old, new) in zip(states, states.dropFirst()) {
        let bytes = try encoder.encode(new)
        let (before, after) = (try encoder.value(of: old), try encoder.value(of: new))
        let difference = try Differ.patch(from: old, to: new)
        last = try Patch(decoding: difference.patch.encode())

        // Round trips, and one encoding for each value.
        #expect(try Value(decoding: bytes) == after, type, sourceLocation: location)
        #expect(after.encoded == bytes, type, sourceLocation: location)
        #expect(try decoder.decode(T.self, from: bytes) == new, type, sourceLocation: location)
        #expect(last == difference.patch, type, sourceLocation: location)
        // apply(diff(a, b), to: a) == b, typed and untyped.
        try last.apply(to: &typed)
        #expect(typed == new, type, sourceLocation: location)
        #expect(try encoder.value(of: typed) == after, type, sourceLocation: location)
        var advanced = summary
        try last.apply(to: &tree, summary: &summary)
        #expect(tree == after, type, sourceLocation: location)
        var untyped = before
        try Patch(from: before, to: after).apply(to: &untyped)
        #expect(untyped == after, type, sourceLocation: location)
        // diff(a, a) is empty; values with the same encoding are equal.
        #expect(try Differ.patch(from: new, to: new).isEmpty, type, sourceLocation: location)
        #expect(difference.isEmpty == (before == after), type, sourceLocation: location)
        // Digests agree on both sides.
        advanced.advance(by: difference)
        #expect(advanced == summary, type, sourceLocation: location)
        #expect(summary == Summary(of: after), type, sourceLocation: location)
        #expect(summary.bytes == after.canonical.encoded.count, type, sourceLocation: location)
        composed = composed.composed(with: last)
    }
    guard states.count > 2 else { return last }
    // Patches compose.
    var (atOnce, typedAtOnce) = (first, states[0])
    try Patch(decoding: composed.encode()).apply(to: &atOnce)
    try composed.apply(to: &typedAtOnce)
    #expect(atOnce == tree, type, sourceLocation: location)
    #expect(typedAtOnce == typed, type, sourceLocation: location)
    return last
}

/// Checks the laws for two states.
///
/// - Returns: The patch between them.
@discardableResult
func checkLaws<T: Codable & Equatable>(
    from old: T,
    to new: T,
    at location: SourceLocation = #_sourceLocation
) throws -> Patch { try checkLaws([old, new], at: location) }
