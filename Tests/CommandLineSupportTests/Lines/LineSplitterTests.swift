import CommandLineSupport
import Testing

@Suite struct LineSplitterTests {
    private func lines(_ chunks: [String], bytesMax: Int = 100) -> [InputLine] {
        var splitter = LineSplitter(bytesMax: bytesMax)
        var lines = chunks.flatMap { splitter.take(Array($0.utf8)) }
        if let last = splitter.end() { lines.append(last) }
        return lines
    }

    private func line(_ number: Int, _ text: String) -> InputLine { .line(number: number, Array(text.utf8)) }

    @Test func `lines are numbered from 1, and the last one needs no end`() {
        #expect(lines(["one\ntwo\nthree"]) == [line(1, "one"), line(2, "two"), line(3, "three")])
        #expect(lines(["one\ntwo\n"]) == [line(1, "one"), line(2, "two")])
    }

    @Test func `no input has no lines`() {
        #expect(lines([]) == [])
        #expect(lines([""]) == [])
    }

    @Test func `blank lines are lines`() {
        #expect(lines(["\n\n a\n"]) == [line(1, ""), line(2, ""), line(3, " a")])
    }

    @Test func `a carriage return belongs to its line`() {
        #expect(lines(["a\r\nb"]) == [line(1, "a\r"), line(2, "b")])
    }

    @Test func `where a stream is cut into chunks makes no difference`() {
        let text = "first\n\nthe third, which is too long\nfourth ü\nlast"
        let whole = lines([text], bytesMax: 10)
        let bytes = Array(text.utf8)
        for cut in bytes.indices {
            var splitter = LineSplitter(bytesMax: 10)
            var cutLines = splitter.take(Array(bytes[..<cut])) + splitter.take(Array(bytes[cut...]))
            if let last = splitter.end() { cutLines.append(last) }
            #expect(cutLines == whole, "cut at \(cut)")
        }
        var splitter = LineSplitter(bytesMax: 10)
        #expect(bytes.flatMap { splitter.take([$0]) } + [splitter.end()].compactMap(\.self) == whole)
    }

    @Test func `a line of the most bytes is read, one of a byte more is skipped, and the next is read`() {
        #expect(lines(["12345\nab\n"], bytesMax: 5) == [line(1, "12345"), line(2, "ab")])
        #expect(lines(["123456\nab\n"], bytesMax: 5) == [.tooLong(number: 1), line(2, "ab")])
    }

    @Test func `a line that is too long is one line, however many chunks it has, and also as the last one`() {
        #expect(lines(["1234", "5678", "9\nab\n"], bytesMax: 5) == [.tooLong(number: 1), line(2, "ab")])
        #expect(lines(["ab\n1234", "5678", "9"], bytesMax: 5) == [line(1, "ab"), .tooLong(number: 2)])
    }
}
