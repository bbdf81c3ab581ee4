import Testing

@Suite struct `The corpus of the protocol's fuzzers` {
    @Test func `The corpus of the protocol's fuzzers of frames, messages and subscriptions breaks no law`() throws {
        try FuzzCorpus.replay("FuzzFrame", WireLaws.check)
    }

    @Test func `The corpus of the protocol's fuzzers of journals and session files breaks no law`() throws {
        try FuzzCorpus.replay("FuzzRecord", RecordLaws.check)
    }

    @Test func `The corpus of the fuzzer of replicas and senders breaks no law`() throws {
        try FuzzCorpus.replay("FuzzPeer", PeerLaws.check)
    }

    @Test func `The corpus of the fuzzer of stores breaks no law`() throws {
        try FuzzCorpus.replay("FuzzStore", StoreLaws.check)
    }
}
