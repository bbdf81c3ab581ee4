import Testing

@testable import StateCoding

@Suite struct `The cases of an enum without payloads` {
    @Test func `are found in its layout, in their order`() throws {
        #expect(cases(of: Season.self) == [.spring, .summer, .autumn, .winter])
        #expect(cases(of: Pairwise.self) == [.left, .right])
        let many = try #require(PlainCases(of: Many.self))
        #expect((0..<many.count).map { many[$0] } == Many.allCases)
    }

    @Test func `are not taken from anything else`() {
        #expect(PlainCases(of: UInt8.self) == nil)
        #expect(PlainCases(of: Bool?.self) == nil)
        #expect(PlainCases(of: Loaded.self) == nil)
        #expect(PlainCases(of: String.self) == nil)
        #expect(PlainCases(of: Int.self) == nil)
        #expect(PlainCases(of: Flags.self) == nil)
        #expect(PlainCases(of: Flagged.self) == nil)
        #expect(PlainCases(of: Never.self) == nil)
        #expect(PlainCases(of: Lonely.self) == nil)
    }

    private func cases<T>(of type: T.Type) -> [T] {
        guard let cases = PlainCases(of: type) else { return [] }
        return (0..<cases.count).map { cases[$0] }
    }
}

private enum Season: CodingKey { case spring, summer, autumn, winter }
private enum Lonely { case one }
private enum Pairwise: String { case left, right }
private enum Loaded { case plain, loaded(Bool), other(Bool) }
private struct Flags: OptionSet { var rawValue: UInt8 }
private struct Flagged { var flag: Bool }

private enum Many: Int, CaseIterable {
    case a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9
}
