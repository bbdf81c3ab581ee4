import SwiftDiagnostics

/// Why `@SmartCopy` does not expand, and what to do about it.
enum Refusal: DiagnosticMessage {
    case notAStruct(String)
    case noFields
    case noVisibleFields(Visibility)
    case missingInitializer(String)
    case mayBeWrapper(String)
    case tuplePattern
    case missingType(String)
    case opaqueType
    case initAccessor
    case conditionalFields

    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID { MessageID(domain: "SmartCopy", id: id) }

    var message: String {
        switch self {
        case .notAStruct(let noun):
            "@SmartCopy needs a struct, and this is \(noun): only a struct has a memberwise initializer"
        case .noFields:
            "@SmartCopy found no stored property that an initializer can set: there is nothing to copy with a change"
        case .noVisibleFields(let visibility):
            """
            @SmartCopy found no stored property as visible as the struct: copy() would be \(visibility) and have no \
            parameters; make the properties \(visibility) that it shall change
            """
        case .missingInitializer(let needed):
            """
            @SmartCopy needs '\(needed)': the initializers in this struct replace the memberwise one; add it, or move \
            them to an extension
            """
        case .mayBeWrapper(let attribute):
            """
            @SmartCopy cannot copy a property with '\(attribute)', which may be a property wrapper: a copy would build \
            the wrapper anew and lose what it knows
            """
        case .tuplePattern:
            "@SmartCopy cannot copy a tuple pattern: declare each property by itself"
        case .missingType(let name):
            "@SmartCopy cannot tell the type of '\(name)' from its value: write the type"
        case .opaqueType:
            "@SmartCopy cannot copy a property of a 'some' type, since no parameter can have the same one: name the type"
        case .initAccessor:
            "@SmartCopy cannot copy a property with an init accessor, which stands in for other properties"
        case .conditionalFields:
            """
            @SmartCopy cannot tell which branch of '#if' is compiled: move the stored properties and initializers out of \
            it
            """
        }
    }

    private var id: String {
        switch self {
        case .notAStruct: "not-a-struct"
        case .noFields: "no-fields"
        case .noVisibleFields: "no-visible-fields"
        case .missingInitializer: "missing-initializer"
        case .mayBeWrapper: "may-be-wrapper"
        case .tuplePattern: "tuple-pattern"
        case .missingType: "missing-type"
        case .opaqueType: "opaque-type"
        case .initAccessor: "init-accessor"
        case .conditionalFields: "conditional-fields"
        }
    }
}
