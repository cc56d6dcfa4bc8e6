// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneDiagnosis
internal import DialtoneExporter
internal import DialtoneJournal
internal import DialtoneSites

struct RecordCommand: WordCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Write each outage to a journal, with its cause.",
    usage: "dialtone record [<options>] [<target> ...]",
    discussion: """
      It goes on until it is stopped. The journal is a folder with files by day, one line of JSON for each event. \
      dialtone outages tells what it says, and dialtone report draws it.

      At the beginning of an outage it looks for the cause, and again when something changes: at most once a minute \
      and 20 times an hour, ever more seldom for one outage. It sends one datagram to the gateway. Nothing goes beyond \
      the router except lookups of the targets' names, unless a target is a URL, which is asked again and again, or \
      --beyond is given: then it looks as dialtone explain does.

      A machine that sleeps, a clock that is set, and a recorder that is started anew make no outage. If the disk is \
      full, standard error says so, and what happens is written once there is room.

      --export has the same process answer Prometheus, as dialtone export does with these targets: its /metrics also \
      tells what was written, waits and is lost. On an address that others reach, it probes for nobody.

      The folder is the one of systemd (STATE_DIRECTORY), /var/lib/dialtone for root, and otherwise \
      $XDG_STATE_HOME/dialtone or ~/.local/state/dialtone.

      Exit status: 128 + n after signal n, 74 if the folder cannot be made, another recorder uses it, or --export \
      cannot listen.

      EXAMPLES
        dialtone record
        dialtone record internet example.com https://example.com/
        dialtone record --export 127.0.0.1:9115 internet
        sudo systemctl enable --now dialtone-record.service
        systemctl --user enable --now dialtone-record.service
      """)

  @Argument(
    help: ArgumentHelp(
      "internet; local-network; a host or an address, with or without a port; or an http or https URL.",
      valueName: "target"))
  var typed: [String] = []

  @Option("The folder of the journal.", value: "folder", completion: .directory)
  var directory: String?

  @Flag(help: "Look for causes beyond the router, too: root servers are asked, and the targets.")
  var beyond = false

  @Option(
    "Ask each URL again after this time, 100ms at least (default: 1m).", value: "duration",
    transform: { try DurationArgument.atLeast(.milliseconds(100), $0) })
  var every: Duration?

  @Option(
    "Let Prometheus read the targets and the recorder there: an address and a port, :PORT or unix:PATH.",
    value: "address")
  var export: String?

  @Option(
    name: .customLong("max-size"), "Keep this many megabytes at most; the oldest days go (default: 64).",
    value: "megabytes",
    transform: { text in
      guard let size = Int(text), (1...1_000_000).contains(size) else {
        throw ValidationError("give a whole number of megabytes, 1 to 1000000")
      }
      return size
    })
  var megabytes: Int?

  func prepare() throws -> Work {
    guard let folder = directory ?? JournalDirectory.usual(Environment.value, isRoot: geteuid() == 0) else {
      throw ValidationError("--directory: there is no HOME to keep a journal in; give a folder")
    }
    if folder.isEmpty { throw ValidationError("--directory: the name is empty; give a folder") }
    var configuration = Recorder.Configuration(directory: JournalDirectory(folder))
    configuration.asksBeyondRouter = beyond
    if let megabytes { configuration.sizeLimit = megabytes << 20 }
    let watched = try ExportCommand.watched(typed.isEmpty ? [WatchedTarget.usual.typed] : typed)
    let recorded = try watched.map { try target($0.name, $0.target) }
    let exported = try export.map {
      RecordExport(address: try ExportCommand.address($0, option: "--export"), targets: watched)
    }
    return { [configuration] in
      try RecordRunner(configuration: configuration, targets: recorded, export: exported).run()
    }
  }

  /// How long a site may take to answer: its outage is known after two of these.
  private static let timeout = Duration.seconds(5)
  /// How soon a site is asked again that has failed, and how seldom one that goes on to fail.
  private static let retryDelay = Duration.milliseconds(100)
  private static let longestRetryDelay = Duration.seconds(10)
  /// How long a path has to be quiet before a site is asked over it: as long as a burst of the kernel's messages.
  /// Up to twice that passes until an outage of the path ends. A check that was too early is made again.
  private static let settling = Duration.milliseconds(25)

  private func target(_ typed: String, _ target: WatchedTargets.Target) throws -> RecordedTarget {
    if case .network(let target) = target { return RecordedTarget(name: typed, target) }
    var configuration = SiteMonitorConfiguration()
    configuration.interval = every ?? .seconds(60)
    configuration.expensiveInterval = configuration.interval
    configuration.check.timeout = Self.timeout
    // What is down is asked more often, since its outage ends with the first check that succeeds.
    configuration.retryDelay = Self.retryDelay
    configuration.maximumRetryDelay = Self.longestRetryDelay
    configuration.settling = Self.settling
    let request = try SiteRequest([typed], configuration: configuration)
    let url = request.urls[0]
    return RecordedTarget(name: url.text) { report in
      request.monitor(url).observe { verdict in
        for (state, since) in RecorderStateMachine.TargetState.all(in: verdict) { report(state, since) }
      }
    } diagnosis: { configuration, evidence in
      Diagnosis(of: url, configuration: configuration, environment: evidence)
    }
  }
}

extension RecorderStateMachine.TargetState {
  /// The states that a verdict tells, and since when. If a check had failed before the path was lost, its failure comes
  /// first: the outage began with that.
  static func all(in verdict: SiteVerdict) -> [(state: Self, since: UTCTimestamp?)] {
    let since = verdict.failingSince ?? verdict.timestamp
    guard let failure = verdict.failureBefore else { return [(Self(verdict), since)] }
    return [(Self(failure), since), (Self(verdict), verdict.timestamp)]
  }

  /// Whatever answers in the place of a site, the site is not there.
  init(_ verdict: SiteVerdict) {
    let words = SiteTextFormatter.words(for: verdict)
    switch verdict.kind {
    case .available: self = .up(words: words)
    case .undetermined: self = .unknown(reason: nil)
    case .failed:
      let reason = verdict.error.map { $0.connectionReason ?? $0.code.identifier } ?? "failed"
      self = .down(reason: reason, words: words, layer: Self.layer(of: verdict.stage, verdict.error?.sender, reason))
    // Somebody whose certificate is wrong is the site, as long as nobody knows more.
    case .intercepted where verdict.error?.code.identifier.hasPrefix("certificate-") ?? false:
      self = .down(reason: verdict.kind.identifier, words: words, layer: .site)
    default: self = .down(reason: verdict.kind.identifier, words: words)
    }
  }

  /// Where the cause lies, as far as the stage tells. Somebody who has taken a connection is the site.
  private static func layer(
    of stage: SiteVerdict.Stage?, _ sender: SiteError.Sender?, _ reason: String
  ) -> OutageLayer? {
    switch stage {
    case .name?: .nameServer
    case .connect? where sender == .silentGateway: .router
    case .connect? where sender == .silentHost: .site
    case .connect? where sender == .thisMachine: .machine
    case .connect? where reason == "connection-refused": .site
    // The system's own refusal (connect(2)): a rule of this machine.
    case .connect? where reason == "prohibited": .machine
    case .connect?: .provider
    case nil: nil
    default: .site
    }
  }
}
