extension Patch {
    /// The patch as a JSON Patch (RFC 6902): an array of the operations `add`, `remove` and `replace`.
    ///
    /// ```swift
    /// let text = JSON.text(of: try patch.jsonPatch(from: state))
    /// ```
    ///
    /// Applied to the JSON view of `base`, it makes the JSON view of the patched value, as far as JSON can tell the keys
    /// of each map apart. `base` says what is an array, and which keys exist. Costs what the patch holds, and an
    /// operation for each element that a splice takes or puts, but never more than the array then has elements.
    ///
    /// - Throws: `patchMismatch` if the patch does not fit, with the path.
    public func jsonPatch(from base: Value) throws(CodingFailure) -> Value {
        var writer = JSONPatchWriter()
        try writer.write(self, on: base, at: "")
        return .array(writer.operations)
    }

    /// The patch that does to `base` what a JSON Patch (RFC 6902) does to its JSON view.
    ///
    /// ```swift
    /// let patch = try Patch(jsonPatch: JSON.value(parsing: text), on: state)
    /// ```
    ///
    /// A pointer's token finds a text key first, then the key whose JSON view it is. A new key is a text, save where all
    /// others are, say, integers and it is one too. Values are taken as they come: a text stays a text where bytes
    /// stood, which typed decoding understands.
    ///
    /// Each operation costs the length of its pointer and the size of its value, `move` and `copy` the size of what
    /// they take along; an array is copied once when it is first changed, and moved in memory where it grows or
    /// shrinks. What no operation touches costs nothing.
    ///
    /// - Throws: `patchMismatch` where a path is missing or a test fails, `malformed` for what is no JSON Patch,
    ///   `tooDeep` for a result beyond the limits, `tooLarge` for copies that would multiply the document; each with the
    ///   index of the operation and its pointer.
    public init(
        jsonPatch: Value,
        on base: Value,
        limits: CodingLimits = .standard
    ) throws(CodingFailure) {
        guard case .array(let operations) = jsonPatch else {
            throw CodingFailure(.malformed, "expected a JSON Patch (an array of operations), got \(jsonPatch.summary)")
        }
        var run = JSONPatchRun(base: base, limits: limits)
        for (index, operation) in operations.enumerated() {
            do throws(CodingFailure) {
                try run.perform(try JSONPatchOperation(operation))
            } catch {
                let name = operation["op"]?.textValue.map { " \($0.beginning(10))" } ?? ""
                let pointers = ["from", "path"].compactMap {
                    operation[$0]?.textValue.map { " \"\($0.beginning(80))\"" }
                }
                throw CodingFailure(error.code, "operation \(index)\(name)\(pointers.joined()): \(error.message)")
            }
        }
        self = run.patch
    }
}
