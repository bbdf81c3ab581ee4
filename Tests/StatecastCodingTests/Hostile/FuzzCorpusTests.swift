import Testing

@Suite struct `The corpus of the fuzzers` {
    @Test func `The corpus of the fuzzer of decoding breaks no law`() throws {
        try FuzzCorpus.replay("FuzzDecoder", Laws.checkDecoding)
    }

    @Test func `The corpus of the fuzzer of applying breaks no law`() throws {
        try FuzzCorpus.replay("FuzzApply", Laws.checkApplying)
    }

    @Test func `The corpus of the fuzzer of JSON breaks no law`() throws {
        try FuzzCorpus.replay("FuzzJSON", Laws.checkJSON)
    }
}
