// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

extension ExporterConfiguration {
  /// Far more than anybody writes by hand.
  package static let sizeLimit = 1 << 20

  /// Reads blackbox_exporter's YAML, as far as Dialtone can honour it. `file` reads the file of a key `ca_file`.
  ///
  /// - Throws: For any key or value that cannot be honoured, with its line.
  package init(
    yaml: String, file: @escaping (String) throws -> String
  ) throws(ConfigurationError) {
    let root = try YAMLValue(reading: yaml)
    var modules: [ProbeModule] = []
    for (key, value) in try root.entries() {
      guard key.text == "modules" else { throw key.refusal("there is no such key; a file has modules") }
      for (name, module) in try value.entries() {
        modules.append(try ModuleReader(file: file).module(named: name.text, module))
      }
    }
    if modules.isEmpty { throw ConfigurationError(line: nil, message: "modules: none is there") }
    self.init(modules: modules)
  }

  /// Reads the files of `ca_file` anew: they are replaced before their certificates end. If one cannot be read, or has
  /// no certificate, what was read before stays in use, and the reason is returned.
  mutating func readTrust(file: (String) throws -> String) -> String? {
    var failure: String?
    for (name, module) in modules {
      guard let path = module.trustFile else { continue }
      do {
        let text = try file(path)
        // To read many certificates takes long.
        if module.trust != .pem(text) { modules[name]?.trust = try .readable(text) }
      } catch {
        failure = "ca_file: \(path): \(error)"
      }
    }
    return failure
  }
}

private struct ModuleReader {
  let file: (String) throws -> String

  private static let given = "Dialtone has http and tcp; remove the module, or leave it to blackbox_exporter"

  func module(named name: String, _ value: YAMLValue) throws(ConfigurationError) -> ProbeModule {
    let entries = try value.entries()
    guard let probed = entries.first(where: { $0.key.text == "prober" }) else {
      throw value.refusal("\(name) has no prober; give http or tcp")
    }
    guard let prober = ProbeModule.Prober(rawValue: try probed.value.string()) else {
      throw probed.value.refusal("prober: \(probed.value.shown) cannot be honoured; \(Self.given)")
    }
    var module = ProbeModule(name: name, prober: prober)
    module.written = value.written
    for (key, value) in entries {
      switch key.text {
      case "prober": break
      case "timeout": module.timeout = try value.duration("timeout")
      case "interface": module.interface = try interface(value)
      case "http" where prober == .http:
        let entries = try value.entries()
        for (key, value) in entries { try readHTTP(key, value, into: &module) }
        // The older key counts if both are there, in either order.
        if let older = entries.first(where: { $0.key.text == "no_follow_redirects" }) {
          module.followsRedirects = try !older.value.boolean(older.key.text)
        }
      case "tcp" where prober == .tcp:
        for (key, value) in try value.entries() { try readBoth(key, value, into: &module) }
      default: throw key.refusal("a module of the prober \(prober) has no such key that can be honoured; remove it")
      }
    }
    return module
  }

  /// A name that the kernel would take (dev_valid_name, net/core/dev.c). The interface may come later.
  private func interface(_ value: YAMLValue) throws(ConfigurationError) -> String {
    let name = try value.string()
    let isTooLong = name.utf8.count > LinkName.capacity
    let isForbidden = name.unicodeScalars.contains { $0.properties.isWhitespace || "/:\0".unicodeScalars.contains($0) }
    if name.isEmpty || isTooLong || [".", ".."].contains(name) || isForbidden {
      throw value.refusal("interface: \(value.shown) is no name of an interface; give one such as eth0")
    }
    return name
  }

  private func readHTTP(_ key: YAMLKey, _ value: YAMLValue, into module: inout ProbeModule) throws(ConfigurationError) {
    switch key.text {
    case "method":
      guard let method = SiteCheckConfiguration.Method(rawValue: try value.string().uppercased()) else {
        throw value.refusal("method: \(value.shown) cannot be honoured; give GET or HEAD")
      }
      module.method = method
    case "valid_status_codes":
      module.statuses = Set(
        try value.items().map { item throws(ConfigurationError) in
          try item.integer("valid_status_codes", in: 200...999)
        })
    case "valid_http_versions":
      module.versions = try value.items().map { item throws(ConfigurationError) in try item.string() }
      if !module.versions.isEmpty, Set(module.versions).isDisjoint(with: ["HTTP/1.0", "HTTP/1.1", "HTTP/2.0"]) {
        throw key.refusal("Dialtone speaks HTTP/1.1 and HTTP/2, so no target would pass; add \"HTTP/1.1\"")
      }
    case "fail_if_ssl": module.failsWithTLS = try value.boolean(key.text)
    case "fail_if_not_ssl": module.failsWithoutTLS = try value.boolean(key.text)
    case "fail_if_body_matches_regexp": module.forbidden = try expressions(value, key)
    case "fail_if_body_not_matches_regexp": module.required = try expressions(value, key)
    case "headers": module.fields = try fields(value)
    case "follow_redirects": module.followsRedirects = try value.boolean(key.text)
    case "no_follow_redirects": break
    case "enable_http2": module.enablesHTTP2 = try value.boolean(key.text)
    default: try readBoth(key, value, into: &module)
    }
  }

  private func readBoth(_ key: YAMLKey, _ value: YAMLValue, into module: inout ProbeModule) throws(ConfigurationError) {
    switch key.text {
    case "tls" where module.prober == .tcp: module.usesTLS = try value.boolean(key.text)
    case "preferred_ip_protocol":
      switch try value.string() {
      case "ip4": module.preferredFamily = .ipv4
      case "ip6": module.preferredFamily = .ipv6
      default: throw value.refusal("preferred_ip_protocol: \(value.shown) is neither ip4 nor ip6")
      }
    case "ip_protocol_fallback":
      module.fallsBack = try value.boolean(key.text)
      // blackbox_exporter prefers this one if nothing is said.
      if !module.fallsBack, module.preferredFamily == nil { module.preferredFamily = .ipv6 }
    case "tls_config": for (key, value) in try value.entries() { try readTLS(key, value, into: &module) }
    default:
      throw key.refusal("it cannot be honoured; correct it, remove it, or leave it to blackbox_exporter if that has it")
    }
  }

  private func readTLS(_ key: YAMLKey, _ value: YAMLValue, into module: inout ProbeModule) throws(ConfigurationError) {
    switch key.text {
    case "insecure_skip_verify": module.verifiesCertificate = try !value.boolean(key.text)
    case "server_name":
      let text = try value.string()
      do throws(ReachabilityError) {
        module.serverName = try HostName(inPlaceOfTarget: text)
      } catch {
        throw value.refusal("server_name: \(error)")
      }
    case "ca_file":
      let path = try value.string()
      do {
        module.trust = try .readable(file(path))
        module.trustFile = path
      } catch {
        throw value.refusal("ca_file: \(value.shown): \(error)")
      }
    default:
      throw key.refusal("it cannot be honoured; of tls_config, ca_file, server_name and insecure_skip_verify can")
    }
  }

  private func expressions(_ value: YAMLValue, _ key: YAMLKey) throws(ConfigurationError) -> [RegularExpression] {
    var expressions: [RegularExpression] = []
    for item in try value.items() {
      let text = try item.string()
      do throws(RegularExpression.Refusal) {
        expressions.append(try RegularExpression(text))
      } catch {
        throw item.refusal("\(key.text): \(item.shown) cannot be matched: \(error.message)")
      }
    }
    return expressions
  }

  /// Fields that say how the message is framed, or that a check has to keep to itself.
  private static let ownFields: Set<String> = [
    "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer", "expect", "keep-alive",
  ]

  private func fields(_ value: YAMLValue) throws(ConfigurationError) -> [SiteInspection.Field] {
    try value.entries().map { key, value throws(ConfigurationError) in
      let text = try value.string()
      guard !key.text.isEmpty, key.text.utf8.allSatisfy(ASCII.isTokenByte) else {
        throw key.refusal("this is no name of a header (RFC 9110, 5.1)")
      }
      if Self.ownFields.contains(ASCII.folded(key.text)) {
        throw key.refusal("this header belongs to the connection, and cannot be set; remove it")
      }
      guard text.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else {
        throw value.refusal("headers: a value has a line break or another control character")
      }
      return SiteInspection.Field(name: key.text, value: text)
    }
  }
}
