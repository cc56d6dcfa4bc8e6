// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone
package import NIOCore

/// Where checks and monitors of sites get their network, names and time: the system, or a script in tests.
///
/// All checks and monitors of one environment share one set of event loops, at most four threads. Up to 256 checks run
/// at a time, each with one connection, or up to four while it tries several addresses. Further checks wait for their
/// turn.
///
/// Names are looked up 64 at a time, each for both families. A lookup that takes longer than half a second does not
/// count any more, until 512 threads are at it. These threads exist only while they look names up. The event loops'
/// threads start with the first check, and end about a second after the last check and the last monitor have gone.
///
/// If many monitors would begin at once, made together or told of the same new path, their checks are spread: 16 at
/// once, then 500 a second.
public struct SiteEnvironment: Sendable {
  package let provider: SiteEngineProvider

  /// The system's network.
  public static let system = SiteEnvironment(alternativeNames: systemAlternativeNames)

  init(provider: SiteEngineProvider) { self.provider = provider }

  /// An environment of its own.
  ///
  /// - Parameters:
  ///   - reachability: Paths, names, and the clock that monitors go by.
  ///   - group: Where sockets are made and served; `nil` for threads of its own. It is never shut down.
  ///   - maximumChecks: How many checks may be under way at a time.
  ///   - random: Numbers from 0 up to 1, for jitter.
  ///   - names: What looks names up.
  ///   - alternativeNames: Further names of an interface.
  ///   - perform: What monitors do in place of a check.
  package init(
    reachability: ReachabilityEnvironment = .system, group: (any EventLoopGroup)? = nil, maximumChecks: Int = 256,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    names: NameLookupPool = SiteEngineProvider.makeNames(),
    alternativeNames: @escaping @Sendable (NetworkInterface) -> [String] = { _ in [] },
    perform: SiteEngineProvider.Perform? = nil
  ) {
    provider = SiteEngineProvider(
      reachability: reachability, group: group, maximumChecks: maximumChecks, random: random, perform: perform,
      names: names, alternativeNames: alternativeNames)
  }
}

/// The further names of an interface (`altname` of ip-link(8)), as the kernel tells them now; none if it does not say.
func systemAlternativeNames(of interface: NetworkInterface) -> [String] {
  #if os(Linux)  // interfaces have one name elsewhere
  return alternativeNames(ofInterface: interface.index)
  #else
  return []
  #endif
}
