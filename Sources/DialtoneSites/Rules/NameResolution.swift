// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What the lookups of a name come to, one for each family (RFC 8305, 3). Pure: an answer in, the next step out.
///
/// Invariants: what comes first does not wait for the other family, except IPv4, for the Resolution Delay at most.
/// Addresses are handed out once. It fails once, and only if no address has been handed out and no answer is still to
/// come.
struct NameResolution {
  enum Failure: Equatable {
    /// There is none.
    case noAddress
    /// There are only unspecified ones, which are no destination (RFC 1122, 3.2.1.3; RFC 4291, 2.5.2).
    case unspecified(IPAddress)
    /// There are only private ones, and public ones are required.
    case hijacked(IPAddress)
    /// It could not be found out.
    case failed
    /// It could not be found out, because the process or the system had run out of something.
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
  ///   - requiresPublicAddress: Whether addresses that are not public count as none.
  init(_ families: [IPAddress.Family], requiresPublicAddress: Bool) {
    pending = Set(families)
    self.requiresPublicAddress = requiresPublicAddress
  }

  /// Whether more may come.
  var isOpen: Bool { !pending.isEmpty }

  /// Whether there was an answer that the name has no address.
  private(set) var hasNoAddress = false

  /// The lookup of a family has ended, or of both if it is `nil`.
  mutating func ended(_ family: IPAddress.Family?, _ result: NameLookupResult) -> Step {
    if let family { pending.remove(family) } else { pending = [] }
    switch result {
    case .addresses(let addresses): take(addresses)
    case .noAddress: hasNoAddress = true
    case .failed: if failure == .noAddress { failure = .failed }
    case .exhausted(let errno):
      // This says more than that another family could not be looked up.
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
        // There was an answer, and it has no address.
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
