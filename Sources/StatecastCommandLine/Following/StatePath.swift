package import StatecastCoding
import StatecastJSON
import StatecastProtocol

/// The path of a part of a state. A text that begins with a slash is a JSON Pointer, which can name every text key; any
/// other splits at its dots.
package struct StatePath: Sendable, Equatable, CustomStringConvertible {
    package let path: ValuePath
    package var components: [String] { path.names }

    /// - Throws: ``CommandFailure`` if the text begins like a JSON Pointer and is none.
    package init(_ text: String) throws {
        guard text.unicodeScalars.first == "/" else {
            path = ValuePath(text.split(separator: ".").map(String.init))
            return
        }
        guard let components = JSONPointer.components(of: text) else {
            throw CommandFailure.wrongUsage(
                "expected a JSON Pointer such as /hosts/web-1.example.com, got \"\(text)\": a tilde in a key is ~0, a "
                    + "slash is ~1"
            )
        }
        path = ValuePath(components)
    }

    /// As a JSON Pointer.
    package var description: String { JSONPointer.text(of: components) }

    /// The part of a state; `nil` if the state has nothing there.
    package func part(of state: Value) -> Value? { state.part(at: components) }

    /// Names the component at which the path leaves the state, and what the state has there instead. Places are JSON
    /// Pointers.
    package func hint(in state: Value) -> String {
        var (value, found) = (state, "")
        for component in components {
            guard let next = value.child(component) else { return Self.hint(component, in: value, at: found) }
            value = next
            found += JSONPointer.token(component)
        }
        return "\(found) exists"
    }

    private static func hint(_ component: String, in value: Value, at pointer: String) -> String {
        let place = pointer.isEmpty ? "the state" : pointer
        switch PlainForm(value) {
        case .map(let map):
            let names = map.keys.map(\.keyName)
            guard !names.isEmpty else { return "\(place) is empty" }
            let shown = component.isEmpty ? "empty key" : component
            // A path with dots divides a key with dots.
            let longer = names.first { $0.hasPrefix(component + ".") }
            if let near = longer ?? component.nearest(among: names) {
                return "\(place) has no \(shown); did you mean \(pointer + JSONPointer.token(near))?"
            }
            let more = names.count > maxNames ? " and \(names.count - maxNames) more" : ""
            return "\(place) has no \(shown), but \(names.prefix(maxNames).joined(separator: ", "))" + more
        case .array(let elements):
            return elements.isEmpty ? "\(place) is empty" : "\(place) has the elements 0 to \(elements.count - 1)"
        default: return "\(place) has no parts"
        }
    }

    /// The most names that a hint lists.
    private static let maxNames = 8
}
