internal import StateCoding
internal import Statecast

/// Why a dotted path leads to nothing in a state, and what is there instead.
struct PathHint: CustomStringConvertible {
    let description: String

    private static let namesMax = 8

    init(_ path: String, in state: Value) {
        var (value, found) = (state, "")
        for component in path.split(separator: ".").map(String.init) {
            guard let next = value[path: component] else {
                let place = found.isEmpty ? "the state" : found
                description = Self.hint(component, in: value, at: place)
                return
            }
            value = next
            found += found.isEmpty ? component : "." + component
        }
        description = "\(path) is there"
    }

    private static func hint(_ component: String, in value: Value, at place: String) -> String {
        switch PlainForm(value) {
        case .map(let map):
            let names = map.keys.map(\.keyName)
            if let near = component.nearest(among: names) {
                return "\(place) has no \(component); did you mean \(near)?"
            }
            guard !names.isEmpty else { return "\(place) is empty" }
            let more = names.count > namesMax ? " and \(names.count - namesMax) more" : ""
            return "\(place) has no \(component), but \(names.prefix(namesMax).joined(separator: ", "))" + more
        case .array(let elements):
            return elements.isEmpty ? "\(place) is empty" : "\(place) has the elements 0 to \(elements.count - 1)"
        default: return "\(place) has no parts"
        }
    }
}
