// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
public import Dialtone
public import DialtoneSites

/// What a scripted site answers to one check.
public struct ScriptedAnswer: Sendable {
  enum Storage {
    case response(status: Int, location: String?, body: String)
    /// Over http a redirect to a login page; over https a peer that is not the site.
    case portal
    case failure(SiteVerdict.Kind, SiteVerdict.Stage?, SiteError)
    case nothing
  }

  let storage: Storage
  var delay = Duration.zero
  var certificateExpires: UTCTimestamp?

  private init(_ storage: Storage) { self.storage = storage }

  /// An answer with this status, which the check's expectation judges.
  ///
  /// - Parameters:
  ///   - status: The status code, from 200 to 999. Another is none of a final answer: the check is `failed`.
  ///   - location: Where a redirect leads.
  ///   - body: The body, for expectations that need one.
  /// - Returns: The answer.
  public static func status(_ status: Int, location: String? = nil, body: String = "") -> ScriptedAnswer {
    ScriptedAnswer(.response(status: status, location: location, body: body))
  }

  /// A network that wants a login answers in the site's place. Over http it redirects to another host: `captivePortal`.
  /// Over https it cannot prove to be the site: `intercepted`.
  public static let portal = ScriptedAnswer(.portal)

  /// Nobody is there: the connection is refused, and the check is `failed` at `connect`.
  public static let outage = failure(at: .connect, SiteError(.cannotConnect, "connection refused", errno: ECONNREFUSED))

  /// The peer cannot prove to be the site: `intercepted`, also over http.
  public static let impostor = ScriptedAnswer(
    .failure(.intercepted, nil, SiteError(.certificateNameMismatch, "the certificate is for another name")))

  /// The site takes the request, and never answers: the check is `failed` at `response` once its timeout has passed.
  public static let silence = ScriptedAnswer(.nothing)

  /// The check is `failed` at a stage of your choice.
  ///
  /// - Parameters:
  ///   - stage: Where it fails.
  ///   - error: Why.
  /// - Returns: The answer.
  public static func failure(at stage: SiteVerdict.Stage, _ error: SiteError) -> ScriptedAnswer {
    ScriptedAnswer(.failure(.failed, stage, error))
  }

  /// The same answer from a site whose certificate ends then, for
  /// `SiteCheckConfiguration.minimumCertificateLifetime`. Otherwise it never does. Over http there is none.
  ///
  /// - Parameter timestamp: The last second in which the certificate is valid. If it has passed, the peer cannot prove
  ///   to be the site: `intercepted`.
  /// - Returns: The answer.
  public func certificateExpiring(at timestamp: UTCTimestamp) -> ScriptedAnswer {
    var answer = self
    answer.certificateExpires = timestamp
    return answer
  }

  /// The same answer from a slow site.
  ///
  /// - Parameter delay: How long it takes, by the network's clock; a negative one means zero. A check whose timeout is
  ///   not longer ends before.
  /// - Returns: The answer.
  public func after(_ delay: Duration) -> ScriptedAnswer {
    var answer = self
    answer.delay = max(.zero, delay)
    return answer
  }
}
