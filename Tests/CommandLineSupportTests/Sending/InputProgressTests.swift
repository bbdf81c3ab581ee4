import ArgumentParser
import Statecast
import SyncProtocol
import Testing

@testable import CommandLineSupport

@Suite struct InputProgressTests {
    private static func line(_ number: Int, _ text: String = "x") -> InputLine {
        .line(number: number, Array(text.utf8))
    }

    private static func mark(behind lines: [InputLine]) throws -> InputMark {
        var progress = InputProgress()
        for line in lines { #expect(try progress.read(line)) }
        try progress.end()
        return progress.mark
    }

    @Test func `lines that were taken are passed over`() throws {
        let lines = [Self.line(1), .tooLong(number: 2), Self.line(3, "")]
        var progress = InputProgress(behind: try Self.mark(behind: lines))
        for line in lines { #expect(try !progress.read(line)) }
        #expect(try progress.read(Self.line(4)))
        #expect(progress.mark.position == 4)
    }

    @Test func `an input that begins with other lines is refused`() throws {
        let taken = try Self.mark(behind: [Self.line(1, "ab"), Self.line(2, "c")])
        for other in [[Self.line(1, "ab"), Self.line(2, "d")], [Self.line(1, "a"), Self.line(2, "bc")]] {
            var progress = InputProgress(behind: taken)
            _ = try progress.read(other[0])
            #expect(throws: CommandFailure.self) { try progress.read(other[1]) }
        }
    }

    @Test func `an input that ends before it is refused`() throws {
        let taken = try Self.mark(behind: [Self.line(1), Self.line(2)])
        var progress = InputProgress(behind: taken)
        _ = try progress.read(Self.line(1))
        let failure = #expect(throws: CommandFailure.self) { try progress.end() }
        #expect(failure?.exitCode.rawValue == 64)
        #expect(failure?.message.contains("the 2 lines that were taken before, the input has 1 lines") == true)
    }
}
