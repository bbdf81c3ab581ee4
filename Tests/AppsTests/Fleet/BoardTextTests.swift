import FleetApp
import StatecastCore
import Testing

@Suite struct `The board as text` {
    private func fleet() -> Fleet {
        var fleet = Fleet()
        var large = Sample.loaded(3.2, uptimeSeconds: 86_400, cpuSeconds: 0)
        large.cpuCount = 2
        fleet.reduce(HostSampled(host: "web-1", sample: large), second: 90)
        large.uptimeSeconds += 10
        large.cpuSeconds += 15
        fleet.reduce(HostSampled(host: "web-1", sample: large), second: 100)
        fleet.reduce(HostSampled(host: "db-1", sample: .loaded(0.42, uptimeSeconds: 59)), second: 60)
        fleet.reduce(HostSampled(host: "old-1", sample: .loaded(0.1)), second: 60)
        fleet.reduce(HostRetired(host: "old-1"), second: 61)
        fleet.reduce(NoteAdded(host: "db-1", text: "new disk on Friday"), second: 3_661)
        fleet.reduce(NoteAdded(text: "all quiet"), second: 86_399)
        return fleet
    }

    private func props(_ fleet: Fleet) -> BoardProps {
        BoardConnector(silentAfter: .seconds(10)).props(from: fleet, at: .second(102))
    }

    @Test func `The board as text shows every column on a wide screen`() {
        let text = BoardText(columns: 140).text(of: props(fleet()), title: "fleet, live")
        let expected = """
            fleet, live
            3 machines: 1 fresh, 1 silent, 1 retired; 4 samples, 0 ignored

            HOST      STATE        LOAD     5M    15M  CPU            MEMORY                      \
            DISK                              UP
            web-1     fresh        3.20   0.36   0.30  ██████░░  75%  ███░░░░░  38% of 8.0 GiB    \
            ███░░░░░  40% of 100.0 GiB     1d 0h
            db-1      silent 42s   0.42   0.36   0.30  -              ███░░░░░  38% of 8.0 GiB    \
            ███░░░░░  40% of 100.0 GiB       59s
            old-1     retired      0.10   0.36   0.30  -              ███░░░░░  38% of 8.0 GiB    \
            ███░░░░░  40% of 100.0 GiB   16m 40s

            01:01:01  db-1: new disk on Friday
            23:59:59  all quiet

            """
        #expect(text == expected)
    }

    @Test func `The board as text drops the least important columns on a narrow screen`() {
        let lines = BoardText(columns: 80).lines(of: props(fleet()), title: "fleet").map(\.text)
        #expect(lines[3] == "HOST      STATE        LOAD  CPU            MEMORY                            UP")
        let narrow = BoardText(columns: 30).lines(of: props(fleet()), title: "fleet").map(\.text)
        #expect(
            narrow[3...6] == [
                "HOST      STATE        LOAD", "web-1     fresh        3.20",
                "db-1      silent 42s   0.42", "old-1     retired      0.10",
            ]
        )
    }

    @Test(arguments: [-1, 0, 1, 2, 7, 8, 9, 20, 33, 79, 80, 81, 200])
    func `The board as text has no line wider than the screen`(columns: Int) {
        var fleet = fleet()
        fleet.reduce(HostSampled(host: String(repeating: "机", count: 20), sample: .loaded(.greatestFiniteMagnitude)))
        fleet.reduce(NoteAdded(text: String(repeating: "long ", count: 50)))
        let title = String(repeating: "title ", count: 40)
        for line in BoardText(columns: columns).lines(of: props(fleet), title: title).map(\.text) {
            // Wide characters here are all from one block; the others have one column each.
            let width = line.reduce(0) { $0 + ($1 == "机" ? 2 : 1) }
            #expect(width <= max(0, columns), "\(line)")
        }
    }

    @Test func `The board as text stays aligned below a name in wide characters`() throws {
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: "机器一", sample: .loaded(2)), second: 100)
        fleet.reduce(HostSampled(host: "e\u{301}t\u{301}e", sample: .loaded(1)), second: 100)
        let lines = BoardText(columns: 30).lines(of: props(fleet), title: "t").map(\.text)
        #expect(lines[4] == "机器一    fresh        2.00")
        #expect(lines[5] == "e\u{301}t\u{301}e       fresh        1.00")
    }

    @Test func `The board as text counts the hosts that do not fit`() {
        let lines = BoardText(columns: 80, maxRows: 1).lines(of: props(fleet()), title: "t").map(\.text)
        #expect(lines[4].hasPrefix("web-1"))
        #expect(lines[5] == "and 2 more")
        let second = BoardText(columns: 80, first: 1, maxRows: 1).lines(of: props(fleet()), title: "t")
        let hosts = BoardText(columns: 80).lines(of: props(fleet()), title: "t").compactMap(\.host)
        #expect(second.compactMap(\.host) == [hosts[1]])
        #expect(second.contains { $0.text == "and \(hosts.count - 2) more" } == (hosts.count > 2))
        #expect(!BoardText(columns: 80, maxRows: 3).text(of: props(fleet()), title: "t").contains("more"))
    }
}
