// swift-tools-version: 6.2

// A package of its own: AsyncHTTPClient, which it fetches, takes minutes to build.
//
//   swift run --package-path Examples/Downloading Downloading http://example.com/large.iso /tmp/large.iso

import PackageDescription

let package = Package(
  name: "Downloading",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-dialtone", path: "../..", traits: ["HTTPClient"]),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .executableTarget(
      name: "Downloading",
      dependencies: [
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Dialtone", package: "swift-dialtone"),
        .product(name: "DialtoneHTTPClient", package: "swift-dialtone"),
        .product(name: "DialtoneNIO", package: "swift-dialtone"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)])
  ],
  swiftLanguageModes: [.v6]
)
