import SwiftSyntax

/// The initializer that `copy` calls: the memberwise one, or the struct's own that can stand in for it.
struct CopyInitializer {
    /// The fields in the order in which the initializer takes them.
    let fields: [Field]

    /// Nil if the struct's own initializers have replaced the memberwise one and none of them takes every field.
    init?(for fields: [Field], in members: MemberBlockSyntax) {
        let own = members.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
        guard !own.isEmpty else {
            self.fields = fields
            return
        }
        guard let ordered = own.lazy.compactMap({ $0.ordering(fields) }).first else { return nil }
        self.fields = ordered
    }
}

extension InitializerDeclSyntax {
    /// The fields in the order of the parameters; nil unless each has one and all other parameters have defaults.
    fileprivate func ordering(_ fields: [Field]) -> [Field]? {
        guard optionalMark == nil, signature.effectSpecifiers == nil else { return nil }
        var ordered: [Field] = []
        for parameter in signature.parameterClause.parameters {
            if let field = fields.first(where: { $0.isLabelled(parameter.firstName) }) {
                ordered.append(field)
            } else if parameter.defaultValue == nil, parameter.ellipsis == nil {
                return nil
            }
        }
        return ordered.count == fields.count ? ordered : nil
    }
}
