import SwiftSyntax

/// A stored property that an initializer can give a value.
struct Field {
    /// As it is written, with its backticks if it has any.
    let name: TokenSyntax
    let type: FieldType
    let visibility: Visibility

    /// The name as the label of an argument, where the compiler objects to backticks that it does not need.
    var label: String {
        guard let bare = name.identifier?.name, bare.isWord, !["inout", "let", "var"].contains(bare) else {
            return name.text
        }
        return bare
    }

    /// Two spellings of one name are one label.
    func isLabelled(_ label: TokenSyntax) -> Bool {
        name.identifier == label.identifier
    }
}

extension String {
    /// Letters, digits and underscores, as opposed to a raw identifier, which may hold anything between its backticks.
    fileprivate var isWord: Bool {
        first?.isNumber == false && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }
}
