import Foundation
import Statecast

/// The keys of a primary, of its replicas and of its senders, and the access list that permits both.
struct MemberKeys {
    let primary: PrimarySecurity
    let replica: ClientSecurity
    let sender: ClientSecurity

    /// - Parameter folder: where the access list is written.
    init(of store: String, in folder: URL) throws {
        let (keys, replica, sender) = (NodeKeys.generate(), NodeKeys.generate(), NodeKeys.generate())
        let list = """
            \(replica.publicKey) replica follow=\(store)
            \(sender.publicKey) sender send=\(store)/*

            """
        let file = folder.appending(path: "access")
        try Data(list.utf8).write(to: file)
        primary = PrimarySecurity(keys: keys, accessList: file.path)
        self.replica = ClientSecurity(keys: replica, primary: keys.publicKey)
        self.sender = ClientSecurity(keys: sender, primary: keys.publicKey)
    }
}
