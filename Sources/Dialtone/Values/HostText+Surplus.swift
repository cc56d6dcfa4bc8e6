// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension HostText {
  /// Returns an error that says what `text`, which is neither a host nor a URL, has besides the host, and what to write
  /// instead. Returns `nil` if something else is wrong.
  static func surplus(in text: String) -> ReachabilityError? {
    func error(_ problem: String, _ code: ReachabilityError.Code = .invalidHost) -> ReachabilityError {
      ReachabilityError(code, "\(quoted(text)) \(problem)")
    }
    if let url = incompleteURL(text) { return error("lacks a part of the :// after its scheme; write \(shown(url))") }
    let scalars = text.unicodeScalars
    // The caller's error says what is wrong with a zone.
    if scalars.contains("%") { return nil }
    if scalars.first == "/" || scalars.first == "?" || scalars.first == "#" {
      let rest = Substring(scalars.drop { $0 == "/" })
      return error("begins with \(scalars.first == "/" ? "a slash" : "what follows a host"); \(alone(host(of: rest)))")
    }
    let host = host(of: Substring(text))
    let rest = Substring(scalars[host.endIndex...])
    switch rest.unicodeScalars.first {
    case nil where scalars.first == "[" && scalars.last != "]" && scalars.contains(":"):
      return error("has no closing bracket; write an IPv6 address as 2001:db8::1", .invalidAddress)
    case nil where scalars.first != "[" && scalars.contains("]"):
      return error("has no opening bracket; write an IPv6 address as 2001:db8::1", .invalidAddress)
    case nil: return nil
    case "/" where IPAddress(host) != nil && isDecimal(rest.dropFirst()):
      return error("has the length of a prefix; \(alone(host))", .invalidAddress)
    case "/": return error("has a path; \(alone(host)), or a URL with its scheme")
    case "?", "#": return error("has a query or a fragment; \(alone(host)), or a URL with its scheme")
    case ":" where rest.count > 1 && isDecimal(rest.dropFirst().prefix { !"/?#".contains($0) }):
      if isDecimal(rest.dropFirst()) { return nil }
      return error("has a path, a query or a fragment; write a URL with its scheme, such as https://example.com:443/")
    case ":":
      return error(
        "has a colon, and no port behind it; give a host alone, one with a port such as example.com:443, or a URL")
    default: return error("goes on behind the bracket; \(alone(host))")
    }
  }

  /// Returns what to write if more than the host was given: the host, if it is one.
  static func alone(_ host: Substring) -> String {
    do throws(ReachabilityError) {
      switch try parse(String(host)) {
      case .name(let name): return "give the host alone: \(shown(name.text))"
      case .address(let address): return "give the host alone: \(address)"
      }
    } catch {
      return "give the host alone, such as example.com"
    }
  }

  /// Returns the beginning of `text` up to a port, path, query or fragment: the host. An IPv6 address needs no
  /// brackets.
  static func host(of text: Substring) -> Substring {
    let scalars = text.unicodeScalars
    if scalars.first == "[" { return scalars.firstIndex(of: "]").map { text[...$0] } ?? text }
    let host = Substring(scalars.prefix { !"/?#".unicodeScalars.contains($0) })
    guard let colon = host.unicodeScalars.firstIndex(of: ":"), !host.unicodeScalars[colon...].dropFirst().contains(":")
    else { return host }
    return host[..<colon]
  }

  /// Returns the URL that was meant by `http:example.com`, `https:/example.com` or `https//example.com`.
  private static func incompleteURL(_ text: String) -> String? {
    let scheme = text.unicodeScalars.prefix { $0 != ":" && $0 != "/" }
    let rest = Substring(text.unicodeScalars[scheme.endIndex...].drop { $0 == ":" || $0 == "/" })
    let name = ASCII.folded(Substring(scheme))
    guard name == "http" || name == "https" else { return nil }
    let url = "\(name)://\(rest)"
    do throws(ReachabilityError) {
      _ = try parse(url)
      return url
    } catch {
      // Perhaps this is a host of that name, with a port.
      return nil
    }
  }

  private static func isDecimal(_ text: Substring) -> Bool { text.utf8.allSatisfy(ASCII.isDigit) }
}
