/// What is wrong with a state's type: one issue for each kind of problem, with all the places where it shows.
struct StateProblems {
    enum Kind: CaseIterable {
        case unencodable, classInstance, undecodable, unstable, lossy
        case unequalToItself, unencoded, overlooked, unpatchable, invariable
    }

    private struct Problem {
        let path: [String]
        let description: String
    }

    private static let pathsMax = 5
    private var problems: [Kind: [Problem]] = [:]

    var isEmpty: Bool { problems.isEmpty }

    /// Takes a problem down, unless one of its kind is known at that path.
    mutating func add(_ kind: Kind, at path: [String], _ description: @autoclosure () -> String) {
        if problems[kind]?.contains(where: { $0.path == path }) == true { return }
        problems[kind, default: []].append(Problem(path: path, description: description()))
    }

    /// The problems in words.
    var issues: [String] {
        Kind.allCases.compactMap { kind in
            var problems = problems[kind] ?? []
            if kind == .unpatchable {
                // Of course a patch passes over what == overlooks.
                let known = self.problems[.overlooked] ?? []
                problems.removeAll { problem in known.contains { $0.path == problem.path } }
            }
            guard let first = problems.first else { return nil }
            let others = problems.dropFirst().map {
                $0.path.isEmpty ? "the whole" : "`\($0.path.joined(separator: "."))`"
            }
            if others.isEmpty { return first.description }
            let rest = others.count - Self.pathsMax
            let list = others.prefix(Self.pathsMax).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
            return "\(first.description)\n\nLikewise at: \(list)."
        }
    }
}

/// A place in a sentence: at `hosts.alpha`.
func place(_ path: [String]) -> String { path.isEmpty ? "as a whole" : "at `\(path.joined(separator: "."))`" }
