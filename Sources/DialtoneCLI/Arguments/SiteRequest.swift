// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import DialtoneSites

/// Which sites are to be asked, and how, checked as a whole: nothing is begun before all of it is found right.
struct SiteRequest: Equatable, Sendable {
  let urls: [SiteURL]
  let configuration: SiteConfiguration

  /// Checks what was typed. A URL typed twice counts once.
  init(_ texts: [String], configuration: SiteConfiguration) throws {
    self.configuration = configuration
    var seen: Set<String> = []
    do throws(SiteError) {
      var urls: [SiteURL] = []
      for text in texts where seen.insert(text).inserted { urls.append(try SiteURL(text)) }
      for url in urls { try configuration.validate(for: url) }
      self.urls = urls
    } catch {
      throw ValidationError(error.code == .invalidURL ? "URL: \(error)" : "\(error)")
    }
    if urls.isEmpty { throw ValidationError("URL: none was given; give one such as https://example.com/") }
  }
}
