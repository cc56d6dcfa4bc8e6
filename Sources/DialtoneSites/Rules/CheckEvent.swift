// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

extension CheckStateMachine {
  /// What the driver sees as it hands an event in.
  package struct Moment {
    /// Nanoseconds on a monotonic clock, that of the check's deadlines.
    var uptime: Int64
    /// Since 1970-01-01T00:00:00Z.
    var realtime: UTCTimestamp
    /// What is known of the paths that names are found by: the Internet's, then those to the name servers.
    var namePaths: [Reachability?] = []
    /// The route that is being tried, or was tried last.
    var attempt: Route?

    package init(uptime: Int64, realtime: UTCTimestamp, namePaths: [Reachability?] = [], attempt: Route? = nil) {
      self.uptime = uptime
      self.realtime = realtime
      self.namePaths = namePaths
      self.attempt = attempt
    }
  }

  /// What happens to a check.
  package enum Event: Sendable {
    /// What vouches for the site has been read, or could not be.
    case trustFound(SiteError?)
    /// A thread has begun to look the name up, at this uptime, and asks these servers as far as they are known.
    case lookupBegan(at: Int64, servers: [IPAddress])
    /// The lookup of one family has ended, or of both if it is `nil`.
    case lookupEnded(IPAddress.Family?, NameLookupResult)
    /// RFC 8305, 3: IPv4 addresses have waited long enough for IPv6 ones.
    case resolutionDelayPassed
    /// A family that has not answered has been waited for long enough.
    case namesTookLong
    /// Something is known of each path that names are found by.
    case namePathsKnown
    /// Something is known of the paths to these addresses, in their order.
    case pathsKnown([IPAddress], [Reachability])
    case connected(Route)
    /// No address could be connected to; `last` was tried last.
    case notConnected(SiteError, last: Route?)
    /// The proxy has let the check through.
    case tunnelOpened
    case tlsAgreed(PeerCertificate)
    /// With the end of the certificate, if one was shown.
    case tlsFailed(SiteError, certificateExpires: UTCTimestamp?)
    /// The certificate is among the trusted ones, though it is no authority's: over another connection, that is enough.
    case certificateIsTrusted
    case requestSent
    case requestNotSent(SiteError)
    case firstByte
    case head(VerdictRules.Head, isHTTP: Bool)
    /// More of the body has come, or its end.
    case body(VerdictRules.Body)
    /// The connection brings no answer, or no more of it.
    case lost(SiteError)
    case connectionClosed
    case deadlinePassed
    case cancelled
  }

  /// What the certificate that was shown says, once TLS has been agreed upon.
  package struct PeerCertificate: Sendable {
    /// Its last second, since 1970.
    var expires: UTCTimestamp?
    var isForSite: Bool
    var hasNames: Bool
    /// Why it is not enough although it names the site; `nil` if it is.
    var weakness: SiteError?

    package init(
      expires: UTCTimestamp? = nil, isForSite: Bool, hasNames: Bool = true, weakness: SiteError? = nil
    ) {
      self.expires = expires
      self.isForSite = isForSite
      self.hasNames = hasNames
      self.weakness = weakness
    }
  }

  /// What is to be done.
  package enum Action: Equatable {
    /// Hand in `deadlinePassed` at this uptime, and no longer at one that was set before.
    case setDeadline(Int64)
    case findTrust
    /// Look the name up, for each family by itself.
    case lookUp(HostName, [IPAddress.Family])
    /// Watch the path to the Internet, and hand in `namePathsKnown` once it is known.
    case watchPathToInternet
    case watchPathsToNameServers([IPAddress])
    /// Hand in `namePathsKnown` once all paths that are watched are known.
    case waitForNamePaths
    /// No path to names is of interest any more.
    case leaveNames
    case setResolutionDelay
    case setNamePatience
    case stopLookups
    /// Find the paths to these addresses; with `isTranslated` also through a translator between the families.
    case findPaths([IPAddress], isTranslated: Bool)
    /// Connect to the first of these that accepts. More may follow if it is open.
    case race([Route], isOpen: Bool)
    case addRoutes([Route])
    /// No more routes will follow.
    case closeRace
    /// Ask the proxy for a connection to the site.
    case openTunnel
    case startTLS
    case ask(SiteCheckConfiguration.Method)
    /// Hand in `body` as it comes.
    case readBody
    /// Hand in `connectionClosed` once that has happened.
    case closeConnection
    /// Stop everything, and report the verdict; `nil` for a check that was cancelled.
    case end(SiteVerdict?)
  }
}

/// The present stage of a check, and how long the former ones took.
struct StageClock {
  private(set) var stage: SiteVerdict.Stage
  var timings = SiteVerdict.Timings()
  private var began: Int64
  private var stageBegan: Int64

  init(_ stage: SiteVerdict.Stage, at uptime: Int64) {
    self.stage = stage
    began = uptime
    stageBegan = uptime
  }

  /// Begins a stage. Returns how long the one before took.
  @discardableResult
  mutating func begin(_ next: SiteVerdict.Stage, at uptime: Int64) -> Duration {
    defer {
      stage = next
      stageBegan = uptime
    }
    return .nanoseconds(uptime - stageBegan)
  }

  /// The time from the stage's beginning until now does not count.
  mutating func skip(until uptime: Int64) {
    began += uptime - stageBegan
    stageBegan = uptime
  }

  func deadline(after timeout: Duration) -> Int64 { began.addingClamped(timeout.nanosecondsClamped) }

  func stageDeadline(after timeout: Duration) -> Int64 { stageBegan.addingClamped(timeout.nanosecondsClamped) }

  /// A second connection follows, whose times count instead.
  mutating func forgetConnection() {
    timings.connect = nil
    timings.tls = nil
    timings.firstByte = nil
  }

  func timings(at uptime: Int64) -> SiteVerdict.Timings {
    var timings = timings
    timings.total = .nanoseconds(uptime - began)
    return timings
  }
}
