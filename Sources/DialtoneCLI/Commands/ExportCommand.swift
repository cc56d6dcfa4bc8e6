// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneExporter
internal import DialtoneSites

struct ExportCommand: WordCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Let Prometheus read what is reachable, and probe.",
    usage: "dialtone export [<options>] [<target> | <url>] ...",
    discussion: """
      It answers /probe?target=…&module=… with blackbox_exporter's metrics and Dialtone's verdict, /metrics with the \
      paths of this machine and the targets given here, and / with a page for people.

      It probes what it is asked for, whoever asks. On loopback, where it listens unless --listen says otherwise, \
      that is everything but link-local and metadata addresses. On any other address it starts only with --allow, and \
      probes what that lists. What counts is the address it connects to, after each redirect, too.

      Without --config there are the modules http_2xx and tcp_connect. A file is blackbox_exporter's; what of it \
      cannot be honoured is an error that names the line. SIGHUP has it read anew.

      If a service manager hands sockets over (LISTEN_FDS), it listens on these instead.

      EXAMPLES
        dialtone export
        dialtone export internet example.com:443 https://example.com/
        dialtone export --config /etc/prometheus/blackbox.yml
        dialtone export --listen :9115 --allow example.com --allow 192.0.2.0/24
        dialtone export --textfile /var/lib/node_exporter/dialtone.prom internet
      """)

  @Argument(
    help: ArgumentHelp(
      "internet; a host or an address, with or without a port; or an http or https URL.",
      valueName: "target"))
  var typed: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Listen there: an address and a port, :PORT for every address, or unix:PATH (default: 127.0.0.1:9115).",
      valueName: "address"))
  var listen: [String] = []

  @Option("Read the modules from this file, in blackbox_exporter's YAML.", value: "file", completion: .file())
  var config: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Probe this host, address or network; give it once for each.", valueName: "host"))
  var allow: [String] = []

  @Option(
    "Write the metrics of the targets to this file every 15 seconds, for node_exporter; listen only with --listen.",
    value: "file", completion: .file())
  var textfile: String?

  func prepare() throws -> Work {
    let addresses = try listenAddresses()
    let policy = try policy(for: addresses)
    let watched = try Self.watched(typed)
    let reading = { @Sendable [config] in try config.map(Self.configuration) ?? .usual }
    let configuration = try reading()
    if let textfile, textfile.isEmpty || Self.isFolder(textfile) {
      throw ValidationError("--textfile: that is no file's name; give one such as /var/lib/node_exporter/dialtone.prom")
    }
    return {
      let runner = ExportRunner(
        addresses: addresses, configuration: configuration, reading: reading, policy: policy, targets: watched,
        textfile: textfile)
      return try runner.run()
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    // Fills one structure; the path is only read.
    return unsafe stat(path, &status) == 0 && status.st_mode & UInt32(S_IFMT) == UInt32(S_IFDIR)
  }

  private func listenAddresses() throws -> [ListenAddress] {
    let inherited: [ListenAddress]
    do throws(SystemError) {
      inherited = try ListenAddress.handedOver
    } catch {
      let status = ExitCode(ExitStatus.inputOutput.rawValue)
      throw WholeMessage(description: "dialtone: cannot listen on \(error)", status: status)
    }
    if !inherited.isEmpty {
      if listen.isEmpty { return inherited }
      throw ValidationError("--listen: the service manager has handed sockets over (LISTEN_FDS); leave the option out")
    }
    if listen.isEmpty { return textfile == nil ? [.usual] : [] }
    return try listen.map { try Self.address($0, option: "--listen") }
  }

  static func address(_ text: String, option: String) throws -> ListenAddress {
    if let address = ListenAddress(text) { return address }
    if text.hasPrefix("unix:") {
      throw ValidationError("\(option): give a path from / on, of 107 bytes at most, such as unix:/run/dialtone.sock")
    }
    throw ValidationError(
      "\(option): \(HostText.quoted(text[...])) is no address with a port; write it as 127.0.0.1:9115, [::1]:9115, "
        + ":9115 or unix:/run/dialtone.sock")
  }

  private func policy(for addresses: [ListenAddress]) throws -> ProbePolicy {
    if allow.isEmpty {
      if addresses.allSatisfy(\.isLocal) { return .local }
      throw ValidationError(
        "--allow: others can reach the exporter on this address, and it would probe for them; list the hosts and "
          + "networks that it may probe, such as --allow example.com --allow 192.0.2.0/24, or listen on 127.0.0.1")
    }
    do throws(ProbePolicy.Refusal) {
      return try ProbePolicy(allowing: allow)
    } catch {
      throw ValidationError("--allow: \(error.message)")
    }
  }

  /// One that is given twice counts once, however it is written.
  static func watched(_ typed: [String]) throws -> [(name: String, target: WatchedTargets.Target)] {
    var seen: Set<WatchedTarget.Identity> = []
    return try typed.compactMap { text in
      if try WatchedTarget.isSite(text) {
        let url = try SiteRequest([text], configuration: SiteMonitorConfiguration()).urls[0]
        return seen.insert(WatchedTarget.identity(of: url)).inserted ? (text, .site(url)) : nil
      }
      let target = try WatchedTarget(text)
      return seen.insert(target.identity).inserted ? (target.typed, .network(target.target)) : nil
    }
  }

  private static func configuration(_ path: String) throws -> ExporterConfiguration {
    if path.isEmpty { throw ValidationError("--config: the name is empty; give a file") }
    let text: String
    do {
      text = try ConfigurationFile.text(at: path)
    } catch {
      throw InputError(description: "--config: \(TerminalText.visible(path)): \(error)")
    }
    do throws(ConfigurationError) {
      return try ExporterConfiguration(yaml: text) { try ConfigurationFile.text(at: $0) }
    } catch {
      throw ValidationError("--config: \(TerminalText.visible(path)): \(error)")
    }
  }
}

/// The text of a file that a configuration is in, or names.
enum ConfigurationFile {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  static func text(at path: String) throws(Failure) -> String {
    let bytes: [UInt8]
    do throws(SystemFile.Failure) {
      bytes = try SystemFile.bytes(at: path, limit: 16 << 20)
    } catch {
      switch error {
      case .refused(let error): throw Failure(description: SystemError.text(of: error.errno))
      case .irregular: throw Failure(description: "it is no regular file")
      case .tooLong: throw Failure(description: "it is too long")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(description: "it is not valid UTF-8")
    }
    return text
  }
}
