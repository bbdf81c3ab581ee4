import StatecastCryptography

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file of the page.
struct PageFile: Sendable {
    /// As in the URL: `app.js`.
    let name: String
    let content: [UInt8]

    init(_ name: String, _ content: String) { (self.name, self.content) = (name, Array(content.utf8)) }

    init(_ name: String, bytes: [UInt8]) { (self.name, content) = (name, bytes) }

    var type: String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "json": "application/json"
        default: "application/octet-stream"
        }
    }

    /// Changes with the content.
    var tag: String { "\"\(ShortDigest(of: content, domain: "sc-page"))\"" }
}

/// The files that need no token: the inspector, or those of a folder, and always `statecast.js`.
struct PageFolder: Sendable {
    private let files: [String: (file: PageFile, tag: String)]

    /// The inspector.
    init() { self.init(PageFile.all) }

    private init(_ files: [PageFile]) {
        self.files = Dictionary(files.map { ($0.name, ($0, $0.tag)) }) { _, last in last }
    }

    /// The files of a folder, read once; not those in folders of it, nor hidden ones.
    ///
    /// - Throws: an error of the system.
    init(at path: String) throws {
        let module = PageFile.all.filter { $0.name == "statecast.js" }
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        let own = names.filter { !$0.hasPrefix(".") }.compactMap { name in
            FileManager.default.contents(atPath: path + "/" + name).map { PageFile(name, bytes: Array($0)) }
        }
        self.init(module + own)
    }

    /// - Throws: ``GatewayFailure`` with code `no-such-path`.
    func answer(to request: GatewayRequest) throws -> GatewayAnswer {
        let name = request.path == "/" ? "index.html" : String(request.path.dropFirst())
        guard let (file, tag) = files[name] else {
            throw GatewayFailure(
                .noSuchPath,
                "there is no page \(request.path); the inspector is at /, the data under /v1"
            )
        }
        let headers = [("ETag", tag), ("Cache-Control", "no-cache")]
        let isKnown = request.header("if-none-match") == tag
        return GatewayAnswer(status: isKnown ? 304 : 200, type: file.type, .bytes(isKnown ? [] : file.content), headers)
    }
}
