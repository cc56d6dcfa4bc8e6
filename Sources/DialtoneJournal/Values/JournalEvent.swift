// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import DialtoneDiagnosis

/// One line of the journal.
package struct JournalEvent: Equatable, Sendable {
  package var at: Moment
  package var kind: Kind

  package init(_ kind: Kind, at: Moment) {
    self.kind = kind
    self.at = at
  }

  package enum Kind: Equatable, Sendable {
    /// A recorder begins.
    case start(Recorder)
    /// A file begins, and says what the files before it have left open. So each file can be read by itself.
    case file(Recorder, [TargetStatus], NetworkSummary?)
    /// A recorder ends by itself; the reason is a word, such as a signal's name.
    case stop(reason: String)
    /// Nothing has happened for a while, and the recorder is there.
    case alive
    /// A target is reachable, and no outage was open.
    case up(target: String)
    /// It is no longer known whether a target is reachable.
    case unknown(target: String, reason: String?)
    /// An outage begins, or goes on that the recorder before has begun.
    case begin(OpenOutage, isContinued: Bool)
    /// An open outage is explained.
    case cause(OpenOutage)
    /// An outage ends.
    case end(OpenOutage, how: String, isWaking: Bool)
    /// Packets leave by another way.
    case path(NetworkSummary)
    /// The machine was suspended until now, for this many microseconds.
    case sleep(Int64)
    /// The wall clock was set, by this many microseconds.
    case clock(Int64)
  }

  package struct Recorder: Equatable, Sendable {
    package var version: String
    /// The boot of the machine, in which all its clocks are comparable (random(4), boot_id).
    package var boot: String
    package var targets: [String]
  }

  package enum TargetStatus: Equatable, Sendable {
    case up(target: String)
    case unknown(target: String)
    case down(OpenOutage)

    package var target: String {
      switch self {
      case .up(let target), .unknown(let target): target
      case .down(let outage): outage.target
      }
    }
  }
}

/// An outage that has begun.
package struct OpenOutage: Equatable, Sendable {
  package var target: String
  package var began: Moment
  /// How long nobody watched since, in microseconds, because the recorder was started anew.
  package var unwatched: Int64 = 0
  /// The identifier of the kernel's reason, or of a site's verdict.
  package var reason: String?
  /// The state in words.
  package var words: String
  /// The layer that was stated before anything was explained; `nil` if the reason has to do.
  package var statedLayer: OutageLayer?
  /// Whether it was there when the recorder began to look, so that it may have begun before.
  package var wasFirst = false
  package var explanation: Explanation?
  /// Why it ended without an explanation.
  package var unexplained: Unexplained?

  package enum Unexplained: String, Sendable {
    /// It was over before its cause was found.
    case over
    /// There were too many explanations already.
    case limit
  }

  /// Whether it is down since no name server was heard, for all that is known of it alone.
  package var isNameUnheard: Bool {
    explanation.map { $0.cause == DiagnosisCause.nameServerSilent.identifier } ?? (layer == .nameServer)
  }

  package var layer: OutageLayer {
    if let explanation, explanation.layer != .unknown { return explanation.layer }
    return statedLayer ?? OutageLayer(reason: reason)
  }
}

/// The way by which packets for the Internet leave.
package struct NetworkSummary: Equatable, Sendable {
  /// `satisfied`, `unsatisfied`, `requires-connection` or `undetermined`.
  package var status: String
  /// The name and the kind of the first interface; `nil` if there is none.
  package var interface: String?
  package var kind: String?
  package var reason: String?
}
