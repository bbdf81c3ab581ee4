import Testing

@Suite struct `The corpus of the fuzzer of access lists, key files and authentication` {
    @Test func `The corpus of the fuzzer of access lists, key files and authentication breaks no law`() throws {
        try FuzzCorpus.replay("FuzzAccess", AccessLaws.check)
    }
}
