/// JSON Pointers (RFC 6901), such as `/hosts/web-1.example.com/samples/3`.
package enum JSONPointer {
    /// The pointer of a path; empty for the root.
    package static func text(of components: some Sequence<String>) -> String {
        components.map(token).joined()
    }

    /// The component as a token of a pointer, its slash in front.
    package static func token(_ component: String) -> String {
        var result = "/"
        for scalar in component.unicodeScalars {
            switch scalar {
            case "~": result += "~0"
            case "/": result += "~1"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The components of a pointer.
    ///
    /// - Returns: `nil` if the text is no pointer: it begins with another character than a slash, or has a tilde that
    ///   neither 0 nor 1 follows.
    package static func components(of text: String) -> [String]? {
        guard !text.isEmpty else { return [] }
        guard text.unicodeScalars.first == "/" else { return nil }
        var components: [String] = []
        var scalars = text.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            if scalar == "/" {
                components.append("")
                continue
            }
            var unescaped = scalar
            if scalar == "~" {
                switch scalars.next() {
                case "0": unescaped = "~"
                case "1": unescaped = "/"
                default: return nil
                }
            }
            components[components.count - 1].unicodeScalars.append(unescaped)
        }
        return components
    }
}
