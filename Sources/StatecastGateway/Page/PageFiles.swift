extension PageFile {
    static let all: [PageFile] = []
}
