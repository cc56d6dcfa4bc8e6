// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

struct StatusCommand: TargetCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Print the state of each target once.",
    usage: "dialtone status [<options>] [<target> ...]",
    discussion: """
      The lines have the order given. A name that cannot be looked up for now is waited for until the timeout. A \
      target given twice counts once.

      Exit status: 0 all targets are reachable, 1 some target is not, 2 it cannot be told: some target is still \
      undetermined, and none is known to be unreachable.

      EXAMPLES
        dialtone status
        dialtone status --json internet local-network
        dialtone status -4 https://example.com/ --timeout 2.5
        dialtone status example.com:443 [2001:db8::1]:22
        dialtone status --udp --port 53 192.0.2.7
        dialtone status 192.0.2.7 --from 198.51.100.4
        dialtone status --from-file hosts
        if dialtone status -q; then ...
      """)

  @OptionGroup var lists: ListOptions

  @OptionGroup var families: FamilyOptions

  @OptionGroup var options: TargetOptions

  @Option(timeout: "Wait this long at most, such as 30s or 5m (default: 10s).")
  var timeout: Duration?

  @OptionGroup var quiet: QuietOptions

  func prepare() throws -> Work { try request().run }

  func request() throws -> StatusRequest {
    var request = StatusRequest(targets: try targetRequest(), printsJSON: options.json, isQuiet: quiet.isQuiet)
    if let timeout { request.timeout = timeout }
    return request
  }
}
