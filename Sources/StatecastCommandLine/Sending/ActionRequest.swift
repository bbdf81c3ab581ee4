import Statecast
package import StatecastCoding
import StatecastFiles
import StatecastJSON

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An action that a user asks for: a name, and a payload in JSON.
package struct ActionRequest: Sendable, Equatable {
    package let name: String
    /// The value from which the primary decodes the action.
    package let payload: Value

    /// Reads name and payload from a command line; see ``PayloadArguments``.
    ///
    /// - Throws: ``CommandFailure`` that names the problem of the payload.
    package init(name: String, payload arguments: [String] = []) throws {
        self.name = name
        payload = try PayloadArguments(arguments).payload()
    }

    /// Reads a line of input; `nil` for a blank one.
    init?(_ line: InputLine) throws(MalformedLine) {
        switch line {
        case .line(let number, let bytes):
            let text = bytes.withoutByteOrderMark
            if text.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { return nil }
            try self.init(line: Array(text), number: number)
        case .tooLong(let number):
            let message = "longer than \(InputLines.maxLineBytes) bytes; a line must end with a line feed"
            throw MalformedLine(number: number, message: message)
        }
    }

    /// Reads `{"action":"StepChangeRequested","payload":{"step":7}}`; the payload's default is `{}`.
    init(line: [UInt8], number: Int) throws(MalformedLine) {
        let value: Value
        do throws(CodingFailure) { value = try JSON.value(parsing: line) } catch {
            // The parser counts lines within its text, which is one line of the input.
            let position = error.message.hasPrefix("line 1, ") ? error.message.dropFirst(8) : error.message[...]
            throw MalformedLine(number: number, message: "not JSON: \(position)")
        }
        guard let entries = value.mapValue, let name = value["action"]?.textValue else {
            throw MalformedLine(
                number: number,
                message: "expected an object such as {\"action\":\"StepChangeRequested\",\"payload\":{\"step\":7}}"
            )
        }
        for key in entries.keys where key != "action" && key != "payload" {
            throw MalformedLine(
                number: number,
                message: "expected no other fields than \"action\" and \"payload\", got \(key)"
            )
        }
        self.name = name
        payload = value["payload"] ?? .map([:])
    }

    /// A warning for each field that the action's example does not have; none where the example is no object.
    func unknownFields(among known: [ActionDescription]) -> [String] {
        guard let example = known.first(where: { $0.name == name })?.example?.mapValue, let fields = payload.mapValue
        else { return [] }
        let names = example.keys.compactMap(\.textValue)
        return fields.keys.compactMap(\.textValue).filter { !names.contains($0) }.map { field in
            let hint = field.nearest(among: names).map { ": did you mean \"\($0)\"?" } ?? ""
            return "the example of \(name) has no field \"\(field)\", which the primary may have ignored\(hint)"
        }
    }
}

/// A line of input that is not a request.
struct MalformedLine: Error, Hashable {
    let number: Int
    /// The expected and the actual input.
    let message: String
}

/// The payload on a command line: JSON; fields such as `step=7`; `@file` or `-` for JSON in a file or in standard
/// input; nothing for `{}`.
private struct PayloadArguments {
    private let arguments: [String]
    /// The most bytes to read: no primary accepts a larger action.
    private static let maxBytes = InputLines.maxLineBytes

    init(_ arguments: [String]) { self.arguments = arguments }

    /// - Throws: ``CommandFailure`` that names the problem.
    func payload() throws -> Value {
        guard let first = arguments.first else { return .map([:]) }
        if arguments.count == 1 {
            if first == "-" { return try Self.json(Self.standardInput(), "the payload in standard input") }
            if first.first == "@" {
                let path = String(first.dropFirst())
                return try Self.json(Self.contents(of: path), "the payload in \(path)")
            }
            if Self.field(first) == nil { return try Self.json(Array(first.utf8), "the payload") }
        }
        return try fields()
    }

    /// A value that is not JSON is a text.
    private func fields() throws -> Value {
        var payload: Value = .map([:])
        for argument in arguments {
            guard let (name, text) = Self.field(argument) else {
                throw CommandFailure.wrongUsage(
                    "expected a field such as step=7, got \"\(argument)\": give one JSON text, or fields alone"
                )
            }
            guard payload[name] == nil else { throw CommandFailure.wrongUsage("the field \(name) stands twice") }
            payload[name] = (try? JSON.value(parsing: text)) ?? .text(text)
        }
        return payload
    }

    /// Unambiguous, because no JSON text begins with a name and an equals sign.
    private static func field(_ argument: String) -> (name: String, text: String)? {
        guard let mark = argument.firstIndex(of: "="), let first = argument.first, first.isLetter || first == "_" else {
            return nil
        }
        let name = argument[..<mark]
        guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }) else { return nil }
        return (String(name), String(argument[argument.index(after: mark)...]))
    }

    private static func json(_ bytes: [UInt8], _ place: String) throws -> Value {
        do { return try JSON.value(parsing: Array(bytes.withoutByteOrderMark)) } catch {
            throw CommandFailure.wrongUsage("\(place) is not JSON: \(error.message)")
        }
    }

    private static func contents(of path: String) throws -> [UInt8] {
        let bytes: [UInt8]
        do throws(SystemFailure) { bytes = try OpenFile(path, O_RDONLY).read(maxBytes + 1) } catch {
            throw CommandFailure.wrongUsage("cannot read the payload in \(path): \(error.reason)")
        }
        return try limited(bytes, path)
    }

    private static func standardInput() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= maxBytes, let chunk = try InputLines.readChunk().get() { bytes += chunk }
        return try limited(bytes, "standard input")
    }

    private static func limited(_ bytes: [UInt8], _ place: String) throws -> [UInt8] {
        guard bytes.count <= maxBytes else {
            throw CommandFailure.wrongUsage("the payload in \(place) is longer than \(maxBytes) bytes")
        }
        return bytes
    }
}
