/// As much of the document's CDDL (RFC 8610) as tells the names of an array's elements.
struct Grammar {
    private var bodies: [String: String] = [:]

    init(_ blocks: [ProtocolDocument.Block]) {
        var rule = ""
        for line in blocks.flatMap(\.lines) {
            let line = line.prefix { $0 != ";" }
            if line.first?.isLetter == true, let equals = line.firstIndex(of: "=") {
                rule = line[..<equals].filter { $0 != " " }
                bodies[rule] = String(line[line.index(after: equals)...])
            } else {
                bodies[rule, default: ""] += line
            }
        }
    }

    /// The element names of the rule `rule = [...]`, in order; elements without a name are left out.
    func names(of rule: String) -> [String] {
        var (depth, element, elements) = (0, "", [String]())
        for character in bodies[rule, default: ""] {
            if "]})".contains(character) { depth -= 1 }
            if character == ",", depth == 1 {
                elements.append(element)
                element = ""
            } else if depth > 0 {
                element.append(character)
            }
            if "[{(".contains(character) { depth += 1 }
        }
        return (elements + [element]).compactMap { element in
            let name = element.prefix { !":[{(".contains($0) }
            guard name.endIndex < element.endIndex, element[name.endIndex] == ":" else { return nil }
            return name.filter { !$0.isWhitespace }
        }
    }
}
