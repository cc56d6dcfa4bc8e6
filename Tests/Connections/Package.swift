// swift-tools-version: 6.2

import PackageDescription

// Tests of the adapters for AsyncHTTPClient, gRPC, URLSession and servers. They are a package of their own, since what
// they need takes minutes to build: `Scripts/check connections` runs them, and `swift test` in a clone does not.
let package = Package(
  name: "Connections",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-dialtone", path: "../..", traits: ["NIO", "HTTPClient", "GRPC", "Services"]),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
  ],
  targets: [
    // Those of the root package.
    .target(name: "CNetworkLab"),
    .target(name: "NetworkLab", dependencies: ["CNetworkLab"]),
    .target(name: "TestSupport"),
    // The client of Examples/Downloading, and one of URLSession, with threads of its own: each is a process in a lab.
    .executableTarget(
      name: "Downloading",
      dependencies: [
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Dialtone", package: "swift-dialtone"),
        .product(name: "DialtoneHTTPClient", package: "swift-dialtone"),
        .product(name: "DialtoneNIO", package: "swift-dialtone"),
        .product(name: "NIOCore", package: "swift-nio"),
      ]),
    .executableTarget(
      name: "SessionProbe",
      dependencies: [
        .product(name: "Dialtone", package: "swift-dialtone"),
        .product(name: "DialtoneFoundation", package: "swift-dialtone"),
      ]),
    // What clients make of changes, with Dialtone and without: Benchmarks/connections runs it.
    .executableTarget(
      name: "ConnectionTrials",
      dependencies: [
        "CNetworkLab", "NetworkLab", "TestSupport",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Dialtone", package: "swift-dialtone"),
        .product(name: "DialtoneGRPC", package: "swift-dialtone"),
        .product(name: "DialtoneHTTPClient", package: "swift-dialtone"),
        .product(name: "DialtoneNIO", package: "swift-dialtone"),
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ]),
    .testTarget(
      name: "ConnectionsTests",
      dependencies: [
        "Downloading", "NetworkLab", "SessionProbe", "TestSupport",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Dialtone", package: "swift-dialtone"),
        .product(name: "DialtoneFoundation", package: "swift-dialtone"),
        .product(name: "DialtoneGRPC", package: "swift-dialtone"),
        .product(name: "DialtoneHTTPClient", package: "swift-dialtone"),
        .product(name: "DialtoneNIO", package: "swift-dialtone"),
        .product(name: "DialtoneServices", package: "swift-dialtone"),
        .product(name: "DialtoneTesting", package: "swift-dialtone"),
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
