import StatecastJournal

/// What the journal of a store holds, for the rules.
protocol JournalContent: AnyObject {
    var durability: Durability { get }
    /// Whether several nodes share it.
    var hasNodes: Bool { get }
    /// What the next incarnation finds.
    var written: JournalImage { get }
    /// What is left of it after a failure that the durability covers.
    var synced: JournalImage { get }
}
