// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import DialtoneSites

/// How a diagnosis is made.
public struct DiagnosisConfiguration: Sendable {
  /// How long it may take in all. With zero or less, it only asks the kernel.
  public var timeout: Duration

  /// The only interface that counts, by name; `nil` for any.
  public var interface: String?

  /// The only address family that counts; `nil` for both, each by itself.
  public var family: IPAddress.Family?

  /// Who may vouch for the certificate of a site.
  public var trust: SiteTrust = .system

  /// Whether root servers of the DNS may be asked if names or the target fail, or if the target is the Internet. It
  /// tells a dead uplink from dead name servers and targets.
  public var asksBeyondRouter = true

  /// States that you have seen of the target, the oldest first: what changed in the last minute is told as a step.
  public var history: [Reachability] = []

  /// Ten seconds or your time, any interface, both families, trusting whom the system trusts.
  public init(timeout: Duration = .seconds(10)) { self.timeout = timeout }
}

/// What a diagnosis is about.
public struct DiagnosisSubject: Hashable, Sendable {
  /// The subject as you would type it.
  public let text: String
  /// What would have to succeed.
  public let goal: DiagnosisGoal
  /// `nil` for the Internet in general, or the network.
  package let host: SiteURL.Host?
  /// `nil` for none in particular.
  package let port: UInt16?
  package let url: SiteURL?

  init(_ target: ReachabilityTarget) {
    text = target.description
    url = nil
    port = target.port
    host =
      switch target.storage {
      case .internet, .localNetwork: nil
      case .host(let name): .name(name)
      case .address(let address), .pair(_, let address):
        address.unmapped.isUnspecified ? nil : .address(address.unmapped)
      }
    goal = host == nil ? .internet : .host
  }

  init(_ url: SiteURL) {
    text = url.text
    goal = .site
    self.url = url
    port = url.port
    host = if case .address(let address) = url.lookupHost { .address(address.unmapped) } else { url.lookupHost }
  }

  package var isAddress: Bool { if case .address? = host { true } else { false } }

  /// The ports to connect to.
  var ports: [UInt16] { port.map { [$0] } ?? [443, 80] }
}
