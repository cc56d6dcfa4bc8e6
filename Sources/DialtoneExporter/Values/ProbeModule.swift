// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone
package import DialtoneSites

/// How targets are probed, by blackbox_exporter's word: what stands under `modules` in its configuration.
package struct ProbeModule: Sendable {
  package enum Prober: String, Sendable {
    case http, tcp
  }

  package let name: String
  package var prober: Prober
  /// `nil` for as long as the scrape allows.
  package var timeout: Duration?
  /// As it is written in the configuration, without secrets.
  package var written: String
  /// The only interface.
  package var interface: String?

  // MARK: http

  package var method = SiteCheckConfiguration.Method.get
  /// Any from 200 to 299 if there is none.
  package var statuses: Set<Int> = []
  /// Such as "HTTP/1.1"; any if there is none.
  package var versions: [String] = []
  package var enablesHTTP2 = true
  package var failsWithTLS = false
  package var failsWithoutTLS = false
  package var forbidden: [RegularExpression] = []
  package var required: [RegularExpression] = []
  package var fields: [SiteInspection.Field] = []
  package var followsRedirects = true

  // MARK: tcp

  package var usesTLS = false

  // MARK: Both

  package var trust: SiteTrust = .system
  /// The file that this was read from.
  package var trustFile: String?
  package var serverName: HostName?
  package var verifiesCertificate = true
  /// `nil` for both families, raced.
  package var preferredFamily: IPAddress.Family?
  package var fallsBack = true

  package init(name: String, prober: Prober) {
    self.name = name
    self.prober = prober
    written = "prober: \(prober)"
  }

  var readsBody: Bool { !forbidden.isEmpty || !required.isEmpty }
}

extension HostName {
  /// Reads a name that is sent, or proven, in the place of the target's. An address would be none.
  package init(inPlaceOfTarget text: String) throws(ReachabilityError) {
    let isBracketed = text.first == "[" && text.last == "]"
    if IPAddress(isBracketed ? text.dropFirst().dropLast() : text[...]) != nil {
      let words = "\(HostText.quoted(text)) is an address; give a name, such as example.com"
      throw ReachabilityError(.invalidAddress, words)
    }
    self = try HostName(text)
  }
}

package struct ExporterConfiguration: Sendable {
  package var modules: [String: ProbeModule]

  package init(modules: [ProbeModule]) {
    self.modules = Dictionary(modules.map { ($0.name, $0) }) { $1 }
  }

  /// The module of requests that name none, as for blackbox_exporter.
  static let usualModule = "http_2xx"

  /// Those of blackbox_exporter's own example that Dialtone can have without a file.
  package static let usual = ExporterConfiguration(modules: [
    ProbeModule(name: usualModule, prober: .http), ProbeModule(name: "tcp_connect", prober: .tcp),
  ])
}

/// Why a configuration cannot be used: with its line, and what to do.
package struct ConfigurationError: Error, CustomStringConvertible {
  /// From 1; `nil` if it is about no line in particular.
  package let line: Int?
  package let message: String

  package var description: String { line.map { "line \($0): \(message)" } ?? message }
}
