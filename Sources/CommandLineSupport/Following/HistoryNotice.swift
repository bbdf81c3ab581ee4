internal import Statecast

extension Position {
    /// Whether its state is to be shown behind another one: within one history a later one, or what an incarnation of the
    /// primary has that came back without the last changes.
    func isNews(behind shown: Position?) -> Bool {
        guard let shown, shown.lineage == lineage else { return true }
        return revision > shown.revision || isRewound(behind: shown)
    }

    /// What to say where its state does not follow from the one that was shown before; `nil` where it does.
    func notice(behind shown: Position, from upstream: Upstream) -> String? {
        if shown.lineage != lineage {
            return
                "the primary at \(upstream.endpoint) began a new history: behind revision \(shown.revision) of lineage "
                + "\(shown.lineage) comes revision \(revision) of lineage \(lineage)"
        }
        guard isRewound(behind: shown) else { return nil }
        return
            "the primary at \(upstream.endpoint) lost changes and went back: behind revision \(shown.revision) of epoch "
            + "\(shown.epoch) comes revision \(revision) of epoch \(epoch)"
    }

    private func isRewound(behind shown: Position) -> Bool { epoch > shown.epoch && revision < shown.revision }
}
