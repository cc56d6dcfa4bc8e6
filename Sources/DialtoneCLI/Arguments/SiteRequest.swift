// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// Which sites are to be asked, and how, checked as a whole: nothing is begun before all of it is found right.
struct SiteRequest: Equatable, Sendable {
  let urls: [SiteURL]
  let configuration: SiteConfiguration

  /// Checks what was typed. A URL typed twice counts once.
  init(_ texts: [String], configuration: SiteConfiguration) throws {
    self.configuration = configuration
    var seen: Set<String> = []
    var urls: [SiteURL] = []
    for (position, text) in texts.enumerated() where seen.insert(text).inserted {
      do throws(SiteError) {
        urls.append(try SiteURL(text))
      } catch {
        throw ValidationError("\(Self.name(of: text, texts.count > 1 ? position + 1 : nil)): \(error)")
      }
    }
    if urls.isEmpty { throw ValidationError("URL: none was given; give one such as https://example.com/") }
    do throws(SiteError) {
      for url in urls { try configuration.validate(for: url) }
    } catch {
      // All other options have been tried by themselves; this one's meaning depends on the site and the environment.
      throw ValidationError(configuration.proxy == .none ? "\(error)" : "--use-proxy: \(error)")
    }
    self.urls = urls
  }

  /// What tells a URL from the others. What stands before an @ may be a secret: such a URL is told by its place alone.
  private static func name(of text: String, _ number: Int?) -> String {
    let name = number.map { "URL \($0)" } ?? "URL"
    return text.isEmpty || text.unicodeScalars.contains("@") ? name : "\(name) (\(HostText.quoted(text)))"
  }
}
