/// A run of operations over a draft.
struct JSONPatchRun {
    private let base: Value
    private let draft: JSONDraft
    private let limits: CodingLimits
    private var copyAllowance = Self.copiedMin
    private var hasWholeAllowance = false

    /// So many values, with all parts and keys, may be copied in any case, and beyond that as many as the base holds;
    /// each 16 bytes of a text count as one more. Without a bound, each copy of the whole into a part of it would double
    /// it.
    static let copiedMin = 65_536

    init(base: Value, limits: CodingLimits) {
        self.base = base
        self.limits = limits
        draft = JSONDraft(original: base, base)
    }

    var patch: Patch { draft.change ?? .none }

    /// - Throws: `patchMismatch`, `tooDeep`, `tooLarge`.
    mutating func perform(_ operation: JSONPatchOperation) throws(CodingFailure) {
        let path = operation.path
        switch operation.action {
        case .add(let value): try add(value, at: path)
        case .remove: try remove(path)
        case .replace(let value):
            try requireDepth(of: value, at: path)
            try place(path.tokens[...]).replace(with: value)
        case .move(let source):
            guard !source.contains(path) else {
                throw CodingFailure(.patchMismatch, "expected a target outside of what is moved")
            }
            let value = try place(source.tokens[...]).value
            guard source != path else { return }
            try remove(source)
            try add(value, at: path)
        case .copy(let source):
            let value = try place(source.tokens[...]).value
            try payForCopy(of: value)
            try add(value, at: path)
        case .test(let expected):
            let value = try place(path.tokens[...]).value
            guard value.isSameInJSON(as: expected) else {
                throw CodingFailure(.patchMismatch, "expected \(expected.summary), got \(value.summary)")
            }
        }
    }

    private func place(_ tokens: ArraySlice<String>) throws(CodingFailure) -> JSONDraft {
        var place = draft
        for token in tokens { place = try place.part(token) }
        return place
    }

    private func add(_ value: Value, at path: JSONPointer) throws(CodingFailure) {
        try requireDepth(of: value, at: path)
        guard let last = path.tokens.last else { return draft.replace(with: value) }
        try place(path.tokens.dropLast()).add(value, last)
    }

    private func remove(_ path: JSONPointer) throws(CodingFailure) {
        guard let last = path.tokens.last else {
            throw CodingFailure(.patchMismatch, "expected a part to remove, got the whole document")
        }
        try place(path.tokens.dropLast()).remove(last)
    }

    private func requireDepth(of value: Value, at path: JSONPointer) throws(CodingFailure) {
        guard value.fits(levels: limits.depthMax - path.tokens.count) else {
            throw CodingFailure(.tooDeep, "expected at most \(limits.depthMax) levels, got more")
        }
    }

    private mutating func payForCopy(of value: Value) throws(CodingFailure) {
        if value.spend(&copyAllowance) { return }
        if !hasWholeAllowance {
            hasWholeAllowance = true
            copyAllowance = Int.max
            _ = base.spend(&copyAllowance)
            copyAllowance = Int.max - copyAllowance
            if value.spend(&copyAllowance) { return }
        }
        throw CodingFailure(.tooLarge, "expected copies of no more than the document itself, got more")
    }
}

extension Value {
    /// Whether no more arrays, maps and tags are open at once.
    fileprivate func fits(levels: Int) -> Bool {
        guard levels >= 0 else { return false }
        return switch self {
        case .array(let elements): levels > 0 && elements.allSatisfy { $0.fits(levels: levels - 1) }
        case .map(let map):
            levels > 0 && map.allSatisfy { $0.key.fits(levels: levels - 1) && $0.value.fits(levels: levels - 1) }
        case .tagged(_, let content): levels > 0 && content.fits(levels: levels - 1)
        default: true
        }
    }

    /// Takes one for this value, and more for what it holds.
    ///
    /// - Returns: `false` if that is more than is left.
    fileprivate func spend(_ allowance: inout Int) -> Bool {
        let own =
            switch self {
            case .text(let text): 1 + text.utf8.count / 16
            case .bytes(let bytes): 1 + bytes.count / 16
            default: 1
            }
        guard allowance >= own else { return false }
        allowance -= own
        switch self {
        case .array(let elements):
            for element in elements { guard element.spend(&allowance) else { return false } }
        case .map(let map):
            for (key, element) in map {
                guard key.spend(&allowance), element.spend(&allowance) else { return false }
            }
        case .tagged(_, let content): return content.spend(&allowance)
        default: break
        }
        return true
    }
}
