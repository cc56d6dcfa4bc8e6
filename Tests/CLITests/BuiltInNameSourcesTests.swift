// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneCLI

/// nsswitch.conf(5): an action belongs to the source before it, and the last line of a database counts. The lines are
/// those that distributions have.
struct BuiltInNameSourcesTests {
  @Test(
    arguments: [
      ("files dns", "files dns"),
      ("dns files", "dns files"),
      ("\tfiles\tmdns4_minimal [NOTFOUND=return] dns mymachines", "files dns"),
      ("mymachines resolve [!UNAVAIL=return] files myhostname dns", "files dns"),
      ("files [NOTFOUND=return] dns", "files [NOTFOUND=return] dns"),
      ("files[!UNAVAIL=return UNAVAIL=continue]dns # resolve", "files [!UNAVAIL=return UNAVAIL=continue] dns"),
      ("files", "files"), ("dns", "dns"),
      // Not closed: glibc takes such a line for an error.
      ("files [NOTFOUND=return", "files dns"),
      // systemd-resolved asks DNS; mDNS, NIS and SSSD are something else.
      ("files resolve [!UNAVAIL=return]", "files dns"), ("resolve files", "dns files"),
      ("files mdns4", "files"), ("files sss", "files"),
      // Nothing that a static executable can ask.
      ("nis", "files dns"), ("", "files dns"), ("[NOTFOUND=return] nis", "files dns"),
    ])
  func takesWhatGlibcItselfHas(line: String, chosen: String) {
    #expect(BuiltInNameSources.hosts(in: "passwd: files nis\n# hosts: dns\n  hosts: \(line)\nhostsx: dns\n") == chosen)
  }

  @Test func takesTheLastLineAndBothWithoutOne() {
    #expect(BuiltInNameSources.hosts(in: "hosts: files\nhosts: dns\n") == "dns")
    #expect(BuiltInNameSources.hosts(in: "passwd: files\n") == "files dns")
    #expect(BuiltInNameSources.hosts(in: "") == "files dns")
  }
}
