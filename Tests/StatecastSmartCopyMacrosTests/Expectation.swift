import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import StatecastSmartCopyMacros

/// Records an issue unless the source expands to exactly this text, with exactly these diagnostics.
func expect(
    _ source: String,
    expandsTo expanded: String,
    diagnostics: [DiagnosticSpec] = [],
    applying fixIts: [String]? = nil,
    fixedTo fixed: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source,
        expandedSource: expanded,
        diagnostics: diagnostics,
        macroSpecs: ["SmartCopy": MacroSpec(type: SmartCopyMacro.self)],
        applyFixIts: fixIts,
        fixedSource: fixed,
        failureHandler: { failure in
            Issue.record("\(failure.message)", sourceLocation: sourceLocation)
        }
    )
}

/// Records an issue unless the source has this one error, and the macro generates nothing.
func expectError(
    of source: String,
    _ message: String,
    line: Int,
    column: Int,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    expect(
        source,
        expandsTo: source.replacing("@SmartCopy\n", with: ""),
        diagnostics: [DiagnosticSpec(message: message, line: line, column: column)],
        sourceLocation: sourceLocation
    )
}
