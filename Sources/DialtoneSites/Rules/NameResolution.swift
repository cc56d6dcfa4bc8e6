// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What the lookups of a name come to, one for each family (RFC 8305, 3): pure, an answer in, what is to be done out.
///
/// Invariants: what comes first is not kept waiting for the other family, IPv4 for no longer than the Resolution Delay;
/// addresses are handed out once; it fails once, and only if no address has been handed out and nobody is left to
/// answer.
struct NameResolution {
  /// Why there is no address to try.
  enum Failure: Equatable {
    /// There is none.
    case noAddress
    /// There are none but unspecified ones, which are no destination (RFC 1122, 3.2.1.3; RFC 4291, 2.5.2).
    case unspecified(IPAddress)
    /// There are none but private ones, and public ones are required.
    case hijacked(IPAddress)
    /// It could not be found out.
    case failed
    /// It could not be found out, since the process or the system had run out of something.
    case exhausted(errno: CInt)
  }

  enum Step: Equatable {
    /// Nothing, until another answer comes.
    case wait
    /// Nothing, until another answer comes, or the Resolution Delay has passed.
    case waitForIPv6
    /// Try these, beside those that were handed out before.
    case connect([IPAddress])
    case fail(Failure)
  }

  private let requiresPublicAddress: Bool
  private var pending: Set<IPAddress.Family>
  /// Found, and not handed out yet.
  private var found: [IPAddress] = []
  private var hasHandedOut = false
  private var failure = Failure.noAddress

  /// - Parameters:
  ///   - families: Which are looked up.
  ///   - requiresPublicAddress: Whether addresses that are not public are none.
  init(_ families: [IPAddress.Family], requiresPublicAddress: Bool) {
    pending = Set(families)
    self.requiresPublicAddress = requiresPublicAddress
  }

  /// Whether more may come.
  var isOpen: Bool { !pending.isEmpty }

  /// Whether somebody has answered that there is no address.
  private(set) var hasNoAddress = false

  /// The lookup of a family, or of both where it is `nil`, has ended.
  mutating func ended(_ family: IPAddress.Family?, _ result: NameLookupResult) -> Step {
    if let family { pending.remove(family) } else { pending = [] }
    switch result {
    case .addresses(let addresses): take(addresses)
    case .noAddress: hasNoAddress = true
    case .failed: if failure == .noAddress { failure = .failed }
    case .exhausted(let errno):
      // It says more than that another family was not found out.
      if failure == .noAddress || failure == .failed { failure = .exhausted(errno: errno) }
    }
    if found.isEmpty { return isOpen || hasHandedOut ? .wait : .fail(failure) }
    return hasHandedOut || family != .ipv4 || !isOpen ? handOut() : .waitForIPv6
  }

  /// The Resolution Delay has passed since `waitForIPv6`.
  mutating func delayPassed() -> Step { found.isEmpty ? .wait : handOut() }

  /// A family that has not answered yet is not waited for any more.
  mutating func close() { pending = [] }

  private mutating func take(_ addresses: [IPAddress]) {
    for address in addresses {
      if address.unmapped.isUnspecified {
        // Somebody has answered, and there is nothing there.
        hasNoAddress = true
        switch failure {
        case .noAddress, .failed, .exhausted: failure = .unspecified(address)
        case .unspecified, .hijacked: break
        }
      } else if requiresPublicAddress, !address.isPublic {
        if case .hijacked = failure { continue }
        failure = .hijacked(address)
      } else {
        found.append(address)
      }
    }
  }

  private mutating func handOut() -> Step {
    hasHandedOut = true
    defer { found = [] }
    return .connect(found)
  }
}
