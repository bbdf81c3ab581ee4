package import StateCore

/// Decides what a primary does with bytes before any store sees them: whom they are for, or what to answer to somebody
/// who asks for what is not there.
package struct Gate: Hashable, Sendable {
    package let stores: Set<StoreName>

    package init(stores: Set<StoreName>) { self.stores = stores }

    /// What to do with something that arrived.
    package enum Passage<Content: Hashable & Sendable>: Hashable, Sendable {
        /// It is for this store.
        case store(StoreName, Content)
        /// It cannot be served. Publish the refusal behind the address; count the code.
        case answer(Refusal, behind: [UInt8])
        /// It cannot be served and there is nobody to answer; count the code.
        case drop(Rejection.Code)
    }

    /// A subscription, or its end: a topic and one zero byte.
    ///
    /// An answer goes to all whose subscription is a prefix of its topic. It is published on exactly the bytes that were
    /// subscribed to, and only if these are a text and one zero byte: with a byte added it could reach the subscribers of
    /// another topic, and with a zero byte inside, a peer would read what follows it as a frame.
    package func subscription(_ bytes: ArraySlice<UInt8>) -> Passage<Topic> {
        do throws(AddressFailure) {
            let address = try Address(parsing: bytes)
            guard stores.contains(address.store) else { return .answer(unknown(address.store), behind: Array(bytes)) }
            return .store(address.store, address.topic)
        } catch {
            guard bytes.starts(with: "sc".utf8), bytes.count <= Limits.topicBytesMax,
                bytes.firstIndex(of: 0) == bytes.indices.last
            else { return .drop(.malformed) }
            return .answer(Refusal(reason(error)), behind: Array(bytes))
        }
    }

    /// A message that was pushed.
    package func actions(_ message: [UInt8]) -> Passage<ActionsFrame> {
        guard let (head, body) = Message.split(message) else { return .drop(.malformed) }
        let frame = try? Frame(decoding: body)
        // What no correct sender pushes is not answered: the answer would reach the sender whose session it names.
        if case .actions(let actions)? = frame, !actions.isWellFormed { return .drop(.malformed) }
        do throws(AddressFailure) {
            let address = try Address(parsing: head)
            guard case .actions = address.topic, case .actions(let actions)? = frame else { return .drop(.malformed) }
            guard stores.contains(address.store) else {
                let receipts = Address(address.store, .receipts(actions.session))
                return .answer(unknown(address.store, frame: actions.identity), behind: receipts.bytes)
            }
            return .store(address.store, actions)
        } catch {
            // Whatever the version: if it names its session as this one does, its receipts are there.
            guard error == .unsupportedVersion, case .actions(let actions)? = frame, head.ends(with: "/actions") else {
                return .drop(error == .unsupportedVersion ? .unsupportedVersion : .malformed)
            }
            let receipts = head.dropLast("/actions".utf8.count + 1) + Array("/receipts/\(actions.session)".utf8) + [0]
            guard receipts.count <= Limits.topicBytesMax else { return .drop(.unsupportedVersion) }
            return .answer(Refusal(reason(error), frame: actions.identity), behind: Array(receipts))
        }
    }

    private func unknown(_ store: StoreName, frame: Refusal.PushedFrame? = nil) -> Refusal {
        let known = stores.sorted().map(\.text).joined(separator: ", ")
        return Refusal(Rejection(.unknownStore, "there is no store \"\(store)\" here, only: \(known)"), frame: frame)
    }

    private func reason(_ failure: AddressFailure) -> Rejection {
        switch failure {
        case .malformed:
            Rejection(.malformed, "a topic is sc\(Address.version)/<store>/<topic> and a zero byte")
        case .unsupportedVersion:
            Rejection(.unsupportedVersion, "this primary speaks version \(Address.version) of the protocol")
        case .unknownTopic(_, let expected): Rejection(.malformed, "expected \(expected)")
        }
    }
}

extension ActionsFrame {
    /// The session is not the primary's own, numbers count from 1, a session does not begin after what it sends, and no
    /// number comes near the end of the range.
    fileprivate var isWellFormed: Bool {
        session != .primary && base.rawValue >= 1 && base <= first && first.rawValue < 1 << 62 && !actions.isEmpty
    }
}

extension ArraySlice<UInt8> {
    /// Whether the text ends so, the closing zero byte left out.
    fileprivate func ends(with text: String) -> Bool { dropLast().suffix(text.utf8.count).elementsEqual(text.utf8) }
}
