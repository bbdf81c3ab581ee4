extension Patch {
    /// How a patch changes the value at a path.
    public enum ChangeKind: String, Hashable, Sendable {
        /// The value was replaced or inserted, or elements of the array there were.
        case set
        /// A part of the value changed.
        case child
        /// The value was removed.
        case removed
        /// A value that contains it was replaced or removed, or its index in an array may have shifted.
        case replacedAbove = "replaced-above"
    }

    /// The change of the value at a path.
    package struct Change: Hashable, Sendable {
        package let kind: ChangeKind
        /// The new value. `nil` if nothing is there after the patch, or if the patch does not hold all of it.
        package let value: Value?
    }

    /// How the patch changes the value at a path; `nil` if it leaves the value as it is.
    ///
    /// Reads the patch in place: passes once over the maps on the way, and decodes only the new value.
    ///
    /// The patch does not show the state before it, so some changes may leave the value equal:
    /// - a replacement above the path, if it holds an equal value;
    /// - a splice of an array on the way, which may shift the elements from its offset on, except for those after a
    ///   splice that keeps the number of elements. The value is known if the splice inserts the element of the path.
    ///
    /// The reverse never happens: without a change, the value stays.
    package func change(at path: ValuePath) -> Change? {
        bytes.withUnsafeBufferPointer { bytes in
            let items = CheckedItems(bytes: bytes)
            return items.change(byPatch: 0, at: path.steps[...]).map { change in
                Change(kind: change.kind, value: change.value.map { items.value($0..<items.end(of: $0)) })
            }
        }
    }

    /// Calls `body` with each place that the patch sets or removes, in the order in which it is applied, until `body`
    /// returns `false`. A splice sets its array.
    ///
    /// - Parameter body: `hasParts`: whether places below have another value, too.
    /// - Returns: `false` if `body` did.
    @discardableResult
    package func forEachChange(_ body: (_ path: [Value], _ kind: ChangeKind, _ hasParts: Bool) -> Bool) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            var path: [Value] = []
            return CheckedItems(bytes: bytes).forEachChange(byPatch: 0, at: &path, body)
        }
    }
}

/// A change whose new value is at an offset.
private struct FoundChange {
    let kind: Patch.ChangeKind
    var value: Int?

    /// This change after an earlier one.
    func following(_ earlier: FoundChange?) -> FoundChange {
        guard kind == .child, let earlier, earlier.kind != .child else { return self }
        // The earlier patch holds the value, and this one changes a part of it.
        return FoundChange(kind: earlier.kind == .replacedAbove ? .replacedAbove : .set)
    }
}

extension CheckedItems {
    /// The change of a path by the patch at an offset.
    fileprivate func change(byPatch start: Int, at path: ArraySlice<ValuePath.Step>) -> FoundChange? {
        let head = head(at: start)
        switch (head.major, head.argument) {
        case (4, 1): return replacement(by: head.next, at: path)
        case (4, 2):
            let first = change(byPatch: head.next, at: path)
            return change(byPatch: end(of: head.next), at: path)?.following(first) ?? first
        case (4, _): return change(bySplice: head.next, at: path)
        default:
            guard let step = path.first else { return head.argument == 0 ? nil : FoundChange(kind: .child) }
            guard let entry = entry(step, of: head) else { return nil }
            if bytes[entry] == Self.removal {
                return FoundChange(kind: path.count == 1 ? .removed : .replacedAbove)
            }
            return change(byPatch: entry, at: path.dropFirst())
        }
    }

    /// Takes the place of a patch.
    private static var removal: UInt8 { 0xF6 }

    /// The change of a path in a place whose new value is at an offset.
    private func replacement(by item: Int, at path: ArraySlice<ValuePath.Step>) -> FoundChange {
        path.isEmpty
            ? FoundChange(kind: .set, value: item) : FoundChange(kind: .replacedAbove, value: part(of: item, at: path))
    }

    /// - Parameter start: the offset of the splice's numbers.
    private func change(bySplice start: Int, at path: ArraySlice<ValuePath.Step>) -> FoundChange? {
        guard let step = path.first else { return FoundChange(kind: .set) }
        let offset = head(at: start)
        let removed = head(at: offset.next)
        let inserted = head(at: removed.next)
        guard let index = step.index, index >= offset.argument else { return nil }
        let distance = UInt64(index) - offset.argument
        if distance < inserted.argument {
            return replacement(by: element(distance, of: inserted), at: path.dropFirst())
        }
        return removed.argument == inserted.argument ? nil : FoundChange(kind: .replacedAbove)
    }

    /// The offset of the part of an item at a path; `nil` if it has nothing there.
    private func part(of item: Int, at path: ArraySlice<ValuePath.Step>) -> Int? {
        var item = item
        for step in path {
            var head = head(at: item)
            while head.major == 6 { head = self.head(at: head.next) }
            switch head.major {
            case 4:
                guard let index = step.index, index < head.argument else { return nil }
                item = element(UInt64(index), of: head)
            case 5:
                guard let entry = entry(step, of: head) else { return nil }
                item = entry
            default: return nil
            }
        }
        return item
    }

    /// The offset of an element of an array, which has it.
    private func element(_ index: UInt64, of array: CBORHead) -> Int {
        var offset = array.next
        for _ in 0..<index { offset = end(of: offset) }
        return offset
    }

    /// The offset of the value of a map's entry; `nil` if the map has none of that name.
    private func entry(_ step: ValuePath.Step, of map: CBORHead) -> Int? {
        var (offset, best, found) = (map.next, step.keys.count, nil as Int?)
        for _ in 0..<map.argument {
            let value = end(of: offset)
            if let rank = step.keys[..<best].firstIndex(where: { isEqual($0, to: offset..<value) }) {
                if rank == 0 { return value }
                (best, found) = (rank, value)
            }
            offset = end(of: value)
        }
        return found
    }

    private func isEqual(_ key: [UInt8], to item: Range<Int>) -> Bool {
        key.count == item.count && key[0] == bytes[item.lowerBound] && self[item].elementsEqual(key)
    }

    /// - Returns: `false` if `body` did.
    fileprivate func forEachChange(
        byPatch start: Int,
        at path: inout [Value],
        _ body: ([Value], Patch.ChangeKind, Bool) -> Bool
    ) -> Bool {
        let head = head(at: start)
        switch (head.major, head.argument) {
        case (4, 2):
            return forEachChange(byPatch: head.next, at: &path, body)
                && forEachChange(byPatch: end(of: head.next), at: &path, body)
        case (4, let count):
            // A splice, or a value in an array of one.
            return body(path, .set, count != 1 || (4...6).contains(self.head(at: head.next).major))
        default:
            var offset = head.next
            for _ in 0..<head.argument {
                let change = end(of: offset)
                path.append(value(offset..<change))
                defer { path.removeLast() }
                let isContinued =
                    bytes[change] == Self.removal
                    ? body(path, .removed, false) : forEachChange(byPatch: change, at: &path, body)
                guard isContinued else { return false }
                offset = end(of: change)
            }
            return true
        }
    }
}
