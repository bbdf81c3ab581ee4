// The exports of `import Statecast` besides its own API: all of StateCore, whose names are those of an application, and
// the types that the API itself names or that go into a state, but `Limits`, whose fields are set in a configuration.
// Value, Patch and the coders need `import StateCoding`; the types of a journal's content need `import Journal`.

@_exported public import StateCore

@_exported public import enum Journal.Durability
@_exported public import protocol Journal.Journal
@_exported public import struct Journal.JournalFailure
@_exported public import class Journal.MemoryJournal
@_exported public import struct StateCoding.Table
@_exported public import struct SyncProtocol.ActionNumber
@_exported public import struct SyncProtocol.Epoch
@_exported public import struct SyncProtocol.Lineage
@_exported public import struct SyncProtocol.Position
@_exported public import enum SyncProtocol.ReplicaStatus
@_exported public import struct SyncProtocol.Revision
@_exported public import enum SyncProtocol.SenderStatus
@_exported public import struct SyncProtocol.SessionID
@_exported public import struct SyncProtocol.StoreName
