import Foundation
import Testing

/// The stored inputs of the fuzzers (`scripts/fuzz`): a file for each target, which has an input a line, in base64.
enum FuzzCorpus {
    /// Checks the inputs of a target by the law with which it stored them.
    static func replay(
        _ target: String,
        here: String = #filePath,
        _ law: ([UInt8]) throws(BrokenLaw) -> Void
    ) throws {
        let repository = URL(filePath: here).resolvingSymlinksInPath().appending(path: "../../../..").standardized
        let lines = try String(
            contentsOf: repository.appending(path: "Fuzzing/Corpus/\(target).base64"),
            encoding: .utf8
        )
        let inputs = lines.split(separator: "\n")
        #expect(inputs.count > 100)
        for (number, input) in inputs.enumerated() {
            let bytes = try #require(
                Data(base64Encoded: String(input)),
                "line \(number + 1) of \(target) is not base64"
            )
            do throws(BrokenLaw) { try law(Array(bytes)) } catch {
                Issue.record("\(target), line \(number + 1): \(error)")
            }
        }
    }
}
