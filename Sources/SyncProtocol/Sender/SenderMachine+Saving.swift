/// A session that outlives the process of its sender.
///
/// The shell keeps each action before it hands it in, and the standing where it says so, so that nothing leaves that a
/// resumed session would not know.
extension SenderMachine {
    /// Goes on with a session where its sender ended.
    package init(resuming saved: SavedSession, limits: Limits, now: Instant) {
        session = saved.standing.session
        self.limits = limits
        phase = .asking(deadline: now)
        backoff = Backoff(limits)
        isSaved = true
        outbox = Outbox(resuming: saved)
        guard let link = saved.standing.link else { return }
        self.link = Link(lineage: link.lineage, opened: link.opened, base: link.base)
        self.link?.settledBy = link.settledBy
        // Nobody knows how many there were; with one alone a refusal would say that nothing was applied.
        self.link?.framesOutstanding = outbox.numbered.isEmpty ? 0 : 2
    }

    /// What is to be kept of where the session stands.
    package var standing: SessionStanding {
        let link = link.map { link in
            SessionStanding.Link(
                lineage: link.lineage,
                opened: link.opened,
                base: link.base,
                settledBy: link.settledBy
            )
        }
        return SessionStanding(session: session, link: link, first: outbox.first)
    }

    /// What was settled before that standing is kept: nobody will ask for it again.
    package mutating func noted(_ standing: SessionStanding) { outbox.noted(before: standing.first) }
}
