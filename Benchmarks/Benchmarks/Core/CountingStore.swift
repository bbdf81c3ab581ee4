import StateCore

/// What both ways have in common, as far as dispatching goes.
protocol CountingStore: Sendable {
    init()
    func dispatch(_ action: any Action)
    /// Shows `tally` the count after each action, for as long as the store lives.
    func show(_ tally: Tally)
}

extension ClassicStore: CountingStore where State == Counter {
    convenience init() {
        self.init(Counter(), reduce: Counter.reduce)
    }

    func show(_ tally: Tally) {
        observe { tally.show($0.count) }
    }
}

extension Core: CountingStore where State == Counter {
    convenience init() {
        self.init(Counter(), reducer: Reducer(Counter.reduce))
    }

    func show(_ tally: Tally) {
        observe(replay: false) { tally.show($0.new.count) }.detach()
    }
}
