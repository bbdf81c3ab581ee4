import StatecastCoding

/// A state with parts of many kinds, all of them sound.
struct Garden: Codable, Equatable {
    var name = "garden"
    var isOpen = false
    var visitors = 0
    var warmth = 0.5
    var season = Season.winter
    var lastFed: Int?
    var beds: [String: Bed] = [:]
    var paths = Table<Int, String>()
    var tags: Set<String> = []
    var levels: [Season: [Int]] = [:]
    var log: [String] = []
    var crop = Crop.none
    var picture: [UInt8] = []

    struct Bed: Codable, Equatable {
        var plants: [String]
        var note: String?
    }

    enum Crop: Codable, Equatable {
        case none
        case ripe(String, weight: Double)
    }

    static let summer: Garden = {
        var garden = Garden()
        garden.season = .summer
        garden.lastFed = 3
        garden.beds = ["north": Bed(plants: ["fig", "rue"], note: "dry"), "south": Bed(plants: [])]
        garden.paths = [1: "gravel", 2: "sand"]
        garden.tags = ["quiet", "old", "walled"]
        garden.levels = [.summer: [1, 2], .winter: []]
        garden.log = ["opened"]
        garden.crop = .ripe("plum", weight: 2.5)
        garden.picture = [1, 2, 3]
        return garden
    }()

    static let winter: Garden = {
        var garden = summer
        garden.season = .winter
        garden.crop = .none
        garden.beds["south"] = nil
        garden.log += ["closed", "locked"]
        return garden
    }()
}

enum Season: String, Codable { case spring, summer, autumn, winter }
