package import StatecastProtocol

/// An action that an earlier process submitted, and whose outcome that process did not acknowledge.
public struct ResumedAction: Sendable {
    /// The action's name; `nil` for input that could not be read as an action.
    public let name: String?
    /// The action's position in the input, if it was given.
    public let position: UInt64?
    /// The action's outcome, now or later.
    public let receipt: PendingReceipt

    /// The fault of input that could not be read as an action.
    package let fault: String?

    init(_ saved: SavedAction, on page: ReceiptPage) {
        if saved.bytes.isEmpty, case .failure(let rejection) = saved.outcome?.result {
            fault = rejection.message
        } else {
            fault = nil
        }
        name = ActionCoding.name(in: saved.bytes)
        position = saved.position
        receipt = PendingReceipt(page, saved.ticket)
    }
}

/// A session that continues.
package struct ResumedSession {
    let storage: any SessionStorage
    package let saved: SavedSession
    let actions: [ResumedAction]
    /// The receipts of the actions.
    let pages: [ReceiptPage]

    /// - Parameters:
    ///   - storage: where its changes are saved.
    ///   - saved: what is in the storage.
    package init(_ saved: SavedSession, in storage: any SessionStorage) {
        (self.saved, self.storage) = (saved, storage)
        var (actions, pages): ([ResumedAction], [ReceiptPage]) = ([], [])
        for action in saved.actions {
            let page: ReceiptPage
            if let last = pages.last, last.tickets.contains(action.ticket) {
                page = last
            } else {
                page = ReceiptPage(first: action.ticket)
                pages.append(page)
            }
            actions.append(ResumedAction(action, on: page))
            if let outcome = action.outcome { _ = page.resolve(ResolvedRun(action.ticket, outcome)) }
        }
        (self.actions, self.pages) = (actions, pages)
    }
}
