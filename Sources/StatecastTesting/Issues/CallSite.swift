internal import IssueReporting

/// The line of a test that asserts something: where an issue is shown.
struct CallSite {
    let fileID: StaticString
    let filePath: StaticString
    let line: UInt
    let column: UInt

    /// Makes the running test fail, be it one of Swift Testing or of XCTest.
    func report(_ issue: String) {
        reportIssue(issue, fileID: fileID, filePath: filePath, line: line, column: column)
    }
}
