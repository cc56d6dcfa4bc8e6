// swift-tools-version: 6.2

// Source for Apple's platforms that must not change, on Linux: compiler flags on its own target give Dialtone's modules
// the names of Apple's. No other target of the build sees modules of these names.
//
//   swift run --package-path Examples/UnchangedSource

import PackageDescription

let package = Package(
  name: "UnchangedSource",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [.package(name: "swift-dialtone", path: "../..")],
  targets: [
    .target(
      name: "Unchanged",
      dependencies: [
        .product(name: "DialtoneNetwork", package: "swift-dialtone", condition: .when(platforms: [.linux])),
        .product(name: "DialtoneSystemConfiguration", package: "swift-dialtone", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: [
        .treatAllWarnings(as: .error),
        .unsafeFlags(
          [
            "-module-alias", "Network=DialtoneNetwork",
            "-module-alias", "SystemConfiguration=DialtoneSystemConfiguration",
          ], .when(platforms: [.linux])),
      ]),
    .executableTarget(name: "Tour", dependencies: ["Unchanged"], swiftSettings: [.treatAllWarnings(as: .error)]),
  ]
)
