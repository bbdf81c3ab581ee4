import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// What the compiler starts to expand `@SmartCopy`.
@main
struct SmartCopyPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [SmartCopyMacro.self]
}
