// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Whether targets are sites that are to be asked, and what.
struct WatchedSiteOptions: ParsableArguments {
  @Flag(
    name: .customLong("site"),
    help: "The targets are URLs of sites, which are asked whether they answer, again and again (see dialtone check).")
  var isWanted = false

  @OptionGroup var options: SiteOptions
}
