// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import DialtoneSites

/// Finds out what is wrong between this machine and a target.
///
/// ```swift
/// for await event in Diagnosis(of: SiteURL("https://example.com/")) {
///   switch event {
///   case .began(let kind): print("looking at \(kind)…")
///   case .finding(let finding): for step in finding.steps { print(step) }
///   case .verdict(let verdict): print(verdict.summary, verdict.advice ?? "")
///   }
/// }
/// ```
///
/// It asks the kernel, and sends:
/// - to the gateway: one datagram to the discard port (RFC 863), so that the kernel asks for it on the link;
/// - to the name servers of resolv.conf(5): the target's name, and a name that cannot exist (`.invalid`, RFC 6761); for
///   the Internet the root, and a.root-servers.net if that does not tell enough;
/// - to the target: TCP connections that are closed at once, on its port, else on 443 and 80. If it has no URL, small
///   and large datagrams to port 33434 follow. If it has one, a check as `SiteCheck` makes it, a few times if it
///   fails. If nobody answers, an empty datagram goes to the port that was tried;
/// - to the proxy that the environment names for the URL: what a program would send to have a connection made;
/// - to two root servers of the DNS in each family: a question for the root's name servers (RFC 9609). They are asked
///   if the target is the Internet, or if it fails. One of them is connected to, too, and up to three others.
///   ``DiagnosisConfiguration/asksBeyondRouter`` leaves this out.
///
/// Nothing goes to anybody else. No privilege is needed. With CAP_NET_RAW it sees whether packets leave this machine,
/// and with CAP_NET_ADMIN it sees WireGuard's peers. Without them, the findings say what could not be seen.
///
/// Each iteration makes a new diagnosis, which begins at once and ends within ``DiagnosisConfiguration/timeout``.
/// If the iterating task is cancelled, or the iterator is released, the diagnosis ends, and its sockets are closed. The
/// iterator of a loop at the top level of `main.swift` is a global variable: after `break` the diagnosis goes on. Put
/// such a loop into a function.
public struct Diagnosis: AsyncSequence, Sendable {
  /// What happens in a diagnosis. Findings come as they are found; the verdict comes last.
  public enum Event: Hashable, Sendable {
    /// This is being looked at.
    case began(DiagnosisStep.Kind)
    /// This was found.
    case finding(Finding)
    /// This is wrong, or nothing is. No event follows.
    case verdict(DiagnosisVerdict)
  }

  /// What an iteration gives.
  public typealias Element = Event
  /// An iteration never throws.
  public typealias Failure = Never

  /// What it is about.
  public let subject: DiagnosisSubject
  /// How it is made.
  public let configuration: DiagnosisConfiguration
  let source: any EvidenceSource

  /// Begins, and returns what gives the events.
  public func makeAsyncIterator() -> Iterator {
    let (events, continuation) = AsyncStream<Event>.makeStream()
    let task = Task.detached {
      await DiagnosisRun(self) { continuation.yield($0) }.run()
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return Iterator(events: events.makeAsyncIterator())
  }

  /// Returns the verdict, once it is there.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before.
  public func verdict() async throws -> DiagnosisVerdict {
    for await event in self {
      if case .verdict(let verdict) = event { return verdict }
    }
    throw CancellationError()
  }

  /// Gives the events of one diagnosis.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var events: AsyncStream<Event>.Iterator

    /// Returns the next event; `nil` after the verdict, and if the task is cancelled.
    public mutating func next() async -> Event? { await events.next(isolation: #isolation) }
  }
}

extension Diagnosis {
  /// Makes a diagnosis of a target, which begins when you iterate.
  ///
  /// - Parameters:
  ///   - target: The Internet, a host or an address, perhaps with a port. The local network is taken as the Internet.
  ///   - configuration: How it is made.
  ///   - environment: Where the findings come from, such as ``ScriptedEvidence`` in a test.
  public init(
    of target: ReachabilityTarget = .internet, configuration: DiagnosisConfiguration = .init(),
    environment: any EvidenceSource
  ) {
    self.init(subject: DiagnosisSubject(target), configuration: configuration, source: environment)
  }

  /// Makes a diagnosis of a site, which is asked over HTTP, too.
  ///
  /// - Parameters:
  ///   - url: The site.
  ///   - configuration: How it is made.
  ///   - environment: Where the findings come from, such as ``ScriptedEvidence`` in a test.
  public init(of url: SiteURL, configuration: DiagnosisConfiguration = .init(), environment: any EvidenceSource) {
    self.init(subject: DiagnosisSubject(url), configuration: configuration, source: environment)
  }
}

/// A diagnosis belongs to one task at a time.
@available(*, unavailable)
extension Diagnosis.Iterator: Sendable {}

extension Finding {
  /// The finding in words, by itself: what it says may depend on others, which the verdict's steps count in.
  public var steps: [DiagnosisStep] {
    let readings = Reading.readings([self])
    let words = Words(target: "the target", goal: .host, readings: readings)
    return readings.map(words.step)
  }
}
