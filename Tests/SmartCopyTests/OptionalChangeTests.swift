import SmartCopy
import Testing

@Suite struct OptionalChangeTests {
    @Test func `keep leaves what there is and set replaces it`() {
        #expect(OptionalChange<Int>.keep.applied(to: 1) == 1)
        #expect(OptionalChange<Int>.keep.applied(to: nil) == nil)
        #expect(OptionalChange.set(2).applied(to: 1) == 2)
        #expect(OptionalChange<Int>.set(nil).applied(to: 1) == nil)
    }

    @Test func `every literal is a set`() {
        #expect((nil as OptionalChange<Int>) == .set(nil))
        #expect((1 as OptionalChange<Int>) == .set(1))
        #expect((1 as OptionalChange<Double>) == .set(1))
        #expect((1.5 as OptionalChange<Double>) == .set(1.5))
        #expect((false as OptionalChange<Bool>) == .set(false))
        #expect(("a" as OptionalChange<String>) == .set("a"))
        #expect(("a" as OptionalChange<Character>) == .set("a"))
        #expect(("a" as OptionalChange<Unicode.Scalar>) == .set("a"))
        #expect(("a\(1)" as OptionalChange<String>) == .set("a1"))
        #expect(("a" as OptionalChange<StaticName>) == .set(StaticName(stringLiteral: "a")))
        #expect(([1, 2] as OptionalChange<[Int]>) == .set([1, 2]))
        #expect(([] as OptionalChange<[Int]>) == .set([]))
    }
}

/// A type of a user's own that a string literal makes.
private struct StaticName: ExpressibleByStringLiteral, Equatable {
    let name: String

    init(stringLiteral name: String) {
        self.name = name
    }
}
