// A server for scripts/check-http: prints its port, and serves until SIGTERM.
//
// usage: http-probe-server [TIMEOUT-SECONDS [MAX-CONNECTIONS [EVENTS-PER-SECOND]]]
//
//   /hello          ok
//   /large          64 KiB
//   /send           the number of bytes of the body
//   /events?BYTES   a stream of events of this size, each with the time at which it was made

#if HTTP
    import Foundation
    import NIOCore
    import NIOHTTP1
    import StatecastHTTP
    import UnixSignals

    let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    var limits = HTTPLimits()
    limits.maxBodyBytes = 64 << 10
    if let seconds = numbers.first {
        limits.idleTimeout = .seconds(Int64(seconds))
        limits.writeTimeout = .seconds(Int64(seconds))
    }
    if numbers.count > 1 { limits.maxConnections = numbers[1] }
    let interval = Duration.seconds(1) / (numbers.count > 2 ? numbers[2] : 10)

    let server = try await HTTPServer.start(
        host: "127.0.0.1",
        port: 0,
        limits: limits,
        permitsHost: { ["x", "localhost", "127.0.0.1"].contains($0) },
        respond: { request in
            switch request.path {
            case "/hello": HTTPResponse(.ok, type: "text/plain", "ok\n")
            case "/large": HTTPResponse(.ok, type: "text/plain", String(repeating: "x", count: 64 << 10))
            case "/send": HTTPResponse(.ok, type: "text/plain", "\(request.body.readableBytes)\n")
            case "/events":
                HTTPResponse(
                    .ok,
                    ["Content-Type": "text/event-stream"],
                    .stream { stream in
                        let filler = String(repeating: "x", count: request.query.flatMap { Int($0) } ?? 100)
                        while true {
                            let event = "data: \(Date.now.timeIntervalSince1970) \(filler)\n\n"
                            try await stream.write(ByteBuffer(string: event))
                            try await Task.sleep(for: interval)
                        }
                    }
                )
            default: HTTPResponse(.notFound, type: "text/plain", "there is no \(request.path)\n")
            }
        }
    )
    let signals = await UnixSignalsSequence(trapping: .sigterm)
    print(server.address.port ?? 0)
    fflush(nil)
    for await _ in signals { break }
    await server.stop(grace: .seconds(3))
#else
    print("http-probe-server: built without the trait HTTP")
#endif
