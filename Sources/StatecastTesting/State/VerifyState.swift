/// Checks that processes can replicate a state, given its type's `Codable` and `==`.
///
/// A type that breaks one of these rules does not fail; its replicas silently hold another state:
/// - the encoding has values only, no class instances;
/// - a decoded state is equal to the encoded one and has the same encoding;
/// - two states are `==` if and only if they have the same encoding;
/// - the patch from one state to another leads there, on the typed state and on the untyped tree, and the summary
///   follows.
///
/// It checks each given state, every pair of them, and variants of them. A variant changes one place in the encoding (a
/// number by one, a text by a letter, a bool to its opposite; removes an element or an entry, repeats an element, fills
/// in an absent optional) such that the type accepts it. There are at most 200 variants, spread evenly over the state,
/// and fewer of a large state: 100 fields need well below a second. Each variant costs a few passes over the state, and
/// thousands of rows show no more than a few.
///
/// ```swift
/// @Test func `a fleet can be replicated`() {
///     verifyState(Fleet.example)
/// }
/// ```
///
/// Pass a state in which no field has its default value, and several states if an enum has several cases: no variant
/// turns one case into another, and none has a field that `init(from:)` ignores.
///
/// Each problem is one issue, which names the coding path and the remedy. A state without variants is an issue,
/// too. NaN, which is not `==` to itself, is no problem.
public func verifyState<State: Codable & Equatable>(
    _ state: State,
    _ more: State...,
    fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column
) {
    var verification = StateVerification<State>()
    verification.verify([state] + more)
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    for issue in verification.problems.issues { site.report(issue) }
}

/// The problems of a state's type: one issue for each kind of problem, with all its places.
struct StateProblems {
    enum Kind: CaseIterable {
        case unencodable, classInstance, undecodable, unstable, lossy
        case unequalToItself, unencoded, overlooked, unpatchable, invariable
    }

    private struct Problem {
        let path: [String]
        let description: String
    }

    private static let maxPaths = 5
    private var problems: [Kind: [Problem]] = [:]

    var isEmpty: Bool { problems.isEmpty }

    /// Adds a problem, unless one of its kind is known at that path.
    mutating func add(_ kind: Kind, at path: [String], _ description: @autoclosure () -> String) {
        if problems[kind]?.contains(where: { $0.path == path }) == true { return }
        problems[kind, default: []].append(Problem(path: path, description: description()))
    }

    /// One message for each kind of problem.
    var issues: [String] {
        Kind.allCases.compactMap { kind in
            var problems = problems[kind] ?? []
            if kind == .unpatchable {
                // A patch cannot contain a change that == does not see.
                let known = self.problems[.overlooked] ?? []
                problems.removeAll { problem in known.contains { $0.path == problem.path } }
            }
            guard let first = problems.first else { return nil }
            let others = problems.dropFirst().map {
                $0.path.isEmpty ? "the whole" : "`\($0.path.joined(separator: "."))`"
            }
            if others.isEmpty { return first.description }
            let rest = others.count - Self.maxPaths
            let list = others.prefix(Self.maxPaths).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
            return "\(first.description)\n\nLikewise at: \(list)."
        }
    }
}

/// A path in a sentence: at `hosts.alpha`.
func place(_ path: [String]) -> String { path.isEmpty ? "as a whole" : "at `\(path.joined(separator: "."))`" }
