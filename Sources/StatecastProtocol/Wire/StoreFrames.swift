import StatecastCoding
package import StatecastCore

/// A published change: a patch from one revision to another.
package struct Update: Hashable, Sendable {
    package let lineage: Lineage
    package internal(set) var epoch: Epoch
    package let from: Revision
    package let to: Revision
    /// The encoded patch.
    package let patch: [UInt8]

    package init(lineage: Lineage, epoch: Epoch, from: Revision, to: Revision, patch: [UInt8]) {
        self.lineage = lineage
        self.epoch = epoch
        self.from = from
        self.to = to
        self.patch = patch
    }

    func write(to writer: inout CBORWriter) {
        writer.begin(.update)
        writer.write(lineage)
        writer.write(epoch)
        writer.write(from)
        writer.write(to)
        writer.encoded(patch)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            epoch: try reader.quantity(),
            from: try reader.quantity(),
            to: try reader.quantity(),
            patch: try reader.encodedItem()
        )
    }
}

/// The primary's periodic heartbeat: the head, the digest of its state, and the wall clock.
package struct Heartbeat: Hashable, Sendable {
    package let lineage: Lineage
    package let epoch: Epoch
    package let head: Revision
    package let digest: UInt64
    package let time: Timestamp

    package init(lineage: Lineage, epoch: Epoch, head: Revision, digest: UInt64, time: Timestamp) {
        self.lineage = lineage
        self.epoch = epoch
        self.head = head
        self.digest = digest
        self.time = time
    }

    func write(to writer: inout CBORWriter) {
        writer.begin(.heartbeat)
        writer.write(lineage)
        writer.write(epoch)
        writer.write(head)
        writer.unsigned(digest)
        writer.write(time)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            epoch: try reader.quantity(),
            head: try reader.quantity(),
            digest: try reader.unsigned(),
            time: try reader.timestamp()
        )
    }
}

/// The first answer to a join. Without an offer the joiner continues from its own position; with an offer it starts
/// from that snapshot. Updates up to the head follow on the same topic, later ones on the feed.
package struct Welcome: Hashable, Sendable {
    package let lineage: Lineage
    package let epoch: Epoch
    package let head: Revision
    package let time: Timestamp
    /// The declared version of the state. Readers do not decide by it.
    package let stateVersion: UInt64
    package let heartbeatInterval: Duration
    package let offer: Offer?

    package init(
        lineage: Lineage,
        epoch: Epoch,
        head: Revision,
        time: Timestamp,
        stateVersion: UInt64,
        heartbeatInterval: Duration,
        offer: Offer?
    ) {
        self.lineage = lineage
        self.epoch = epoch
        self.head = head
        self.time = time
        self.stateVersion = stateVersion
        self.heartbeatInterval = heartbeatInterval
        self.offer = offer
    }

    /// A snapshot to pull in chunks of `chunkBytes`; the last one may be shorter.
    package struct Offer: Hashable, Sendable {
        package let revision: Revision
        package let bytes: Int
        package let chunkBytes: Int
        package let digest: UInt64

        package init(revision: Revision, bytes: Int, chunkBytes: Int, digest: UInt64) {
            self.revision = revision
            self.bytes = bytes
            self.chunkBytes = chunkBytes
            self.digest = digest
        }

        fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
            try reader.fixedArray(4)
            self.init(
                revision: try reader.quantity(),
                bytes: try reader.count(),
                chunkBytes: try reader.count(),
                digest: try reader.unsigned()
            )
        }
    }

    func write(to writer: inout CBORWriter) {
        writer.begin(.welcome)
        writer.write(lineage)
        writer.write(epoch)
        writer.write(head)
        writer.write(time)
        writer.unsigned(stateVersion)
        writer.write(heartbeatInterval)
        guard let offer else { return writer.null() }
        writer.array(count: 4)
        writer.write(offer.revision)
        writer.write(count: offer.bytes)
        writer.write(count: offer.chunkBytes)
        writer.unsigned(offer.digest)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            epoch: try reader.quantity(),
            head: try reader.quantity(),
            time: try reader.timestamp(),
            stateVersion: try reader.unsigned(),
            heartbeatInterval: try reader.duration(),
            offer: try reader.optional { reader throws(CodingFailure) in try Offer(from: &reader) }
        )
    }
}

/// A part of a snapshot; its address names the snapshot and the index.
package struct Chunk: Hashable, Sendable {
    package let bytes: ArraySlice<UInt8>
    package init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    func write(to writer: inout CBORWriter) {
        writer.begin(.chunk)
        writer.bytes(Array(bytes))
    }
}

/// The actions that a store accepts, and its current state.
package struct StoreSchema: Hashable, Sendable {
    package let lineage: Lineage
    package let stateVersion: UInt64
    package let actions: [Entry]
    package let epoch: Epoch
    package let head: Revision
    /// The number of sessions that the primary remembers.
    package let sessions: Int
    /// The durability of acknowledged actions, as the primary's settings name it; `nil` without a journal.
    package let durability: String?

    package init(
        lineage: Lineage,
        stateVersion: UInt64,
        actions: [Entry],
        epoch: Epoch,
        head: Revision,
        sessions: Int,
        durability: String?
    ) {
        self.lineage = lineage
        self.stateVersion = stateVersion
        self.actions = actions
        self.epoch = epoch
        self.head = head
        self.sessions = sessions
        self.durability = durability
    }

    /// An action's name and an encoded example of its payload; `nil` if the type provides none.
    package struct Entry: Hashable, Sendable {
        package let name: String
        package let example: [UInt8]?
    }

    func write(to writer: inout CBORWriter) {
        writer.begin(.schema)
        writer.write(lineage)
        writer.unsigned(stateVersion)
        writer.array(count: actions.count)
        for action in actions {
            writer.array(count: 2)
            writer.text(action.name)
            if let example = action.example { writer.encoded(example) } else { writer.null() }
        }
        writer.write(epoch)
        writer.write(head)
        writer.write(count: sessions)
        if let durability { writer.text(durability) } else { writer.null() }
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            stateVersion: try reader.unsigned(),
            actions: try reader.list { reader throws(CodingFailure) in
                try reader.fixedArray(2)
                return Entry(
                    name: try reader.text(),
                    example: try reader.optional { reader throws(CodingFailure) in try reader.encodedItem() }
                )
            },
            epoch: try reader.quantity(),
            head: try reader.quantity(),
            sessions: try reader.count(),
            durability: try reader.optional { reader throws(CodingFailure) in try reader.text() }
        )
    }
}
