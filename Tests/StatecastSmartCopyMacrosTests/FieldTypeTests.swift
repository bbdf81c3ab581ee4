import SwiftSyntax
import SwiftSyntaxBuilder
import Testing

@testable import StatecastSmartCopyMacros

@Suite struct FieldTypeTests {
    @Test(arguments: [
        ("Int", "Int? = nil"),
        ("[Int]", "[Int]? = nil"),
        ("[String: Int]", "[String: Int]? = nil"),
        ("Swift.Int", "Swift.Int? = nil"),
        ("(Int, String)", "(Int, String)? = nil"),
        ("Page<Int?>", "Page<Int?>? = nil"),
        ("() -> Int?", "(() -> Int?)? = nil"),
        ("@Sendable () -> Void", "(@Sendable () -> Void)? = nil"),
        ("any Shape", "(any Shape)? = nil"),
        ("Shape & Sendable", "(Shape & Sendable)? = nil"),
        ("any Shape.Type", "(any Shape.Type)? = nil"),
    ])
    func `a type that is not optional becomes one, as a whole`(type: String, parameter: String) {
        #expect(FieldType("\(raw: type)").parameter == parameter)
    }

    @Test(arguments: [
        ("Int?", "Int"),
        ("Int!", "Int"),
        ("Optional<Int>", "Int"),
        ("Swift.Optional<Int>", "Int"),
        ("(Int?)", "Int"),
        ("((Int?))", "Int"),
        ("Int??", "Int?"),
        ("Optional<Int?>", "Int?"),
        ("(() -> Void)?", "(() -> Void)"),
        ("(any Shape)?", "(any Shape)"),
        ("[Int?]?", "[Int?]"),
    ])
    func `each spelling of an optional is a change of its wrapped type`(type: String, wrapped: String) {
        #expect(FieldType("\(raw: type)").parameter == "StatecastSmartCopy.OptionalChange<\(wrapped)> = .keep")
    }

    @Test(arguments: ["Mine.Optional<Int>", "OptionalSet<Int>", "(a: Int?, b: Int?)", "[Int?]"])
    func `a type that only resembles an optional is not optional`(type: String) {
        #expect(FieldType("\(raw: type)").wrapped == nil)
    }

    @Test(arguments: [
        ("1", "Int"),
        ("-1", "Int"),
        ("1.5", "Double"),
        ("-1.5", "Double"),
        ("true", "Bool"),
        (#""a""#, "String"),
        (#""a\(1)""#, "String"),
    ])
    func `a plain literal implies its type`(literal: String, type: String) {
        let expression: ExprSyntax = "\(raw: literal)"
        #expect(expression.impliedTypeName == type)
    }

    @Test(arguments: ["nil", "-x", "-true", "!true", "1 + 1", "f()", "[1]", "[Int]()", ".zero", "1 as Double"])
    func `any other value implies none`(value: String) {
        let expression: ExprSyntax = "\(raw: value)"
        #expect(expression.impliedTypeName == nil)
    }
}
