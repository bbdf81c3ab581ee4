internal import CZeroMQ

/// What ``Socket/receive()`` took off a socket.
package enum Incoming: Hashable, Sendable {
    /// A message of one frame.
    case message([UInt8])
    /// A message of several frames, which no protocol here uses; it was dropped whole.
    case multipart(frames: Int)
}

extension Socket {
    /// Sends a message, unless that would have to wait.
    ///
    /// True says that libzmq took it, nothing about its delivery. A publisher takes every message, and drops it for the
    /// subscribers that are too slow.
    ///
    /// - Returns: false if no peer has room now; ask the loop for writability and try again.
    /// - Throws: `unsupported` if this kind of socket cannot send; `terminated`.
    package func send(_ message: UnsafeRawBufferPointer) throws(ZeroMQError) -> Bool {
        while zmq_send(handle.pointer, message.baseAddress, message.count, ZMQ_DONTWAIT) < 0 {
            if wouldBlock() { return false }
            if !wasInterrupted() { throw .failed("cannot send on a \(kind) socket", errno: zmq_errno()) }
        }
        return true
    }

    /// Sends a message, unless that would have to wait; see ``send(_:)-(UnsafeRawBufferPointer)``.
    package func send(_ message: [UInt8]) throws(ZeroMQError) -> Bool {
        try message.withUnsafeBytes { (bytes) -> Result<Bool, ZeroMQError> in attempt(bytes) }.get()
    }

    /// Sends a message, unless that would have to wait; see ``send(_:)-(UnsafeRawBufferPointer)``.
    package func send(_ message: ArraySlice<UInt8>) throws(ZeroMQError) -> Bool {
        try message.withUnsafeBytes { (bytes) -> Result<Bool, ZeroMQError> in attempt(bytes) }.get()
    }

    /// `withUnsafeBytes` rethrows untyped, so the typed error travels as a value.
    private func attempt(_ bytes: UnsafeRawBufferPointer) -> Result<Bool, ZeroMQError> {
        do throws(ZeroMQError) { return .success(try send(bytes)) } catch { return .failure(error) }
    }

    /// Takes the next message, if one is there.
    ///
    /// - Returns: the message; `nil` if none is there now.
    /// - Throws: `unsupported` if this kind of socket cannot receive; `terminated`.
    package func receive() throws(ZeroMQError) -> Incoming? {
        var message = zmq_msg_t()
        // One pointer for its whole life: small messages lie inside, so libzmq forbids moving it.
        return try withUnsafeMutablePointer(to: &message) { (message) throws(ZeroMQError) in
            zmq_msg_init(message)
            defer { zmq_msg_close(message) }
            guard try receiveFrame(into: message) else { return nil }
            guard zmq_msg_more(message) != 0 else {
                return .message(
                    [UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(message), count: zmq_msg_size(message)))
                )
            }
            var frames = 1
            // Never leaves in the middle: libzmq hands out a message only when all its frames are there.
            while zmq_msg_more(message) != 0, try receiveFrame(into: message) { frames += 1 }
            return .multipart(frames: frames)
        }
    }

    private func receiveFrame(into message: UnsafeMutablePointer<zmq_msg_t>) throws(ZeroMQError) -> Bool {
        while zmq_msg_recv(message, handle.pointer, ZMQ_DONTWAIT) < 0 {
            if wouldBlock() { return false }
            if !wasInterrupted() { throw .failed("cannot receive on a \(kind) socket", errno: zmq_errno()) }
        }
        return true
    }
}
