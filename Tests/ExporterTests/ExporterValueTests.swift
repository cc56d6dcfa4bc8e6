// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Dialtone
import DialtoneSites
import Foundation
import TestSupport
import Testing

@testable import DialtoneExporter

/// The small values of an exporter: dates, durations, parameters, addresses, samples.
struct ExporterValueTests {
  // MARK: Dates (RFC 9110, 5.6.7)

  /// Each with what `date -u -d … +%s` says of it. As Go, so blackbox_exporter, takes it: no second of 60.
  @Test(arguments: [
    ("Saturday, 01-Jan-00 00:00:00 GMT", 946_684_800), ("Sunday, 01-Jan-68 00:00:00 GMT", 3_092_601_600),
    ("Wednesday, 01-Jan-69 00:00:00 GMT", -31_536_000), ("Thursday, 01-Jan-70 00:00:00 GMT", 0),
    ("Friday, 31-Dec-99 23:59:59 GMT", 946_684_799), ("Fri Dec 31 23:59:59 1999", 946_684_799),
    ("Thu, 01 Jan 0150 00:00:00 GMT", -57_433_622_400), ("Fri, 01 Jan 0100 00:00:00 GMT", -59_011_459_200),
    ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sun, 06 nov 1994 08:49:37 GMT", 784_111_777),
    ("Sun, 09 Sep 2001 01:46:40 GMT", 1_000_000_000),
  ])
  func readsADate(_ text: String, _ seconds: Int) { #expect(HTTPDate.seconds(of: text) == seconds) }

  @Test(arguments: [
    "Sun, 06 Nov 1994 :08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37: GMT", "Sun, 06 Nov 1994 08::37 GMT",
    "Sun, 06 Nov 1994 08:49:37:00 GMT", "Sun, 06 Nov 1994 08:x:37 GMT", "Sun, 06 Nov 1994 8 GMT", "06 Nov 1994",
    "Sun, 06 Nov 1994 08:49:60 GMT", "Sun, 06 11 1994 08:49:37 GMT", "Sun, 06 Nov 1994 7 08:49:37 GMT",
    "Sun, 06 Nov 08:49:37 GMT", "Sun, 06 Nov 1994 25:00:00 GMT", "Sun, 06 Nov 1994 23:60:00 GMT",
  ])
  func refusesWhatIsNoDate(_ text: String) { #expect(HTTPDate.seconds(of: text) == nil) }

  // MARK: Durations (Go's time.ParseDuration)

  @Test(arguments: [
    ("1s", 1.0), ("90s", 90), ("1m", 60), ("2h", 7_200), ("1h2m3s", 3_723), ("1m30s", 90), ("1.5s", 1.5),
    ("1.5h", 5_400), ("0s", 0), ("250ms", 0.25), ("2us", 2e-6), ("2µs", 2e-6), ("3ns", 3e-9), ("1s500ms", 1.5),
    ("0.25m", 15), ("1000000000s", 1e9),
  ])
  func readsADuration(_ text: String, _ seconds: Double) throws {
    #expect(abs(try #require(GoDuration.parse(text)).inSeconds - seconds) <= 1e-6 * seconds)
  }

  @Test(arguments: [
    "", "5", "s", "1x", "1.2.3s", "-1s", "1 s", "1s2", " 1s", "1s ", "٣s", "1d", "1S", "1000000001s", "300000h", "1µ",
    ".s",
  ])
  func refusesWhatIsNoDuration(_ text: String) { #expect(GoDuration.parse(text) == nil) }

  // MARK: Parameters (application/x-www-form-urlencoded)

  @Test func readsParameters() {
    let cases: [(String, [[String]])] = [
      ("", []), ("a=b", [["a", "b"]]), ("a=b&c=d", [["a", "b"], ["c", "d"]]), ("a", [["a", ""]]), ("a=", [["a", ""]]),
      ("=b", [["", "b"]]), ("a=b=c", [["a", "b=c"]]), ("a=b==", [["a", "b=="]]), ("&a=b&&", [["a", "b"]]),
      ("a=b+c", [["a", "b c"]]), ("a+b=c", [["a b", "c"]]), ("a=%2B", [["a", "+"]]), ("a=%41", [["a", "A"]]),
      ("a=%41b", [["a", "Ab"]]), ("a=%e2%98%BA", [["a", "☺"]]), ("%61=%62", [["a", "b"]]),
      ("a=%26%3D", [["a", "&="]]),
      ("a=%4", [["a", "%4"]]), ("a=%", [["a", "%"]]), ("a=%zz", [["a", "%zz"]]), ("a=%%41", [["a", "%A"]]),
      ("a=%2541", [["a", "%41"]]), ("a=b&a=c", [["a", "b"], ["a", "c"]]), ("a=é", [["a", "é"]]),
    ]
    for (query, parameters) in cases {
      #expect(ProbeRequest.parameters(in: query).map { [$0.name, $0.value] } == parameters, "\(query)")
    }
  }

  private func request(_ query: String, timeout: String? = nil) throws -> ProbeRequest {
    var slow = ProbeModule(name: "slow", prober: .http)
    slow.timeout = .seconds(5)
    var secure = ProbeModule(name: "secure", prober: .tcp)
    secure.usesTLS = true
    let modules = Array(ExporterConfiguration.usual.modules.values) + [slow, secure]
    return try ProbeRequest(
      query: query, scrapeTimeout: timeout, configuration: ExporterConfiguration(modules: modules))
  }

  /// The module's time at exactly the offset, since nothing is left of the scrape's.
  @Test(arguments: [
    ("slow", "0.5", 5_000), ("http_2xx", "0.5", 500), ("slow", "0.75", 250), ("http_2xx", "0.75", 250),
    ("slow", "5.5", 5_000), ("slow", "5.25", 4_750), ("http_2xx", "120", 119_500), ("http_2xx", "240", 119_500),
    ("slow", "0", 5_000), ("slow", "0.25", 5_000), ("http_2xx", "1", 500), ("http_2xx", "119", 118_500),
    ("slow", "", 5_000), ("http_2xx", "", 119_500),
  ])
  func takesTheShorterTime(_ module: String, _ header: String, _ milliseconds: Int) throws {
    #expect(try request("target=a&module=\(module)", timeout: header).timeout == .milliseconds(milliseconds))
  }

  @Test(arguments: ["x", "-0.5", "1s", "inf", "nan"])
  func saysThatATimeoutIsNone(_ header: String) {
    let refusal = #expect(throws: ProbeRequest.Refusal.self) { try request("target=a", timeout: header) }
    #expect(refusal?.status == 400 && refusal?.message == "X-Prometheus-Scrape-Timeout-Seconds is no number")
  }

  @Test(arguments: [
    ("target=a:7&module=tcp_connect", "http://a:7/"), ("target=a:7&module=secure", "https://a:7/"),
    ("target=[::1]:443&module=secure", "https://[::1]:443/"), ("target=a", "http://a"),
    ("target=a&module=", "http://a"),
    ("target=HTTP://a/", "HTTP://a/"), ("target=hTTps://a/", "hTTps://a/"), ("target=a:8/b:c", "http://a:8/b:c"),
    ("target=http://a:8/", "http://a:8/"), ("target=a?b:c", "http://a?b:c"), ("target=a%23b:c", "http://a#b:c"),
    ("target=a&target=b", "http://a"),
  ])
  func readsATarget(_ query: String, _ url: String) throws {
    let request = try request(query)
    #expect(request.url?.text == url && !request.isDebug && request.hostName == nil)
  }

  @Test(arguments: [
    ("module=http_2xx", "missing"), ("target=&x=y", "missing"), ("target=a&module=nosuch", "nosuch"),
    ("target=javascript:alert(1)", "only http and https"), ("target=file:/etc", "only http and https"),
    ("target=gopher://a/", "only http and https"), ("target=a:", "only http and https"),
    ("target=a:٣", "only http and https"), ("target=a:8x", "only http and https"), ("target=ftp:21x/", "only http"),
    ("target=a&module=tcp_connect", "a host and a port"), ("target=a:&module=tcp_connect", "a host and a port"),
    ("target=22&module=tcp_connect", "a host and a port"), ("target=a;22&module=tcp_connect", "a host and a port"),
    ("target=a:1%23:2&module=tcp_connect", "a host and a port"),
    ("target=a\\b:2&module=tcp_connect", "a host and a port"),
    ("target=a:1%3Fb:2&module=tcp_connect", "a host and a port"), ("target=a&hostname=a%20b", "hostname: "),
    ("target=a&hostname=127.0.0.1", "hostname: \"127.0.0.1\" is an address; give a name"),
    ("target=a&hostname=[::1]", "hostname: \"[::1]\" is an address; give a name"),
    ("target=a..b", "target: "), ("target=:22&module=tcp_connect", "target: "),
  ])
  func saysWhatIsWrong(_ query: String, _ words: String) throws {
    do {
      let flaw = try request(query).flaw
      #expect(flaw.contains(words), "\(flaw)")
    } catch let refusal as ProbeRequest.Refusal {
      #expect(refusal.status == 400 && refusal.message.contains(words), "\(refusal.message)")
    }
  }

  @Test func readsWhatElseIsAsked() throws {
    for (query, isDebug) in [("true", true), ("false", false), ("1", false), ("", false)] {
      #expect(try request("target=a&debug=\(query)").isDebug == isDebug)
    }
    #expect(try request("target=a&hostname=").hostName == nil)
    #expect(try request("target=a&hostname=b.example").hostName?.text == "b.example")
    let module = ProbeModule(name: "m", prober: .http)
    let direct = try ProbeRequest(module: module, target: "a", timeout: .seconds(1))
    #expect(!direct.isDebug && direct.target == "a" && direct.timeout == .seconds(1) && direct.hostName == nil)
  }

  // MARK: Modules

  /// What blackbox_exporter's CONFIGURATION.md has as defaults.
  @Test(arguments: [ProbeModule.Prober.http, .tcp])
  func aModuleIsAsBlackboxExporterSays(_ prober: ProbeModule.Prober) throws {
    let module = ProbeModule(name: "m", prober: prober)
    #expect(module.followsRedirects && module.verifiesCertificate && module.fallsBack && !module.usesTLS)
    #expect(!module.failsWithTLS && !module.failsWithoutTLS && module.timeout == nil && module.statuses.isEmpty)
    #expect(module.method == .get && module.preferredFamily == nil && !module.readsBody)
    var (forbids, requires) = (module, module)
    forbids.forbidden = [try RegularExpression("a")]
    requires.required = [try RegularExpression("a")]
    #expect(forbids.readsBody && requires.readsBody)
    #expect(ExporterConfiguration(modules: [module, forbids]).modules["m"]?.readsBody == true)
  }

  // MARK: Addresses

  @Test func readsWhereToListen() throws {
    let (v4, v6) = (IPAddress("127.0.0.1"), IPAddress("::1"))
    let path = "/" + String(repeating: "a", count: 106)
    let cases: [(String, ListenAddress?)] = [
      ("127.0.0.1:9115", .network(v4, port: 9_115)), ("localhost:80", .network(v4, port: 80)),
      ("[::1]:65535", .network(v6, port: 65_535)), (":1", .network(nil, port: 1)), ("unix:/a", .path("/a")),
      // unix(7): 108 bytes, with the zero at the end.
      ("unix:\(path)", .path(path)), ("unix:\(path)a", nil),
      ("unix:/é" + path.dropFirst(3), .path("/é\(path.dropFirst(3))")), ("unix:/é" + path.dropFirst(2), nil),
      ("unix:", nil), ("unix:a", nil), ("UNIX:/a", nil),
      ("[127.0.0.1]:80", nil), ("[localhost]:80", nil), ("[::1:80", nil), ("::1]:80", nil), ("[]:80", nil),
      ("::1:80", nil), ("127.0.0.1:", nil), ("127.0.0.1:+80", nil), ("127.0.0.1:80a", nil), (":", nil),
      ("a.example:80", nil),
    ]
    for (text, address) in cases { #expect(ListenAddress(text) == address, "\(text)") }
    // blackbox_exporter's port.
    #expect(ListenAddress.usual == ListenAddress("127.0.0.1:9115") && ListenAddress.usual.isLocal)
    #expect(ListenAddress.path("/a") != .path("/b"))
    #expect(try ListenAddress.handedOver.isEmpty && !ListenAddress.inherited(-1).isLocal)
  }

  /// A socket that was handed over is of this machine alone if it is bound so.
  @Test(arguments: [("127.0.0.1", true), ("127.9.8.7", true), ("0.0.0.0", false)])
  func knowsWhoReachesASocket(_ text: String, _ isLocal: Bool) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    // The text is only read, and so is the structure.
    unsafe address.sin_addr.s_addr = inet_addr(text)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(result == 0)
    #expect(ListenAddress.inherited(descriptor).isLocal == isLocal)
  }

  /// The same of IPv6, on a machine that has it: 16 bytes, of which each counts.
  @Test(arguments: [("::1", true), ("::", false), ("::ffff:127.0.0.1", true), ("::ffff:0.0.0.0", false)])
  func knowsWhoReachesASocketOfIPv6(_ text: String, _ isLocal: Bool) throws {
    let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
    if descriptor < 0 { return }
    defer { close(descriptor) }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    // The text is only read; the address is written, and then only read.
    try #require(unsafe inet_pton(AF_INET6, text, &address.sin6_addr) == 1)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
    if result != 0 { return }
    #expect(ListenAddress.inherited(descriptor).isLocal == isLocal)
  }

  @Test func aSocketOfThisMachineIsLocal() throws {
    let unix = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(unix >= 0)
    defer { close(unix) }
    #expect(ListenAddress.inherited(unix).isLocal)
    // What is no socket at all.
    let file = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    #expect(!ListenAddress.inherited(file).isLocal)
  }
}
