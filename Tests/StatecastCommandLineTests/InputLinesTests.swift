import Testing

@testable import StatecastCommandLine

@Suite struct LineSplitterTests {
    private func lines(_ chunks: [String], maxBytes: Int = 100) -> [InputLine] {
        var splitter = LineSplitter(maxBytes: maxBytes)
        var lines = chunks.flatMap { splitter.append(Array($0.utf8)) }
        if let last = splitter.finish() { lines.append(last) }
        return lines
    }

    private func line(_ number: Int, _ text: String) -> InputLine { .line(number: number, Array(text.utf8)) }

    @Test func `lines are numbered from 1, and the last one needs no line end`() {
        #expect(lines(["one\ntwo\nthree"]) == [line(1, "one"), line(2, "two"), line(3, "three")])
        #expect(lines(["one\ntwo\n"]) == [line(1, "one"), line(2, "two")])
    }

    @Test func `an empty input has no lines`() {
        #expect(lines([]) == [])
        #expect(lines([""]) == [])
    }

    @Test func `blank lines are lines`() {
        #expect(lines(["\n\n a\n"]) == [line(1, ""), line(2, ""), line(3, " a")])
    }

    @Test func `a carriage return belongs to its line`() {
        #expect(lines(["a\r\nb"]) == [line(1, "a\r"), line(2, "b")])
    }

    @Test func `the boundaries of chunks make no difference`() {
        let text = "first\n\nthe third, which is too long\nfourth ü\nlast"
        let whole = lines([text], maxBytes: 10)
        let bytes = Array(text.utf8)
        for cut in bytes.indices {
            var splitter = LineSplitter(maxBytes: 10)
            var cutLines = splitter.append(Array(bytes[..<cut])) + splitter.append(Array(bytes[cut...]))
            if let last = splitter.finish() { cutLines.append(last) }
            #expect(cutLines == whole, "cut at \(cut)")
        }
        var splitter = LineSplitter(maxBytes: 10)
        #expect(bytes.flatMap { splitter.append([$0]) } + [splitter.finish()].compactMap(\.self) == whole)
    }

    @Test func `a line at the limit is read, one beyond it is skipped, and the next is read`() {
        #expect(lines(["12345\nab\n"], maxBytes: 5) == [line(1, "12345"), line(2, "ab")])
        #expect(lines(["123456\nab\n"], maxBytes: 5) == [.tooLong(number: 1), line(2, "ab")])
    }

    @Test func `a line that is too long is one line, in any number of chunks, also as the last one`() {
        #expect(lines(["1234", "5678", "9\nab\n"], maxBytes: 5) == [.tooLong(number: 1), line(2, "ab")])
        #expect(lines(["ab\n1234", "5678", "9"], maxBytes: 5) == [line(1, "ab"), .tooLong(number: 2)])
    }
}
