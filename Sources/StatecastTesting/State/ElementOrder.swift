import StatecastCoding

extension StateVerification {
    /// This many elements have the same order twice only in very rare cases.
    private static var maxElements: Int { 16 }

    /// Checks that the encoding of a set has one order.
    ///
    /// The order of a `Set` depends on its history, its size and the process. The check lengthens and reverses each
    /// array of the encoding; if the decoded states are `==`, their encodings must be the same.
    mutating func checkOrders(of sample: StateSample<State>, limit: Int) {
        var arrays: [[TreeStep]] = []
        sample.tree.collectArrays([], &arrays)
        let limit = min(arrays.count, limit)
        for position in 0..<limit {
            let steps = arrays[position * arrays.count / limit]
            // A dictionary with keys that are neither texts nor integers writes keys and values alternately.
            for size in [1, 2] { checkOrder(of: sample, at: steps, groupsOf: size) }
        }
    }

    private mutating func checkOrder(of sample: StateSample<State>, at steps: [TreeStep], groupsOf size: Int) {
        guard case .array(let elements)? = sample.tree[steps[...]], elements.count.isMultiple(of: size) else { return }
        let short = stride(from: 0, to: elements.count, by: size).map { Array(elements[$0..<($0 + size)]) }
        for groups in [short.grown(to: Self.maxElements), short] where groups.count > 1 {
            func read(_ groups: [[Value]]) -> (state: State, order: [Value])? {
                guard let tree = sample.tree.with(.array(groups.flatMap { $0 }), at: steps[...]),
                    let state = try? decoder.decode(State.self, from: tree),
                    case .array(let order)? = try? encoder.value(of: state)[steps[...]]
                else { return nil }
                return (state, order)
            }
            guard let there = read(groups), let back = read(groups.reversed()) else { continue }
            guard there.state == back.state else { return }
            // A smaller set has another order.
            let part = read(Array(groups.prefix(groups.count / 2)))?.order ?? []
            let shared = there.order.filter(Set(part).contains)
            for (left, right) in [(there.order, back.order), (shared, part)] where left != right {
                let common = zip(left, right).prefix { $0 == $1 }.count
                func next(_ order: [Value]) -> Value { .array(Array(order.dropFirst(common).prefix(2))) }
                let difference = TreeDifference(path: steps.path, left: next(left), right: next(right))
                addUnstable(difference, sample.name)
                return
            }
        }
    }
}

extension [[Value]] {
    /// Appends groups similar to the last one, all of them different.
    fileprivate func grown(to count: Int) -> [[Value]] {
        var groups = self
        var known = Set(groups)
        while groups.count < count, var next = groups.last, let other = next.first?.others.first {
            next[0] = other
            guard known.insert(next).inserted else { break }
            groups.append(next)
        }
        return groups
    }
}

extension Value {
    fileprivate func collectArrays(_ steps: [TreeStep], _ arrays: inout [[TreeStep]]) {
        switch self {
        case .array(let elements):
            if !elements.isEmpty { arrays.append(steps) }
            for (index, element) in elements.enumerated() {
                element.collectArrays(steps + [.element(index)], &arrays)
            }
        case .map(let map): for (key, part) in map { part.collectArrays(steps + [.key(key)], &arrays) }
        case .tagged(_, let content): content.collectArrays(steps + [.content], &arrays)
        default: break
        }
    }
}
