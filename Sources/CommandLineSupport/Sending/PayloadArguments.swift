internal import Foundation
internal import StateCoding
internal import StateJSON
internal import Statecast

/// A payload as it stands on a command line: JSON; fields such as `step=7`; `@file` or `-` for JSON in a file or in
/// standard input; nothing for `{}`.
struct PayloadArguments {
    private let arguments: [String]
    /// The most bytes that are read: no primary takes a larger action.
    private static let bytesMax = InputLines.lineBytesMax

    init(_ arguments: [String]) { self.arguments = arguments }

    /// - Throws: ``CommandFailure`` that says what is wrong.
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

    /// A value that is no JSON is a text.
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

    /// No JSON text begins with a name and an equals sign.
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
        let file: FileHandle
        do { file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)) } catch {
            throw CommandFailure.wrongUsage("cannot read the payload in \(path): \(error.localizedDescription)")
        }
        do {
            return try limited(Array(file.read(upToCount: bytesMax + 1) ?? Data()), path)
        } catch let failure as CommandFailure { throw failure } catch {
            throw CommandFailure.failed("cannot read the payload in \(path): \(error.localizedDescription)")
        }
    }

    private static func standardInput() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= bytesMax, let chunk = try InputLines.readChunk().get() { bytes += chunk }
        return try limited(bytes, "standard input")
    }

    private static func limited(_ bytes: [UInt8], _ place: String) throws -> [UInt8] {
        guard bytes.count <= bytesMax else {
            throw CommandFailure.wrongUsage("the payload in \(place) is longer than \(bytesMax) bytes")
        }
        return bytes
    }
}

extension ActionRequest {
    /// What to say of fields that the example of the action does not have; nothing where that is no object.
    func strangeFields(among known: [ActionDescription]) -> [String] {
        guard let example = known.first(where: { $0.name == name })?.example?.mapValue, let fields = payload.mapValue
        else { return [] }
        let names = example.keys.compactMap(\.textValue)
        return fields.keys.compactMap(\.textValue).filter { !names.contains($0) }.map { field in
            let hint = field.nearest(among: names).map { ": did you mean \"\($0)\"?" } ?? ""
            return "the example of \(name) has no field \"\(field)\", which the primary may have ignored\(hint)"
        }
    }
}
