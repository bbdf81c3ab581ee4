/// What a live board shows of a fleet at one moment.
public struct BoardProps: Equatable, Sendable {
    /// The machines, highest load first, then by name.
    public var rows: [Row]
    /// The machines and what came in, counted.
    public var totals: Totals
    /// The latest notes, newest last.
    public var notes: [Note]

    /// One machine.
    public struct Row: Equatable, Sendable {
        /// Its name.
        public var name: String
        /// What it last said about itself.
        public var sample: Sample
        /// The share of its processor time in use, 0 to 1; nil if not known yet.
        public var busy: Double?
        /// Whether it can be believed to be still like that.
        public var freshness: Freshness
    }

    /// Whether a machine was heard of lately.
    public enum Freshness: Equatable, Sendable {
        /// It was.
        case fresh
        /// It was not, for so long; in whole seconds, so that the props differ once a second at most.
        case silent(for: Duration)
        /// It was taken out of service.
        case retired
    }

    /// Counts for one line.
    public struct Totals: Equatable, Sendable {
        /// Machines that were heard of lately.
        public var fresh: Int
        /// Machines that fell silent.
        public var silent: Int
        /// Machines that were taken out of service.
        public var retired: Int
        /// Samples taken in, ever.
        public var samples: Int
        /// Actions ignored, ever.
        public var ignored: Int
    }
}
