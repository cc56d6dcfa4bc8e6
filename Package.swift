// swift-tools-version: 6.2

import Foundation
import PackageDescription

/// Whether another package fetches this one. SwiftPM reads the manifest of what it has not checked out yet at `/`, and
/// keeps what it has fetched in folders of these names, as Xcode does, with `repositories` beside `checkouts`. A
/// package that is used by its path looks like a clone, so say `traits:` there.
let isFetched =
  Context.packageDirectory == "/" || Context.packageDirectory.contains("/registry/downloads/")
  || Context.packageDirectory.contains("/checkouts/")
    && FileManager.default.fileExists(atPath: Context.packageDirectory + "/../../repositories")

let package = Package(
  name: "swift-dialtone",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Dialtone", targets: ["Dialtone"]),
    .library(name: "DialtoneFoundation", targets: ["DialtoneFoundation"]),
    .library(name: "DialtoneNetwork", targets: ["DialtoneNetwork"]),
    .library(name: "DialtoneSystemConfiguration", targets: ["DialtoneSystemConfiguration"]),
    .library(name: "DialtoneTesting", targets: ["DialtoneTesting"]),
  ],
  // What fetches other packages. A clone has two of them, a package that depends on this one those that it asks for.
  traits: [
    .default(enabledTraits: isFetched ? [] : ["Command", "NIO"]),
    .trait(name: "Sites", description: "Checks and monitors of sites: DialtoneSites, on swift-nio."),
    .trait(name: "NIO", description: "Connections of swift-nio that know their path: DialtoneNIO."),
    .trait(
      name: "HTTPClient", description: "The same for AsyncHTTPClient: DialtoneHTTPClient.", enabledTraits: ["NIO"]),
    .trait(name: "GRPC", description: "The same for grpc-swift-2: DialtoneGRPC.", enabledTraits: ["NIO"]),
    .trait(name: "Services", description: "Service, logs and metrics of servers: DialtoneServices."),
    .trait(name: "Command", description: "The command dialtone.", enabledTraits: ["Sites"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    // A clone has none of these: they are fetched for the traits HTTPClient, GRPC and Services.
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
  ],
  swiftLanguageModes: [.v6]
)

/// Products of another package, which is fetched for a trait alone.
func products(of package: String, _ names: String..., trait: String? = nil) -> [Target.Dependency] {
  let isOfCommand = package == "swift-argument-parser"
  return names.map {
    .product(name: $0, package: package, condition: .when(traits: [trait ?? (isOfCommand ? "Command" : "Sites")]))
  }
}

// MARK: - The core, which needs no other package

package.targets += [
  // The libc and the kernel headers, in one place. No logic.
  .target(name: "CDialtoneSystem"),
  // Targets, flags, monitors. No Foundation.
  .target(name: "Dialtone", dependencies: ["CDialtoneSystem"]),
  // NotificationCenter and URL: what needs Foundation.
  .target(name: "DialtoneFoundation", dependencies: ["Dialtone"]),
  // Apple's Network, as far as it is about paths; on Apple's platforms, Network itself.
  .target(name: "DialtoneNetwork", dependencies: ["CDialtoneSystem", "Dialtone", "SocketAddressLengths"]),
  // Apple's SCNetworkReachability; on Apple's platforms, SystemConfiguration itself.
  .target(
    name: "DialtoneSystemConfiguration",
    dependencies: ["CDialtoneSystem", "Dialtone", "DialtoneFoundation", "SocketAddressLengths"]),
  // What Apple's socket addresses have and Linux's do not, for both.
  .target(name: "SocketAddressLengths"),
  // A scripted network and clock, for users' own tests.
  .target(name: "DialtoneTesting", dependencies: ["CDialtoneSystem", "Dialtone"]),

  // Samples to read, to run and to copy from.
  .executableTarget(name: "Listening", dependencies: ["Dialtone", "DialtoneFoundation"], path: "Examples/Listening"),
  .executableTarget(name: "SyncWhenBack", dependencies: ["Dialtone"], path: "Examples/SyncWhenBack"),
  .executableTarget(name: "BackupOffCellular", dependencies: ["Dialtone"], path: "Examples/BackupOffCellular"),

  // Waiting for what must come, repeatable random numbers, what a process holds: for all tests.
  .target(name: "CTestSupport", path: "Tests/CTestSupport"),
  .target(
    name: "TestSupport", dependencies: ["CDialtoneSystem", "CTestSupport", "Dialtone"],
    path: "Tests/TestSupport"),
  // What messages are built of that Dialtone reads and never sends.
  .target(name: "MessageBuilding", dependencies: ["CDialtoneSystem", "Dialtone"], path: "Tests/MessageBuilding"),
  // The definitions of the kernel that are used where its headers are not installed, beside these headers.
  .target(name: "CKernelDefinitions", path: "Tests/CKernelDefinitions", exclude: ["list.inc"]),
  // Two libraries that use Dialtone and do not know of each other, for the test that they share one engine.
  .target(name: "FirstLibrary", dependencies: ["Dialtone"], path: "Tests/SharingLibraries/FirstLibrary"),
  .target(name: "SecondLibrary", dependencies: ["Dialtone"], path: "Tests/SharingLibraries/SecondLibrary"),
  .testTarget(
    name: "NetlinkTests",
    dependencies: ["CDialtoneSystem", "CKernelDefinitions", "Dialtone", "MessageBuilding", "TestSupport"]),
  .testTarget(
    name: "DialtoneTests",
    dependencies: [
      "CDialtoneSystem", "CTestSupport", "Dialtone", "DialtoneTesting", "FirstLibrary", "SecondLibrary",
      "TestSupport",
    ]),
  .testTarget(
    name: "DialtoneFoundationTests",
    dependencies: ["Dialtone", "DialtoneFoundation", "DialtoneTesting", "TestSupport"]),
  // Real network namespaces, and a writer of links, addresses, routes, rules and nexthops.
  .target(name: "CNetworkLab", path: "Tests/CNetworkLab"),
  .target(name: "NetworkLab", dependencies: ["CNetworkLab"], path: "Tests/NetworkLab"),
]

#if os(Linux)
package.targets += [
  .testTarget(
    name: "LinuxTests",
    dependencies: [
      "CDialtoneSystem", "CNetworkLab", "Dialtone", "DialtoneTesting", "MessageBuilding", "NetworkLab", "TestSupport",
    ]),
  // The program under test of Scripts/radio-lab.
  .executableTarget(name: "radio-probe", dependencies: ["CDialtoneSystem", "Dialtone"], path: "Tests/RadioLab/Probe"),
  // Source as programs for Apple's platforms have it, in both language modes. The second's folder leads to the first's.
  .target(
    name: "AppleWrappers", dependencies: ["DialtoneNetwork", "DialtoneSystemConfiguration"],
    path: "Tests/AppleWrappers"),
  .target(
    name: "AppleWrappers5", dependencies: ["DialtoneNetwork", "DialtoneSystemConfiguration"],
    path: "Tests/AppleWrappers5", swiftSettings: [.swiftLanguageMode(.v5)]),
  // The source for Apple's platforms, the same files, over the modules above instead of Apple's frameworks.
  .target(
    name: "AppleSource",
    dependencies: ["CDialtoneSystem", "Dialtone", "DialtoneNetwork", "DialtoneSystemConfiguration"],
    path: "Tests/AppleSource", swiftSettings: [.define("DIALTONE_APPLE_SOURCE")]),
  .testTarget(
    name: "AppleTests",
    dependencies: [
      "AppleSource", "AppleWrappers", "AppleWrappers5", "Dialtone", "DialtoneNetwork", "DialtoneSystemConfiguration",
      "NetworkLab", "TestSupport",
    ]),
]
#endif

// MARK: - Sites and the command, which need other packages

// With DIALTONE_CORE_ALONE=1 the core and its tests build by themselves, in a quarter of the time.
if Context.environment["DIALTONE_CORE_ALONE"] == nil {
  package.products += [
    .library(name: "DialtoneSites", targets: ["DialtoneSites"]),
    .library(name: "DialtoneDiagnosis", targets: ["DialtoneDiagnosis"]),
    .library(name: "DialtoneSitesTesting", targets: ["DialtoneSitesTesting"]),
    .library(name: "DialtoneNIO", targets: ["DialtoneNIO"]),
    .library(name: "DialtoneHTTPClient", targets: ["DialtoneHTTPClient"]),
    .library(name: "DialtoneGRPC", targets: ["DialtoneGRPC"]),
    .library(name: "DialtoneServices", targets: ["DialtoneServices"]),
  ]
  package.targets += [
    // Whether a site really answers: checks over HTTP. No Foundation.
    .target(
      name: "DialtoneSites",
      dependencies: [
        "CDialtoneSystem", "Dialtone", "SitesTrait",
      ] + products(of: "swift-nio", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOTLS")
        + products(of: "swift-nio-http2", "NIOHPACK", "NIOHTTP2") + products(of: "swift-nio-ssl", "NIOSSL")),
    // What is wrong between this machine and a target: findings, rules, verdicts.
    .target(name: "DialtoneDiagnosis", dependencies: ["CDialtoneSystem", "Dialtone", "DialtoneSites"]),
    // Says which trait is missing, where it is. Nothing else.
    .target(name: "SitesTrait"),
    // Connections of swift-nio that know their path. No Foundation.
    .target(
      name: "DialtoneNIO",
      dependencies: ["CDialtoneSystem", "Dialtone"] + products(of: "swift-nio", "NIOCore", trait: "NIO")),
    // The same for AsyncHTTPClient. This target and the next two are empty without their traits, as in a clone;
    // Tests/Connections builds and tests them.
    .target(
      name: "DialtoneHTTPClient",
      dependencies: ["Dialtone", "DialtoneNIO"]
        + products(of: "async-http-client", "AsyncHTTPClient", trait: "HTTPClient")
        + products(of: "swift-log", "Logging", trait: "HTTPClient")
        + products(of: "swift-nio", "NIOCore", "NIOHTTP1", "NIOPosix", trait: "HTTPClient")
        + products(of: "swift-nio-http2", "NIOHTTP2", trait: "HTTPClient")),
    // The same for gRPC.
    .target(
      name: "DialtoneGRPC",
      dependencies: ["Dialtone", "DialtoneNIO"]
        + products(of: "grpc-swift-2", "GRPCCore", trait: "GRPC")
        + products(of: "grpc-swift-nio-transport", "GRPCNIOTransportHTTP2Posix", trait: "GRPC")
        + products(of: "swift-nio", "NIOCore", trait: "GRPC")),
    // What a server needs: a service that waits, logs and metrics.
    .target(
      name: "DialtoneServices",
      dependencies: ["Dialtone"]
        + products(of: "swift-log", "Logging", trait: "Services")
        + products(of: "swift-metrics", "Metrics", trait: "Services")
        + products(of: "swift-service-lifecycle", "ServiceLifecycle", trait: "Services")),
    .testTarget(
      name: "NIOTests",
      dependencies: ["CTestSupport", "Dialtone", "DialtoneNIO", "DialtoneTesting", "NetworkLab", "TestSupport"]
        + products(of: "swift-nio", "NIOCore", "NIOEmbedded", "NIOPosix", trait: "NIO")),
    // Scripted sites, for the tests of programs that check sites. Apart, since it brings swift-nio.
    .target(
      name: "DialtoneSitesTesting", dependencies: ["CDialtoneSystem", "Dialtone", "DialtoneSites", "DialtoneTesting"]),
    .executableTarget(name: "SiteStatus", dependencies: ["Dialtone", "DialtoneSites"], path: "Examples/SiteStatus"),

    // Servers for trials of site checks, honest and hostile, and their certificates.
    .target(
      name: "SiteLab",
      dependencies: [
        "CNetworkLab", "NetworkLab", "TestSupport",
      ] + products(of: "swift-nio", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix")
        + products(of: "swift-nio-ssl", "NIOSSL"),
      path: "Tests/SiteLab", exclude: ["Certificates", "make-certificates"]),
    .testTarget(
      name: "SitesTests",
      dependencies: [
        "CTestSupport", "Dialtone", "DialtoneDiagnosis", "DialtoneSites", "DialtoneSitesTesting", "DialtoneTesting",
        "NetworkLab", "SiteLab", "TestSupport",
      ] + products(of: "swift-nio", "NIOConcurrencyHelpers", "NIOCore", "NIOEmbedded", "NIOHTTP1", "NIOPosix")
        + products(of: "swift-nio-ssl", "NIOSSL")),
  ]

  #if os(Linux)
  // The command waits with epoll(7).
  package.products += [.executable(name: "dialtone", targets: ["DialtoneCLI"])]
  package.targets += [
    // What the command needs of libc and the kernel beyond the library. No logic.
    .target(name: "CDialtoneCommand"),
    // What outages there were: a journal of them, and what it tells.
    .target(
      name: "DialtoneJournal",
      dependencies: [
        "CDialtoneCommand", "CDialtoneSystem", "Dialtone", "DialtoneDiagnosis", "DialtoneSites",
      ]),
    .testTarget(
      name: "JournalTests",
      dependencies: [
        "CDialtoneSystem", "CTestSupport", "Dialtone", "DialtoneDiagnosis", "DialtoneJournal", "DialtoneTesting",
        "TestSupport",
      ]),
    // What Prometheus reads: probes as blackbox_exporter has them, and metrics.
    .target(
      name: "DialtoneExporter",
      dependencies: ["CDialtoneSystem", "Dialtone", "DialtoneDiagnosis", "DialtoneSites"]
        + products(of: "swift-nio", "NIOCore", "NIOHTTP1", "NIOPosix", trait: "Command")
        + products(of: "swift-nio-ssl", "NIOSSL", trait: "Command")),
    .testTarget(
      name: "ExporterTests",
      dependencies: [
        "CDialtoneSystem", "CTestSupport", "Dialtone", "DialtoneExporter", "DialtoneSites", "DialtoneTesting",
        "NetworkLab", "SiteLab", "TestSupport",
      ] + products(of: "swift-nio", "NIOCore", "NIOEmbedded", "NIOHTTP1", "NIOPosix")),
    .executableTarget(
      name: "DialtoneCLI",
      dependencies: [
        "CDialtoneCommand", "CDialtoneSystem", "Dialtone", "DialtoneDiagnosis", "DialtoneExporter", "DialtoneJournal",
        "DialtoneSites",
      ] + products(of: "swift-argument-parser", "ArgumentParser")),
    .testTarget(
      name: "CLITests",
      dependencies: [
        "BackupOffCellular", "CDialtoneSystem", "Dialtone", "DialtoneCLI", "DialtoneDiagnosis", "DialtoneJournal",
        "DialtoneSites", "Listening", "NetworkLab", "SiteLab", "SiteStatus", "SyncWhenBack", "TestSupport",
      ] + products(of: "swift-argument-parser", "ArgumentParser")
        + products(of: "swift-nio", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix")),
    // The sample app without its views, for its tests: SwiftUI is Apple's.
    .target(
      name: "ReachabilityModel", dependencies: ["Dialtone", "DialtoneSites"], path: "Examples/ReachabilityApp/Model"),
    .testTarget(
      name: "ReachabilityModelTests",
      dependencies: [
        "Dialtone", "DialtoneSites", "DialtoneSitesTesting", "DialtoneTesting", "ReachabilityModel", "TestSupport",
      ]),
  ]
  #elseif os(macOS)
  package.targets += [
    .executableTarget(
      name: "ReachabilityApp", dependencies: ["Dialtone", "DialtoneSites"], path: "Examples/ReachabilityApp")
  ]
  #endif
}

// MARK: - The same settings for every target

for target in package.targets {
  var settings = target.swiftSettings ?? []
  // The others of these names are compiled as their authors would.
  if !target.name.hasPrefix("Apple") || target.name == "AppleSource" {
    settings += [
      .enableUpcomingFeature("ExistentialAny"),  // SE-0335
      .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
      .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
      .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
      .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
      .strictMemorySafety(),  // SE-0458: kernel bytes are untrusted
    ]
  }
  // SE-0480: for our own checks only, so that a newer compiler breaks nobody. CI is set where others build, too.
  if Context.environment["DIALTONE_STRICT"] != nil {
    settings.append(.treatAllWarnings(as: .error))
    // A public type of a library says whether it is Sendable.
    if target.path?.hasPrefix("Tests/") != true && !target.isTest || target.name == "AppleSource" {
      settings.append(.treatWarning("ExplicitSendable", as: .error))
    }
  }
  target.swiftSettings = settings
}
