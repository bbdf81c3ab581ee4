// The exports of `import Statecast` besides its own API: all of StatecastCore, whose names are those of an application,
// and the types that the API itself names or that go into a state, but not `Limits`, whose fields are set in a
// configuration. Value, Patch and the coders need `import StatecastCoding`; the types of a journal need
// `import StatecastJournal`.

@_exported public import StatecastCore

@_exported public import struct StatecastCoding.Table
@_exported public import enum StatecastJournal.Durability
@_exported public import protocol StatecastJournal.Journal
@_exported public import struct StatecastJournal.JournalFailure
@_exported public import class StatecastJournal.MemoryJournal
@_exported public import struct StatecastProtocol.ActionNumber
@_exported public import struct StatecastProtocol.Epoch
@_exported public import struct StatecastProtocol.Lineage
@_exported public import struct StatecastProtocol.Position
@_exported public import enum StatecastProtocol.ReplicaStatus
@_exported public import struct StatecastProtocol.Revision
@_exported public import enum StatecastProtocol.SenderStatus
@_exported public import struct StatecastProtocol.SessionID
@_exported public import struct StatecastProtocol.StoreName
