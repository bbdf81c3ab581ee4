import SwiftSyntax
import SwiftSyntaxBuilder

/// The declaration of `copy`.
///
/// A field that is less visible than the struct has no parameter and goes over as it is.
func copyFunction(
    of fields: [Field],
    visibility: Visibility,
    calling initializer: CopyInitializer
) -> DeclSyntax {
    let open = fields.filter { $0.visibility >= visibility }
    let parameters = open.map { "    \($0.name): \($0.type.parameter)" }
    let arguments = initializer.fields.map { field in
        "        \(field.label): \(field.visibility >= visibility ? field.changed : "self.\(field.name)")"
    }
    return """
        /// A copy in which the fields given here have new values and all others keep theirs.
        \(raw: visibility.prefix)func copy(
        \(raw: parameters.joined(separator: ",\n"))
        ) -> Self {
            Self(
        \(raw: arguments.joined(separator: ",\n"))
            )
        }
        """
}

extension Field {
    /// The field's value after the change that the parameter of its name asks for.
    fileprivate var changed: String {
        type.wrapped == nil ? "\(name) ?? self.\(name)" : "\(name).applied(to: self.\(name))"
    }
}
