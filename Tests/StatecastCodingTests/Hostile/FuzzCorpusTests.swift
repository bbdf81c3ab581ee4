import Testing

@Suite struct `The corpus of the fuzzers` {
    @Test func `of decoding breaks no law`() throws { try FuzzCorpus.replay("FuzzDecoder", Laws.checkDecoding) }
    @Test func `of applying breaks no law`() throws { try FuzzCorpus.replay("FuzzApply", Laws.checkApplying) }
    @Test func `of JSON breaks no law`() throws { try FuzzCorpus.replay("FuzzJSON", Laws.checkJSON) }
}
