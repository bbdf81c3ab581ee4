import FleetApp
import StatecastCoding
import StatecastCore
import Testing

@Suite struct `The fleet` {
    @Test func `The fleet adds a host with its first sample, at the primary's time`() throws {
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: "web-1", sample: .loaded(1)), second: 5)
        fleet.reduce(HostSampled(host: "web-1", sample: .loaded(2)), second: 9)
        let host = try #require(fleet.hosts["web-1"])
        #expect(host.name == "web-1")
        #expect(host.latest.load1 == 2)
        #expect(host.firstSeen == .second(5))
        #expect(host.lastSeen == .second(9))
        #expect(host.samples == 2)
        #expect(fleet.totals.hosts == 1)
        #expect(fleet.totals.samples == 2)
        #expect(fleet.totals.ignored == 0)
    }

    @Test func `The fleet derives the share of processor time from two samples`() {
        var fleet = Fleet()
        var sample = Sample.loaded(1, uptimeSeconds: 100, cpuSeconds: 50)
        sample.cpuCount = 4
        fleet.reduce(HostSampled(host: "a", sample: sample))
        #expect(fleet.hosts["a"]?.busy == nil)
        sample.uptimeSeconds = 110
        sample.cpuSeconds = 70
        fleet.reduce(HostSampled(host: "a", sample: sample))
        #expect(fleet.hosts["a"]?.busy == 0.5)
        sample.uptimeSeconds = 120
        sample.cpuSeconds = 69
        fleet.reduce(HostSampled(host: "a", sample: sample))
        #expect(fleet.hosts["a"]?.busy == nil)
        sample.uptimeSeconds = 3
        sample.cpuSeconds = 70
        fleet.reduce(HostSampled(host: "a", sample: sample))
        #expect(fleet.hosts["a"]?.busy == nil)
    }

    @Test func `The fleet ignores a retired host until it is restored`() {
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: "a", sample: .loaded(1)))
        fleet.reduce(HostRetired(host: "a"))
        fleet.reduce(HostSampled(host: "a", sample: .loaded(2)))
        #expect(fleet.hosts["a"]?.isRetired == true)
        #expect(fleet.hosts["a"]?.latest.load1 == 1)
        #expect(fleet.totals.retired == 1)
        #expect(fleet.totals.ignored == 1)
        fleet.reduce(HostRestored(host: "a"))
        fleet.reduce(HostSampled(host: "a", sample: .loaded(3)))
        #expect(fleet.hosts["a"]?.latest.load1 == 3)
        #expect(fleet.totals.retired == 0)
        #expect(fleet.totals.ignored == 1)
    }

    @Test(arguments: [HostRetired(host: "b"), HostRestored(host: "a"), HostRestored(host: "b")] as [any Action])
    func `The fleet counts ignored actions`(action: any Action) {
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: "a", sample: .loaded(1)))
        let before = fleet
        fleet.reduce(action)
        #expect(fleet.totals.ignored == 1)
        #expect(fleet.hosts == before.hosts)
        #expect(fleet.totals.retired == 0)
    }

    static let spoilt: [@Sendable (inout Sample) -> Void] = [
        { $0.load1 = .nan }, { $0.load5 = .infinity }, { $0.load15 = -1 }, { $0.uptimeSeconds = -.infinity },
        { $0.cpuSeconds = .nan }, { $0.cpuCount = 0 }, { $0.cpuCount = .min }, { $0.memoryTotalBytes = -1 },
        { $0.memoryAvailableBytes = -1 }, { $0.memoryAvailableBytes = $0.memoryTotalBytes + 1 },
        { $0.diskTotalBytes = .min }, { $0.diskFreeBytes = .min }, { $0.diskFreeBytes = .max },
    ]

    @Test(arguments: spoilt.indices)
    func `The fleet ignores an implausible sample`(index: Int) {
        var sample = Sample.loaded(1)
        #expect(sample.isPlausible)
        Self.spoilt[index](&sample)
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: "a", sample: sample))
        #expect(fleet.hosts.isEmpty)
        #expect(fleet.totals.ignored == 1)
        #expect(fleet.totals.samples == 0)
    }

    @Test func `The fleet does not trap on the largest numbers`() {
        var sample = Sample.loaded(.greatestFiniteMagnitude, uptimeSeconds: 0, cpuSeconds: 0)
        sample.cpuCount = .max
        sample.memoryTotalBytes = .max
        sample.diskTotalBytes = .max
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: "a", sample: sample))
        sample.uptimeSeconds = .greatestFiniteMagnitude
        sample.cpuSeconds = .greatestFiniteMagnitude
        fleet.reduce(HostSampled(host: "a", sample: sample))
        sample.cpuSeconds = 0
        sample.uptimeSeconds = .leastNonzeroMagnitude
        fleet.reduce(HostSampled(host: "a", sample: sample))
        #expect(fleet.totals.samples == 3)
        #expect(fleet.totals.ignored == 0)
    }

    @Test func `The fleet keeps the printable part of a host name`() {
        var fleet = Fleet()
        fleet.reduce(HostSampled(host: " we\u{1B}[31mb\n1\u{202E} ", sample: .loaded(1)))
        #expect(Array(fleet.hosts.keys) == ["we[31mb 1"])
        fleet.reduce(HostSampled(host: " \t\u{0} ", sample: .loaded(1)))
        #expect(fleet.totals.hosts == 1)
        #expect(fleet.totals.ignored == 1)
    }

    @Test func `The fleet limits the hosts, and replaces retired ones`() {
        var fleet = Fleet()
        for index in 0..<FleetLimits.maxHosts {
            fleet.reduce(HostSampled(host: "h\(index)", sample: .loaded(1)), second: Int64(index))
        }
        #expect(fleet.totals.ignored == 0)
        fleet.reduce(HostSampled(host: "late", sample: .loaded(1)))
        #expect(fleet.hosts["late"] == nil)
        #expect(fleet.totals.ignored == 1)
        fleet.reduce(HostSampled(host: "h7", sample: .loaded(2)))
        #expect(fleet.hosts["h7"]?.samples == 2)

        fleet.reduce(HostRetired(host: "h20"))
        fleet.reduce(HostRetired(host: "h10"))
        fleet.reduce(HostSampled(host: "late", sample: .loaded(1)))
        #expect(fleet.hosts["late"] != nil)
        #expect(fleet.hosts["h10"] == nil)
        #expect(fleet.hosts["h20"] != nil)
        #expect(recount(fleet) == (fleet.totals.hosts, fleet.totals.retired))
        #expect(fleet.totals.hosts == FleetLimits.maxHosts)
    }

    @Test func `The fleet keeps the latest notes, with their time and host`() {
        var fleet = Fleet()
        for index in 0...FleetLimits.maxNotes {
            fleet.reduce(NoteAdded(host: index.isMultiple(of: 2) ? "a" : nil, text: "n\(index)"), second: Int64(index))
        }
        #expect(fleet.notes.count == FleetLimits.maxNotes)
        #expect(fleet.notes.first?.text == "n1")
        #expect(fleet.notes.first?.host == nil)
        #expect(fleet.notes.last?.text == "n\(FleetLimits.maxNotes)")
        #expect(fleet.notes.last?.host == "a")
        #expect(fleet.notes.last?.time == .second(Int64(FleetLimits.maxNotes)))
        #expect(fleet.totals.notes == FleetLimits.maxNotes + 1)
    }
}
