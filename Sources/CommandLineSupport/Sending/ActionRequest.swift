package import StateCoding
internal import StateJSON

/// An action as somebody asks for it: by name, with a payload in JSON.
package struct ActionRequest: Sendable, Equatable {
    /// The action's name.
    package let name: String
    /// What its type is decoded from.
    package let payload: Value

    /// Reads name and payload as they stand on a command line; see ``PayloadArguments``.
    ///
    /// - Throws: ``CommandFailure`` that says what is wrong with the payload.
    package init(name: String, payload arguments: [String] = []) throws {
        self.name = name
        payload = try PayloadArguments(arguments).payload()
    }

    /// Reads `{"action":"StepChangeRequested","payload":{"step":7}}`; no payload means `{}`.
    ///
    /// - Throws: ``LineFault`` that says what is wrong with the line.
    package init(line: [UInt8]) throws(LineFault) {
        let value: Value
        do throws(CodingFailure) { value = try JSON.value(parsing: line) } catch {
            throw LineFault(message: "not JSON: \(error.message.trimmingLineNumber)")
        }
        guard let entries = value.mapValue, let name = value["action"]?.textValue else {
            throw LineFault(
                message: "expected an object such as {\"action\":\"StepChangeRequested\",\"payload\":{\"step\":7}}"
            )
        }
        for key in entries.keys where key != "action" && key != "payload" {
            throw LineFault(message: "expected no more than \"action\" and \"payload\", got \(key)")
        }
        self.name = name
        payload = value["payload"] ?? .map([:])
    }
}

/// What is wrong with a line of input.
package struct LineFault: Error, Hashable {
    /// What was expected, and what came.
    package let message: String
}

extension String {
    /// The parser counts lines within its text, which is one line of something else.
    fileprivate var trimmingLineNumber: String { hasPrefix("line 1, ") ? String(dropFirst("line 1, ".count)) : self }
}
