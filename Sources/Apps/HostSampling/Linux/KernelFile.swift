#if os(Linux)
    import Foundation

    /// A small text file in which the kernel says how it is. proc(5).
    struct KernelFile {
        let path: String
        let lines: [Substring]

        init(_ relativePath: String, under root: String) throws(HostSamplingFailure) {
            path = root.hasSuffix("/") ? root + relativePath : root + "/" + relativePath
            do {
                let text = try String(contentsOfFile: path, encoding: .utf8)
                lines = text.split(separator: "\n")
            } catch {
                throw HostSamplingFailure(code: .unreadable, source: path, message: "\(error)")
            }
        }

        var firstLine: Substring { lines.first ?? "" }

        /// The words of the first line.
        var firstWords: [Substring] { firstLine.split(separator: " ") }

        /// The one number that `parse` finds in `word`, a word of `line`; finite and not negative.
        func number(_ word: Substring?, in line: Substring, _ meaning: String) throws(HostSamplingFailure) -> Double {
            guard let word, let number = Double(word), number.isFinite, number >= 0 else {
                throw unparsable("expected \(meaning)", in: line)
            }
            return number
        }

        func unparsable(_ expected: String, in line: Substring) -> HostSamplingFailure {
            HostSamplingFailure(code: .unparsable, source: path, message: "\(expected), found \"\(line.prefix(120))\"")
        }
    }
#endif
