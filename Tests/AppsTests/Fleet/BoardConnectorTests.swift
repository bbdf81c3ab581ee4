import FleetApp
import StatecastCore
import Testing

@Suite struct `The board's connector` {
    private let connector = BoardConnector(silentAfter: .seconds(10), maxNotes: 2)

    @Test func `The board's connector sorts by load, the highest first, then by name`() {
        var fleet = Fleet()
        for (name, load) in [("c", 1.0), ("a", 1.0), ("d", 7.5), ("b", 0.2), ("e", 1.0)] {
            fleet.reduce(HostSampled(host: name, sample: .loaded(load)))
        }
        #expect(connector.props(from: fleet, at: .epoch).rows.map(\.name) == ["d", "a", "c", "e", "b"])
    }

    @Test func `The board's connector shows that a host fell silent as time passes`() {
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: "a", sample: .loaded(1)), second: 100)
        func freshness(_ milliseconds: Int64) -> BoardProps.Freshness? {
            connector.props(from: fleet, at: Timestamp(milliseconds: milliseconds)).rows.first?.freshness
        }
        #expect(freshness(100_000) == .fresh)
        #expect(freshness(110_000) == .fresh)
        #expect(freshness(110_001) == .silent(for: .seconds(10)))
        #expect(freshness(142_999) == .silent(for: .seconds(42)))
        fleet.reduce(HostSampled(host: "a", sample: .loaded(1)), second: 143)
        #expect(freshness(143_000) == .fresh)
    }

    @Test
    func `The board's connector shows a host as silent that the clock, which was set back, saw last in the future`() {
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: "a", sample: .loaded(1)), second: 4_000)
        func props(_ milliseconds: Int64) -> BoardProps {
            connector.props(from: fleet, at: Timestamp(milliseconds: milliseconds))
        }
        // A little, as clocks are adjusted.
        #expect(props(3_990_000).rows.first?.freshness == .fresh)
        for milliseconds in [3_989_999, 400_000, 0, Timestamp.earliest.milliseconds] {
            #expect(props(milliseconds).rows.first?.freshness == .silent(for: nil))
        }
        #expect(BoardText().text(of: props(0), title: "t").contains(" silent "))
        #expect(props(0).totals.silent == 1)
        fleet.reduce(HostSampled(host: "a", sample: .loaded(1)), second: 400)
        #expect(props(400_000).rows.first?.freshness == .fresh)
    }

    @Test func `The board's connector shows the same within a second`() {
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: "a", sample: .loaded(1)))
        let props = connector.props(from: fleet, at: Timestamp(milliseconds: 20_100))
        #expect(props == connector.props(from: fleet, at: Timestamp(milliseconds: 20_900)))
        #expect(props != connector.props(from: fleet, at: Timestamp(milliseconds: 21_000)))
    }

    @Test func `The board's connector counts the fresh, the silent and the retired`() {
        var fleet = Fleet()
        for (name, second) in [("a", Int64(0)), ("b", 95), ("c", 99), ("d", 99)] {
            fleet.reduce(HostSampled(host: name, sample: .loaded(1)), second: second)
        }
        fleet.reduce(HostRetired(host: "d"))
        fleet.reduce(HostRetired(host: "d"))
        let totals = connector.props(from: fleet, at: .second(100)).totals
        #expect(totals.fresh == 2)
        #expect(totals.silent == 1)
        #expect(totals.retired == 1)
        #expect(totals.samples == 4)
        #expect(totals.ignored == 1)
    }

    @Test func `The board's connector keeps a retired host retired while it is silent`() {
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: "a", sample: .loaded(1)))
        fleet.reduce(HostRetired(host: "a"))
        #expect(connector.props(from: fleet, at: .second(1_000)).rows.first?.freshness == .retired)
    }

    @Test func `The board's connector shows the latest notes`() {
        var fleet = Fleet()
        for text in ["one", "two", "three"] {
            fleet.reduce(NoteAdded(text: text))
        }
        #expect(connector.props(from: fleet, at: .epoch).notes.map(\.text) == ["two", "three"])
    }
}
