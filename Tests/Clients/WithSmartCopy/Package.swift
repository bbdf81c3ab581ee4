// swift-tools-version: 6.2

import PackageDescription

// A user's package that enables the trait of @SmartCopy. scripts/check-clients builds and runs it.
let package = Package(
    name: "with-smart-copy",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "statecast", path: "../../..", traits: [.defaults, "SmartCopy"])],
    targets: [
        .executableTarget(
            name: "WithSmartCopy",
            dependencies: [
                .product(name: "SmartCopy", package: "statecast"), .product(name: "StateCore", package: "statecast"),
            ]
        )
    ]
)
