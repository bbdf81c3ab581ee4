package import StateCore

/// Routes subscriptions and pushed messages to the stores of a primary, and decides which of the others get a refusal.
package struct FrameRouter: Hashable, Sendable {
    package let stores: Set<StoreName>

    package init(stores: Set<StoreName>) { self.stores = stores }

    /// The destination of a subscription or message.
    package enum Route<Content: Hashable & Sendable>: Hashable, Sendable {
        /// Deliver it to this store.
        case store(StoreName, Content)
        /// Refuse it: publish the refusal to the encoded address, and count the code.
        case answer(Refusal, to: [UInt8])
        /// Drop it, because the sender cannot be answered, and count the code.
        case drop(Rejection.Code)
    }

    /// Routes a subscription or an unsubscription: a topic and one zero byte.
    ///
    /// libzmq delivers an answer to all subscribers whose subscription is a prefix of its topic. The primary therefore
    /// publishes a refusal on exactly the subscribed bytes, and only if they are a text and one zero byte: with
    /// another byte the refusal could reach the subscribers of another topic, and after a zero byte inside, a peer
    /// would read the rest as a frame.
    package func subscription(_ bytes: ArraySlice<UInt8>) -> Route<Topic> {
        do throws(AddressFailure) {
            let address = try Address(parsing: bytes)
            guard stores.contains(address.store) else { return .answer(unknown(address.store), to: Array(bytes)) }
            return .store(address.store, address.topic)
        } catch {
            guard bytes.starts(with: "sc".utf8), bytes.count <= Limits.topicBytesMax,
                bytes.firstIndex(of: 0) == bytes.indices.last
            else { return .drop(.malformed) }
            return .answer(Refusal(reason(error)), to: Array(bytes))
        }
    }

    /// Routes a pushed message.
    package func actions(_ message: [UInt8]) -> Route<ActionsFrame> {
        guard let (head, body) = Message.split(message) else { return .drop(.malformed) }
        let frame = try? Frame(decoding: body)
        // Do not answer what no correct sender pushes: the answer would reach the sender whose session it names.
        if case .actions(let actions)? = frame, !actions.header.isWellFormed { return .drop(.malformed) }
        do throws(AddressFailure) {
            let address = try Address(parsing: head)
            guard case .actions = address.topic, case .actions(let actions)? = frame else { return .drop(.malformed) }
            guard stores.contains(address.store) else {
                let receipts = Address(address.store, .receipts(actions.header.session))
                return .answer(unknown(address.store, frame: actions.identity), to: receipts.bytes)
            }
            return .store(address.store, actions)
        } catch {
            // Frames of other versions that name their session in the same way have their receipts on this topic.
            guard error == .unsupportedVersion, case .actions(let actions)? = frame, head.ends(with: "/actions") else {
                return .drop(error == .unsupportedVersion ? .unsupportedVersion : .malformed)
            }
            let session = actions.header.session
            let receipts = head.dropLast("/actions".utf8.count + 1) + Array("/receipts/\(session)".utf8) + [0]
            guard receipts.count <= Limits.topicBytesMax else { return .drop(.unsupportedVersion) }
            return .answer(Refusal(reason(error), frame: actions.identity), to: Array(receipts))
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

extension ActionsHeader {
    /// Whether the session is a sender's, numbers count from 1, the session begins at or before the lowest number that
    /// is needed, and that is at or before the first action, and no number is near the end of the range.
    fileprivate var isWellFormed: Bool {
        session != .primary && base.rawValue >= 1 && base <= lowest && lowest <= first && first < Self.endMax
            && count > 0
    }

    /// No number is as high.
    static let endMax = ActionNumber(1 << 62)
}

extension ArraySlice<UInt8> {
    /// Whether the bytes without the closing zero byte end with the text.
    fileprivate func ends(with text: String) -> Bool { dropLast().suffix(text.utf8.count).elementsEqual(text.utf8) }
}
