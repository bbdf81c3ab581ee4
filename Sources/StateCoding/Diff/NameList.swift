/// The names of fields in their order, and where each is. The few that a struct has are looked through; many, as a type
/// writes that hands on a dictionary, are looked up.
struct NameList {
    private static let fewMax = 16

    private(set) var names: [String] = []
    /// A bit for each name: only names that share one are looked for.
    private var bits: UInt64 = 0
    /// Where each name is, once they are many.
    private var positions: [String: Int] = [:]

    mutating func reserveCapacity(_ count: Int) { names.reserveCapacity(count) }

    /// - Returns: whether the name is new.
    mutating func append(_ name: String) -> Bool {
        defer { names.append(name) }
        guard names.count < Self.fewMax else { return appendToMany(name) }
        let bit: UInt64 = 1 << UInt64((name.utf8.count &* 31 &+ Int(name.utf8.first ?? 0) &* 7) & 63)
        defer { bits |= bit }
        return bits & bit == 0 || index(of: name) == nil
    }

    private mutating func appendToMany(_ name: String) -> Bool {
        if positions.isEmpty { positions = Dictionary(zip(names, names.indices)) { first, _ in first } }
        guard positions[name] == nil else { return false }
        positions[name] = names.count
        return true
    }

    /// Where the first of a name is. Two values of one type mostly have their fields at the same positions.
    func index(of name: String, near position: Int = 0) -> Int? {
        if position < names.count, names[position] == name { return position }
        return positions.isEmpty ? names.firstIndex(of: name) : positions[name]
    }
}
