import StatecastTesting
import Testing

/// Expects one issue of `body` for each fragment, in order, at a line of the test, whose text contains the fragment.
func expectIssues(
    _ fragments: String...,
    sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async -> Void
) async {
    await expectIssues(fragments, sourceLocation: sourceLocation, isolation: isolation, body)
}

/// The same for an array of fragments.
func expectIssues(
    _ fragments: [String],
    sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async -> Void
) async {
    let issues = Spy<String>()
    await withKnownIssue(sourceLocation: sourceLocation) {
        await body()
    } matching: { issue in
        issues.record(issue.comments.map(\.rawValue).joined())
        return issue.sourceLocation?.fileID == sourceLocation.fileID
    }
    let texts = issues.values
    #expect(texts.count == fragments.count, "\(texts)", sourceLocation: sourceLocation)
    for (text, fragment) in zip(texts, fragments) {
        #expect(text.contains(fragment), sourceLocation: sourceLocation)
    }
}
