// What a user of the library meets under the one import: the values of these modules appear in its API.
@_exported public import Journal
@_exported public import StateCoding
@_exported public import StateCore
@_exported public import SyncProtocol
