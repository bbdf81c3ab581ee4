import SwiftDiagnostics
import SwiftSyntax

/// The fields of a struct in order of declaration, and what stands in the way of copying them.
struct FieldSurvey {
    private(set) var fields: [Field] = []
    private(set) var refusals: [Diagnostic] = []

    init(of members: MemberBlockSyntax) {
        for member in members.members {
            if let property = member.decl.as(VariableDeclSyntax.self) {
                read(property)
            } else if let condition = member.decl.as(IfConfigDeclSyntax.self), condition.decidesFields {
                refuse(condition.clauses.first?.poundKeyword, because: .conditionalFields)
            }
        }
    }

    private mutating func read(_ property: VariableDeclSyntax) {
        guard property.isInstanceStorage else { return }
        if let attribute = property.attributes.first(where: \.mayWrapStorage) {
            return refuse(attribute, because: .mayBeWrapper(attribute.trimmedDescription))
        }
        for (binding, annotation) in property.bindingsWithAnnotations where !binding.isComputed {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
                refuse(binding.pattern, because: .tuplePattern)
                continue
            }
            // A constant that has its value already cannot be given another.
            if property.isConstant, binding.initializer != nil { continue }
            if let type = type(of: binding, annotation: annotation) {
                fields.append(Field(name: name.trimmed, type: type, visibility: Visibility(of: property)))
            }
        }
    }

    private mutating func type(of binding: PatternBindingSyntax, annotation: TypeSyntax?) -> FieldType? {
        if binding.hasInitAccessor {
            refuse(binding.pattern, because: .initAccessor)
            return nil
        }
        if let annotation {
            guard !annotation.mentionsSome else {
                refuse(annotation, because: .opaqueType)
                return nil
            }
            return FieldType(annotation)
        }
        if let name = binding.initializer?.value.impliedTypeName {
            return FieldType(named: name)
        }
        refusals.append(.missingType(of: binding))
        return nil
    }

    private mutating func refuse(_ node: (some SyntaxProtocol)?, because refusal: Refusal) {
        guard let node else { return }
        refusals.append(Diagnostic(node: node, message: refusal))
    }
}
