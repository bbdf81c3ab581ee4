import StatecastZeroMQ
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Watches` {
    @Test func `Watches deliver messages only while they are wanted`() async throws {
        try await withPipes("held", count: 2) { pipes, probe in
            await pipes.run { pipes in
                pipes.watch(0) { pipes in pipes.take(0) }
                pipes.watch(1) { pipes in pipes.take(1) }
                pipes.watches[0]?.wantsReadable = false
                #expect(pipes.watches[0]?.wantsReadable == false)
                pipes.send(to: 0)
                pipes.send(to: 1)
            }
            #expect(await probe.events(count: 1) == ["1"])
            await pipes.run { $0.watches[0]?.wantsReadable = true }
            #expect(await probe.events(count: 2) == ["1", "0"])
        }
    }

    @Test func `Watches can disable each other within a turn`() async throws {
        try await withPipes("silenced", count: 2) { pipes, probe in
            await pipes.run { pipes in
                pipes.watch(0) { pipes in
                    pipes.take(0)
                    pipes.watches[1]?.wantsReadable = false
                }
                pipes.watch(1) { pipes in pipes.take(1) }
                pipes.send(to: 0)
                pipes.send(to: 1)
            }
            #expect(await probe.events(count: 1) == ["0"])
            await pipes.run { pipes in
                pipes.record("wanted")
                pipes.watches[1]?.wantsReadable = true
            }
            #expect(await probe.events(count: 3) == ["0", "wanted", "1"])
        }
    }

    @Test func `Watches report room to send only while it is wanted`() async throws {
        try await withPipes("room", count: 1) { pipes, probe in
            await pipes.run { pipes in
                while pipes.send(to: 0) {}
                pipes.watchRoom(0) { pipes in
                    pipes.watches[0]?.wantsWritable = false
                    pipes.record("room")
                }
                pipes.watches[0]?.wantsWritable = true
            }
            await pipes.run { pipes in pipes.takeAll(0) }
            let events = await probe.events(count: 1)
            #expect(events == ["room"])
            await pipes.run { $0.watches[0]?.wantsWritable = true }
            #expect(await probe.events(count: 2) == ["room", "room"])
        }
    }

    @Test func `Watches can cancel themselves and each other in a handler`() async throws {
        try await withPipes("ending", count: 3) { pipes, probe in
            await pipes.run { pipes in
                pipes.watch(0) { pipes in
                    pipes.record("0")
                    pipes.watches[0]?.cancel()
                    pipes.watches[1] = nil
                    pipes.watch(2) { pipes in pipes.take(2) }
                }
                pipes.watch(1) { pipes in pipes.record("never") }
                for number in 0..<3 { pipes.send(to: number) }
            }
            #expect(await probe.events(count: 2) == ["0", "2"])
            await pipes.run { pipes in pipes.send(to: 2) }
            #expect(await probe.events(count: 3) == ["0", "2", "2"])
        }
    }

    @Test func `Watches report what waits since an earlier watch of the socket`() async throws {
        try await withPipes("again", count: 1) { pipes, probe in
            await pipes.run { pipes in
                pipes.watch(0) { pipes in
                    pipes.record("left")
                    pipes.watches[0] = nil
                }
                pipes.send(to: 0)
            }
            #expect(await probe.events(count: 1) == ["left"])
            await pipes.run { pipes in pipes.watch(0) { pipes in pipes.take(0) } }
            #expect(await probe.events(count: 2) == ["left", "0"])
        }
    }

    @Test func `Watches release handlers and socket when they are dropped on another thread`() async throws {
        try await withProbe { _, loop in
            var (released, node): (AsyncStream<Never>, Node?) = try await started(on: loop)
            #expect(node != nil)
            node = nil
            for await _ in released {}
        }
    }

    /// A node that is watching, and a stream that ends when the loop has released its handler.
    private func started(on loop: PollLoop) async throws -> (released: AsyncStream<Never>, node: Node) {
        let (released, token) = Token.make()
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*")
        let node = Node(on: loop, from: pull.intoSocket(), holding: token) { _, _ in }
        await node.start()
        return (released, node)
    }
}
