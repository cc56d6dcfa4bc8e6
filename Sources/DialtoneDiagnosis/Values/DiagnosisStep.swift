// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// One step on the way of a packet: what was looked at, and what was found.
///
/// The rules make steps of findings; make findings to have steps in a test.
public struct DiagnosisStep: Hashable, Sendable {
  /// What was looked at.
  public let kind: Kind

  /// The family that the step is about; `nil` if it is about both, or about none.
  public let family: IPAddress.Family?

  /// How it was found.
  public let outcome: Outcome

  /// What was found, for a person. It has no text of a stranger.
  public let text: String

  /// The same for programs, in a fixed order. Keys may be added.
  public let evidence: [DiagnosisEvidence]

  /// The rules alone make it.
  let charge: Charge?

  /// What would be wrong if this step were the first with a fault; `nil` if there is nothing wrong with it.
  public var cause: DiagnosisCause? { charge?.cause }

  /// Who proves ``cause``; `nil` if nobody does, so that it is likely at most.
  public var proof: DiagnosisProof? { charge?.proof }

  /// How sure ``cause`` is; `nil` if there is none.
  public var confidence: DiagnosisConfidence? { charge?.confidence }

  /// One command or act that may help; `nil` if there is nothing to do here.
  public let advice: String?

  /// How a step was found.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// Nothing is wrong with it.
    case ok
    /// It stops the packets.
    case fault
    /// Something is odd, and packets may pass in spite of it.
    case doubtful
    /// It was not looked at; the text says why.
    case skipped

    /// A short text that never changes, such as `ok`.
    public var identifier: String { rawValue }
  }

  /// What a step looks at. More may come: a `switch` over them needs a `default`.
  public struct Kind: Hashable, Sendable {
    /// A short text that never changes, such as `path-mtu`.
    public let identifier: String

    private init(_ identifier: String) { self.identifier = identifier }

    /// What changed lately, as far as you have told.
    public static let history = Kind("history")
    /// The interface that the packets leave by.
    public static let link = Kind("link")
    /// The addresses of this machine.
    public static let address = Kind("address")
    /// The routing rule that says which table counts.
    public static let rule = Kind("rule")
    /// The route, and its next hop.
    public static let route = Kind("route")
    /// The source address that the kernel chooses.
    public static let source = Kind("source")
    /// The neighbour on the link that gets the packets first: the gateway, or the target itself.
    public static let neighbour = Kind("neighbour")
    /// The other end of a tunnel, if the packets leave by one.
    public static let tunnel = Kind("tunnel")
    /// Whether a network that wants a login answers in others' place.
    public static let portal = Kind("portal")
    /// Whether somebody beyond the router answers.
    public static let beyond = Kind("beyond")
    /// The target's name, and the servers that were asked for it.
    public static let name = Kind("name")
    /// A connection to the target, in each family.
    public static let connect = Kind("connect")
    /// Whether large packets pass as small ones do.
    public static let pathMTU = Kind("path-mtu")
    /// Whether the target proves who it is.
    public static let tls = Kind("tls")
    /// What the target answers.
    public static let http = Kind("http")
    /// The proxy that other programs would use.
    public static let proxy = Kind("proxy")

    /// All kinds, in the order in which packets meet them.
    public static let all: [Kind] = [
      history, link, address, rule, route, source, neighbour, tunnel, portal, beyond, name, connect, pathMTU, tls, http,
      proxy,
    ]

    /// Where it stands among them.
    var position: Int { Self.all.firstIndex(of: self) ?? Self.all.count }
  }
}

extension DiagnosisStep: CustomStringConvertible {
  /// The step in a line, such as "route: fault, no route to 192.0.2.1".
  public var description: String { "\(kind.identifier): \(outcome.identifier), \(text)" }
}

extension DiagnosisStep.Kind: CustomStringConvertible {
  /// The ``identifier``.
  public var description: String { identifier }
}

/// A fact that a step rests on, for programs.
public struct DiagnosisEvidence: Hashable, Sendable {
  /// The fact itself.
  public enum Value: Hashable, Sendable {
    /// Words, a name or an address.
    case text(String)
    /// A whole number; a key that ends in `Milliseconds`, `Seconds` or `Bytes` names its unit.
    case number(Int64)
    /// Whether something holds.
    case flag(Bool)
    /// Several texts.
    case list([String])
  }

  /// What the fact is about, in lower camel case.
  public let key: String
  /// The fact; `nil` if it is not known.
  public let value: Value?
}

/// How sure a verdict is.
public enum DiagnosisConfidence: String, Hashable, Sendable, CaseIterable, Comparable {
  /// Nothing was found that says so.
  case unknown
  /// It fits all that was found, and so might something else.
  case likely
  /// It is proven: ``DiagnosisProof`` says by whom.
  case certain

  /// A short text that never changes, such as `certain`.
  public var identifier: String { rawValue }

  /// Orders by how sure it is.
  public static func < (a: DiagnosisConfidence, b: DiagnosisConfidence) -> Bool { a.rank < b.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
