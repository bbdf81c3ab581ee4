/// Checks that a state can be kept in step between processes, as its type is coded and compared.
///
/// A type that breaks one of these rules does not fail; its replicas silently hold something else:
/// - all that is encoded are values, no class instances;
/// - decoding what was encoded gives an equal state, which is encoded in the same way;
/// - what is encoded differently is not `==`, and what is not `==` is encoded differently;
/// - the patch from one state to another leads there, on the typed state and on the untyped tree alike, and the summary
///   follows.
///
/// They are checked on each state given, on every pair of them, and on variants made of them: in the encoding one place
/// is changed (a number by one, a text by a letter, a bool to its opposite; an element or an entry removed, an element
/// repeated, an absent optional filled in), and what the type then accepts is a state as well. Variants are at most
/// 200, spread evenly over the state, and fewer of a large state: 100 fields take well below a second. Each variant costs
/// a few passes over the state, and thousands of rows show no more than a few.
///
/// ```swift
/// @Test func `a fleet can be replicated`() {
///     verifyState(Fleet.example)
/// }
/// ```
///
/// Give a state in which every field has something in it that is not its default, and several states where an enum has
/// several cases: no variant turns one case into another, and none has a field that `init(from:)` ignores.
///
/// Each problem is one issue, which names the coding path and says what to do; a state of which nothing can be varied
/// is one, too. NaN, which is not `==` to itself, is no problem.
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
