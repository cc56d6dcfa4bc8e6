// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// What a check does beyond judging an answer, for programs that tell all of it. Without one, a check is as
/// ``SiteCheckConfiguration`` describes it.
package struct SiteInspection: Hashable, Sendable {
  /// A field of the request. It takes the place of a check's own of the same name.
  package struct Field: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Whether a connection is enough, over https with TLS. Then nothing is asked, and no protocol is announced.
  package var endsWithConnection = false
  /// Whether a redirect's body is left unread: the caller follows it.
  package var skipsBodyOfRedirects = false
  /// Whether the check ends once 64 KiB of the body have come; else all of it is read.
  package var readsBeginning = false
  /// How many bytes of the body are handed over.
  package var keptBody = 0
  package var fields: [Field] = []
  /// The name that TLS announces, and that the certificate has to have; `nil` for the URL's.
  package var serverName: HostName?
  /// Whether the certificate has to prove who answers.
  package var verifiesCertificate = true
  /// The addresses to which it may connect; `nil` for any.
  package var admission: AddressAdmission?

  package init() {}

  /// How many bytes may come on the connection, all counted: the deadline ends what never ends.
  package static let connectionLimit = 1 << 30
}

package struct CheckDetails: Sendable {
  /// As Go and OpenSSL call it, such as "TLS 1.3"; `nil` without TLS.
  package var tlsVersion: String?
  /// The server's certificate in DER.
  package var certificate: [UInt8]?
  package var isHTTP2 = false
  /// Whether the version of HTTP may be all that the site refused.
  var wantsOtherVersion = false
  /// How many bytes came over https, on all connections.
  var received = 0
  /// The minor version of HTTP/1.
  package var minorVersion: Int?
  package var status: Int?
  /// The fields of the answer's head.
  package var fields: [SiteInspection.Field] = []
  /// The length in Content-Length, or 0 of an answer to GET that has no body; `nil` if nothing says.
  package var contentLength: Int?
  /// How many bytes of body came.
  package var bodyLength = 0
  /// The first of them.
  package var body: [UInt8] = []
  /// From the first byte of the answer to its end.
  package var transfer: Duration?
  /// An address to which the check was not allowed to connect.
  package var refused: IPAddress?
  /// Why no packet could leave this machine; `nil` if one could.
  package var pathReason: Reachability.Reason?
  /// How far the connection of a check that failed came, as the kernel tells at its end; `nil` if it does not.
  package var progress: StreamProgress?

  package init() {}

  /// The version of HTTP that was answered by, such as 1.1.
  package var version: Double { isHTTP2 ? 2 : minorVersion == 0 ? 1 : 1.1 }

  /// The first value of a field, whose name is given in lower case.
  package func value(of name: String) -> String? { fields.first { ASCII.areSame($0.name, name) }?.value }
}

/// Which packets of a connection have not arrived (tcp(7), TCP_INFO).
package struct StreamProgress: Hashable, Sendable {
  /// Whether something that was sent, also again, is not acknowledged.
  package var isUnacknowledged: Bool
  /// Whether segments came behind one that did not.
  package var hasGap: Bool
  /// How long ago something came.
  package var sinceReceived: Duration
  /// How many segments were sent again, the first one included.
  package var resent = 0
  /// Whether bytes have never left this machine, although nothing is under way and the other side has room for them:
  /// its own firewall or the like stops the segments.
  package var isUnsent = false
}

package struct CheckOutcome: Sendable {
  package let verdict: SiteVerdict
  package let details: CheckDetails
}
