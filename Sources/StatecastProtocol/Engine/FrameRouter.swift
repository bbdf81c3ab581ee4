package import StatecastCore

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
            guard bytes.starts(with: "sc".utf8), bytes.count <= Limits.maxTopicBytes,
                bytes.firstIndex(of: 0) == bytes.indices.last
            else { return .drop(.malformed) }
            return .answer(Refusal(reason(error)), to: Array(bytes))
        }
    }

    /// Routes a pushed message. Answers only a frame that a correct sender could push.
    package func actions(_ message: [UInt8]) -> Route<ActionsFrame> {
        guard let (head, body) = Message.split(message) else { return .drop(.malformed) }
        let address: Address
        do throws(AddressFailure) { address = try Address(parsing: head) } catch {
            return .drop(error == .unsupportedVersion ? .unsupportedVersion : .malformed)
        }
        guard address.topic == .actions, let actions = try? ActionsFrame(decoding: body), actions.header.isWellFormed
        else { return .drop(.malformed) }
        guard stores.contains(address.store) else {
            let receipts = Address(address.store, .receipts(actions.header.session))
            return .answer(unknown(address.store, frame: actions.identity), to: receipts.bytes)
        }
        return .store(address.store, actions)
    }

    private func unknown(_ store: StoreName, frame: Refusal.PushedFrame? = nil) -> Refusal {
        let names = stores.filter { !$0.isOfPeers }.sorted().map(\.text)
        let known = names.isEmpty ? "" : ", only: " + names.joined(separator: ", ")
        return Refusal(Rejection(.unknownStore, "there is no store \"\(store)\" here\(known)"), frame: frame)
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
    /// Whether numbers count from 1, the session begins at or before the lowest number that is needed, and that is at
    /// or before the first action, and no number is near the end of the range.
    fileprivate var isWellFormed: Bool {
        base.rawValue >= 1 && base <= lowest && lowest <= first && first < Self.maxEnd && count > 0
    }

    /// No number is as high.
    static let maxEnd = ActionNumber(1 << 62)
}
