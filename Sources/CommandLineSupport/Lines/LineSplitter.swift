/// A line of input, numbered from 1.
package enum InputLine: Sendable, Equatable {
    /// Without its end.
    case line(number: Int, [UInt8])
    /// Longer than is read; it was skipped.
    case tooLong(number: Int)
}

/// Cuts a stream of bytes into lines, and never holds more than one of bounded length.
package struct LineSplitter: Sendable {
    private let bytesMax: Int
    private var partial: [UInt8] = []
    private var isSkipping = false
    private var number = 0

    /// A splitter for lines of at most `bytesMax` bytes, their ends not counted.
    package init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// The lines that end in these bytes.
    package mutating func take(_ bytes: [UInt8]) -> [InputLine] {
        var lines: [InputLine] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            keep(rest[..<end])
            lines.append(cut())
            rest = rest[(end + 1)...]
        }
        keep(rest)
        return lines
    }

    /// The last line, if it has no end.
    package mutating func end() -> InputLine? { partial.isEmpty && !isSkipping ? nil : cut() }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        guard !isSkipping else { return }
        if partial.count + bytes.count > bytesMax {
            partial = []
            isSkipping = true
        } else {
            partial += bytes
        }
    }

    private mutating func cut() -> InputLine {
        defer {
            partial = []
            isSkipping = false
        }
        number += 1
        return isSkipping ? .tooLong(number: number) : .line(number: number, partial)
    }
}
