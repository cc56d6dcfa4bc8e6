// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// Which sites to ask, and how. All of it is checked before anything begins.
struct SiteRequest: Equatable, Sendable {
  let urls: [SiteURL]
  let configuration: SiteMonitorConfiguration

  /// Checks what was typed as arguments.
  init(_ texts: [String], configuration: SiteMonitorConfiguration) throws {
    try self.init(entries: TypedText.arguments(texts), configuration: configuration)
  }

  /// Checks what was typed. A URL typed twice counts once.
  init(entries: [TypedText], configuration: SiteMonitorConfiguration) throws {
    self.configuration = configuration
    var seen: Set<String> = []
    var urls: [SiteURL] = []
    for entry in entries where seen.insert(entry.text).inserted {
      do throws(SiteError) {
        urls.append(try SiteURL(entry.text))
      } catch {
        throw entry.refused(ValidationError("\(Self.name(of: entry)): \(error)"))
      }
    }
    if urls.isEmpty { throw ValidationError("URL: none was given; give one such as https://example.com/") }
    do throws(SiteError) {
      for url in urls { try configuration.validate(for: url) }
    } catch {
      // All other options have been checked by themselves. This one depends on the site and the environment.
      throw ValidationError(configuration.check.proxy == .none ? "\(error)" : "--use-proxy: \(error)")
    }
    for url in urls {
      guard case .address(let address) = url.host else { continue }
      try TargetRequest.check(
        address, called: "the host of \(HostText.quoted(url.text))", configuration.check.family,
        configuration.check.interface)
    }
    self.urls = urls
  }

  /// What tells a URL from the others. Text before an @ may be a secret: such a URL is told by its place alone.
  private static func name(of entry: TypedText) -> String {
    var name = "URL"
    if case .argument(let number?) = entry.place { name = "URL \(number)" }
    let text = entry.text
    return text.isEmpty || text.unicodeScalars.contains("@") ? name : "\(name) (\(HostText.quoted(text)))"
  }
}
