import Statecast
import StatecastProtocol
import StatecastThreading

/// The open streams, counted by address.
final class StreamTable: Sendable {
    private struct Stream {
        let store: ObjectIdentifier
        let address: String
        var bytes = 0
        var position: Position?
    }

    private let storage = Locked((next: 0, streams: [Int: Stream]()))

    var count: Int { storage.withLock { $0.streams.count } }

    /// Counts a stream until its last reference is gone: the server may never begin to write a stream whose client has
    /// left, so its end is not enough.
    final class Place: Sendable {
        private let table: StreamTable
        private let id: Int

        fileprivate init(_ id: Int, in table: StreamTable) { (self.id, self.table) = (id, table) }

        deinit { table.storage.withLock { $0.streams[id] = nil } }

        /// The client has taken bytes.
        func sent(_ bytes: Int) { table.storage.withLock { $0.streams[id]?.bytes += bytes } }

        /// The client has the state at a position.
        func reached(_ position: Position) { table.storage.withLock { $0.streams[id]?.position = position } }
    }

    /// - Throws: ``GatewayFailure`` with code `busy`.
    func open(at address: String, of store: ServedStore) throws -> Place {
        let id = try storage.withLock { storage in
            guard storage.streams.count < GatewayLimits.maxStreams,
                storage.streams.values.count(where: { $0.address == address }) < GatewayLimits.maxStreamsPerAddress
            else {
                throw GatewayFailure(
                    .busy,
                    "there are \(storage.streams.count) streams; at most \(GatewayLimits.maxStreams) are open, and "
                        + "\(GatewayLimits.maxStreamsPerAddress) of one address",
                    retryAfter: 5
                )
            }
            storage.next += 1
            storage.streams[storage.next] = Stream(store: ObjectIdentifier(store), address: address)
            return storage.next
        }
        return Place(id, in: self)
    }

    /// Writes the clients of a store, by address.
    func write(of store: ServedStore, to writer: inout JSONWriter) {
        let own = storage.withLock { $0.streams.values.filter { $0.store == ObjectIdentifier(store) } }
        let newest = store.feed.now.snapshot?.revision
        let clients = Dictionary(grouping: own, by: \.address).sorted { $0.key < $1.key }
        writer.array("clients") { writer in
            for (address, streams) in clients {
                let lag = streams.compactMap { stream in
                    stream.position.flatMap { position in newest?.distance(beyond: position.revision) }
                }.max()
                writer.object { writer in
                    writer.member("address", address)
                    writer.member("streams", streams.count)
                    writer.member("lag", lag)
                    writer.member("bytes", streams.reduce(0) { $0 + $1.bytes })
                }
            }
        }
    }
}
