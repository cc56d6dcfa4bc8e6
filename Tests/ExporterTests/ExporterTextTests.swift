// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Foundation
import Testing

@testable import DialtoneExporter
@testable import DialtoneSites

/// What an exporter writes, and what it reads of a configuration.
struct ExporterTextTests {
  // MARK: Samples (Prometheus: "Exposition formats", 0.0.4)

  private func label(_ value: String, _ format: Exposition = .text) -> String? {
    var family = MetricFamily("a", "A.")
    family.add(1, ["x": value])
    return format.text(of: [family]).split(separator: "\n").first { $0.hasPrefix("a{") }.map(String.init)
  }

  @Test(arguments: [
    ("", ""), ("b", "b"), ("\"", #"\""#), ("\\", #"\\"#), ("\n", #"\n"#), ("\"\"", #"\"\""#), ("a\nb", #"a\nb"#),
    (#"a\b"#, #"a\\b"#), (#"\n"#, #"\\n"#), ("é\t", "é\t"), ("{x=1}", "{x=1}"),
  ])
  func escapesALabel(_ value: String, _ text: String) {
    #expect(label(value) == "a{x=\"\(text)\"} 1" && label(value, .openMetrics) == "a{x=\"\(text)\"} 1")
  }

  @Test(arguments: [
    ("q \" q", "q \" q", #"q \" q"#), ("n\nn", #"n\nn"#, #"n\nn"#), (#"b\b"#, #"b\\b"#, #"b\\b"#), ("p", "p", "p"),
  ])
  func escapesAHelp(_ help: String, _ text: String, _ openMetrics: String) {
    let family = MetricFamily.gauge("a", help, 1)
    #expect(Exposition.text.text(of: [family]).hasPrefix("# HELP a \(text)\n"))
    #expect(Exposition.openMetrics.text(of: [family]).hasPrefix("# HELP a \(openMetrics)\n"))
  }

  @Test(arguments: [
    (0.0, "0"), (1, "1"), (-1, "-1"), (1.5, "1.5"), (0.1, "0.1"), (1_800_000_000, "1800000000"), (.nan, "NaN"),
    (.infinity, "+Inf"), (-.infinity, "-Inf"), (-62_135_596_800, "-62135596800"),
  ])
  func writesANumber(_ value: Double, _ text: String) {
    #expect(Exposition.text.text(of: [.gauge("a", "A.", value)]).hasSuffix("\na \(text)\n"))
  }

  @Test func writesFamiliesByTheirNames() {
    var several = MetricFamily("b", "B.")
    several.add(1, ["x": "1", "y": "2", "z": "3"])
    several.add(2)
    let families = [
      .gauge("c", "C.", 3), several, MetricFamily("a", "A."), MetricFamily("d", "D.", .info),
    ]
    let text = "# HELP b B.\n# TYPE b gauge\nb{x=\"1\",y=\"2\",z=\"3\"} 1\nb 2\n# HELP c C.\n# TYPE c gauge\nc 3\n"
    #expect(Exposition.text.text(of: families) == text && Exposition.openMetrics.text(of: families) == text + "# EOF\n")
    #expect(Exposition.text.text(of: []).isEmpty && Exposition.openMetrics.text(of: []) == "# EOF\n")
  }

  /// RFC 9110, 12.5.1.
  @Test(arguments: [
    ("application/openmetrics-text", true), ("APPLICATION/OpenMetrics-Text", true),
    ("application/openmetrics-text;\tq=0", false), ("application/openmetrics-text ;\t version=1.0.0", true),
    ("application/openmetrics-text;version=1.0.1", false), ("application/openmetrics-text;charset=utf-8", true),
    ("application/openmetrics-text;q=0.5,text/plain;q=0.5", true),
    ("text/plain;q=0.6,application/openmetrics-text;q=0.5", false),
    ("application/openmetrics-text;q=0.5,text/*;q=0.6", false),
    ("application/openmetrics-text;q=0.5,text/plain;q=0.4", true),
    ("text/plain;q=0.4,text/*;q=0.6,application/openmetrics-text;q=0.5", false), ("application/json", false),
    (
      "application/openmetrics-text;version=0.0.1,application/openmetrics-text;q=0.2,text/plain;q=0.1",
      true
    ),
    ("application/openmetrics-text;q=0.1,application/openmetrics-text;q=0.9,text/plain;q=0.5", true), (",", false),
  ])
  func writesWhatIsPreferred(_ accept: String, _ isOpenMetrics: Bool) {
    #expect((Exposition(accept: accept) == .openMetrics) == isOpenMetrics)
  }

  // MARK: The process

  @Test func tellsOfItself() throws {
    let start = TimeSource(passes: false, realtime: { 1_500_000_000_250_000_000 }, now: { 0 })
    func used() -> Double {
      var clock = timespec()
      // It is written during the call.
      _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &clock)
      return Double(clock.tv_sec) + Double(clock.tv_nsec) / 1e9
    }
    let before = used()
    let text = Exposition.text.text(of: ProcessMetrics(time: start).families)
    func value(_ name: String) -> Double? {
      text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
    }
    #expect(value("process_start_time_seconds") == 1_500_000_000.25)
    #expect((before...used()).contains(try #require(value("process_cpu_seconds_total"))))
    // A page is of 4 KiB at least; a process that runs tests has more than one mebibyte.
    let memory = try #require(value("process_resident_memory_bytes"))
    #expect(memory > 1_048_576 && memory.truncatingRemainder(dividingBy: 4_096) == 0)
    #expect(text.contains("dialtone_build_info{version=\"\(DialtoneLibraryVersion.current)\"} 1\n"))
  }

  // MARK: The page

  @Test func thePageShowsProbes() throws {
    var module = ProbeModule(name: "<m>", prober: .http)
    module.timeout = .seconds(1)
    let request = try ProbeRequest(module: module, target: "a?<b>&\"'", timeout: .seconds(1))
    var result = ProbeResult(.http)
    (result.duration, result.explanation) = (.microseconds(1_234_567), "x > y")
    result.verdict = ProbeResult.Verdict(kind: .failed, stage: "tls", reason: "timed-out")
    let time = UTCTimestamp(durationSince1970: .seconds(0))
    let row = ExporterPage.cells(of: request, result, at: time)
    let page = ExporterPage(recent: [row], failed: [row], modules: ["a<b", "http_2xx"], isLocalPathUp: true).html
    #expect(
      page.contains(
        "<tr><td>1970-01-01T00:00:00Z</td><td>a?&lt;b&gt;&amp;&quot;&#39;</td><td>&lt;m&gt;</td><td>failure</td>"
          + "<td>failed, tls, timed-out</td><td>x &gt; y</td><td>1235 ms</td></tr>"))
    #expect(page.contains("<option>a&lt;b</option><option selected>http_2xx</option>"))
    #expect(page.contains("The path of this machine to the Internet is up.") && !page.contains("There was none."))
    (result.succeeded, result.verdict) = (true, ProbeResult.Verdict(kind: .available))
    let good = ExporterPage(
      recent: [ExporterPage.cells(of: request, result, at: time)], failed: [], modules: [], isLocalPathUp: false
    ).html
    #expect(good.contains("<td>success</td><td>available</td>") && good.contains("Internet is down: no probe tells"))
    // HTML, 13.2.3.5 (Preprocessing the input stream): control characters are errors. Formats turn a line around.
    let cells = ["\u{1B}[31m\u{0}\u{7F}\u{9B}\u{202E}é"]
    let odd = ExporterPage(recent: [cells], failed: [], modules: [], isLocalPathUp: nil)
    #expect(odd.html.contains("<td>\u{FFFD}[31m\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}é</td>"))
    let empty = ExporterPage(recent: [], failed: [], modules: [], isLocalPathUp: nil).html
    #expect(
      empty.contains("<p>There was none.</p>") && empty.contains("Internet is not known yet.")
        && !empty.contains("<tr>"))
  }

  // MARK: The policy

  @Test(arguments: [
    ("192.0.2.0/24/8", "0 to 32"), ("192.0.2.0/", "0 to 32"), ("192.0.2.0/33", "0 to 32"), ("::/129", "0 to 128"),
    ("::ffff:192.0.2.0/33", "96 to 128"), ("/24", "is no network"), ("a.example/24", "is no network"),
    ("169.254.169.254", "link-local"), ("169.254.0.0/16", "link-local"), ("fe80::1", "link-local"), ("a b", "a b"),
  ])
  func saysWhatIsNoNetwork(_ text: String, _ words: String) {
    let refusal = #expect(throws: ProbePolicy.Refusal.self) { try ProbePolicy(allowing: [text]) }
    #expect(refusal?.message.contains(words) == true, "\(refusal?.message ?? "")")
  }

  /// A network may have addresses in it to which no list opens the way.
  @Test func aNetworkIsListedAsItIs() throws {
    let policy = try ProbePolicy(allowing: ["0.0.0.0/0", "2001:db8::1", "192.0.2.0/32", "::/0"])
    let metadata = try #require(IPAddress("169.254.169.254") as IPAddress?)
    #expect(policy.admission(of: .address(metadata)) == nil)
    let one = try ProbePolicy(allowing: ["192.0.2.7", "2001:db8::7"])
    for (text, isAllowed) in [
      ("192.0.2.7", true), ("192.0.2.6", false), ("2001:db8::7", true), ("2001:db8::6", false), ("2001:db8::8", false),
    ] {
      let address = try #require(IPAddress(text) as IPAddress?)
      #expect((one.admission(of: .address(address)) != nil) == isAllowed, "\(text)")
    }
    // This machine, by its own name.
    let local = try ProbePolicy(allowing: ["localhost"])
    let loopback = try #require(IPAddress("127.0.0.1") as IPAddress?)
    #expect(local.admission(of: SiteURL("http://localhost/").host)?.admits(loopback) == true)
    #expect(local.admission(of: SiteURL("http://a.example/").host) == nil)
  }

  // MARK: The configuration

  private func module(_ http: String) throws(ConfigurationError) -> ProbeModule? {
    try ExporterConfiguration(yaml: "modules: {m: {prober: http, http: {\(http)}}}") { $0 }.modules["m"]
  }

  /// blackbox_exporter prefers IPv6 if a module does not fall back, and says nothing else; in any order.
  @Test(arguments: [
    ("", IPAddress.Family?.none, true), ("ip_protocol_fallback: false", .ipv6, false),
    ("ip_protocol_fallback: true", nil, true),
    ("preferred_ip_protocol: ip4, ip_protocol_fallback: false", .ipv4, false),
    ("ip_protocol_fallback: false, preferred_ip_protocol: ip4", .ipv4, false),
    ("preferred_ip_protocol: ip4", .ipv4, true),
    ("ip_protocol_fallback: false, preferred_ip_protocol: ip6", .ipv6, false),
    ("preferred_ip_protocol: ip6", .ipv6, true),
  ])
  func readsTheFamily(_ http: String, _ family: IPAddress.Family?, _ fallsBack: Bool) throws {
    let module = try #require(try module(http))
    #expect(module.preferredFamily == family && module.fallsBack == fallsBack)
  }

  /// What `prometheus-blackbox-exporter --config.check` 0.23 takes for a boolean.
  @Test(arguments: [
    ("true", true), ("True", true), ("TRUE", true), ("false", false), ("False", false), ("FALSE", false), ("y", true),
    ("Y", true), ("yes", true), ("Yes", true), ("YES", true), ("on", true), ("On", true), ("ON", true), ("n", false),
    ("N", false), ("no", false), ("No", false), ("NO", false), ("off", false), ("Off", false), ("OFF", false),
    ("\"yes\"", true), ("'off'", false),
  ])
  func readsABoolean(_ text: String, _ value: Bool) throws {
    let module = try module("fail_if_ssl: \(text), follow_redirects: \(text)")
    #expect(module?.failsWithTLS == value && module?.followsRedirects == value)
  }

  @Test func readsTheEndsOfItsRanges() throws {
    #expect(try module("valid_status_codes: [200, 999]")?.statuses == [200, 999])
    #expect(try module("valid_status_codes: []")?.statuses == [] && module("valid_status_codes: ")?.statuses == [])
    #expect(try module("valid_http_versions: [HTTP/1.0]")?.versions == ["HTTP/1.0"])
    #expect(try module("valid_http_versions: []")?.versions == [])
    #expect(try module("method: get")?.method == .get && module("method: HEAD")?.method == .head)
    let fields = try module("headers: {\"!#$%&'*+-.^_`|~09azAZ\": \"a\\tb ~é\", X: }")?.fields
    #expect(fields?.map(\.name) == ["!#$%&'*+-.^_`|~09azAZ", "X"] && fields?.map(\.value) == ["a\tb ~é", ""])
  }

  @Test(arguments: [
    ("valid_status_codes: [199]", "199"), ("valid_status_codes: [1000]", "1000"), ("valid_status_codes: 200", "a list"),
    ("valid_status_codes: [2xx]", "2xx"),
    ("valid_status_codes: [\"200\"]", "200"), ("valid_status_codes: ['200']", "200"),
    ("valid_http_versions: [HTTP/0.9, HTTP/3.0]", "HTTP/1.1"),
    ("headers: {\"\": x}", "name of a header"), ("headers: {a b: x}", "name of a header"),
    ("headers: {\"a:\": x}", "name of a header"), ("headers: {é: x}", "name of a header"),
    ("headers: {X: \"\\x7F\"}", "control"), ("headers: {X: \"\\x1F\"}", "control"),
    ("headers: {X: \"\\0\"}", "control"),
    ("headers: {Connection: x}", "connection"), ("headers: {TE: x}", "connection"),
    ("headers: {Expect: x}", "connection"),
    ("headers: {Transfer-Encoding: x}", "connection"), ("headers: {UPGRADE: x}", "connection"),
    ("headers: {Trailer: x}", "connection"), ("headers: {Keep-Alive: x}", "connection"), ("headers: [x]", "keys"),
    ("headers: {X: [y]}", "a text"), ("fail_if_ssl: tRUE", "true or false"), ("fail_if_ssl: [true]", "true or false"),
    ("tls_config: {server_name: a..b}", "server_name"), ("tls: true", "cannot be honoured"),
    ("tls_config: {server_name: 127.0.0.1}", "server_name: \"127.0.0.1\" is an address; give a name"),
    ("no_follow_redirects: maybe", "no_follow_redirects"), ("method: [GET]", "a text"),
    ("enable_http2: 1", "true or false"), ("fail_if_ssl: \"true\"", "without quotes"),
    ("fail_if_ssl: 'False'", "without quotes"), ("fail_if_ssl: \"maybe\"", "without quotes"),
  ])
  func refusesAKey(_ http: String, _ words: String) {
    let error = #expect(throws: ConfigurationError.self) { try module(http) }
    #expect(error?.line == 1 && error?.message.contains(words) == true, "\(error.map(String.init) ?? "")")
  }

  @Test(arguments: [
    ("modules:\n", "modules: none is there"), ("modules: {}\n", "modules: none is there"), ("", "it is empty"),
    ("modules: {m: {prober: tcp}}\nother: x", "line 2: other: there is no such key"),
    ("[]", "line 1: keys are expected"),
    ("modules: {m: {prober: tcp, tcp: {method: GET}}}", "line 1: method: it cannot be honoured"),
    ("modules: {m: {prober: http, tcp: {tls: true}}}", "line 1: tcp: a module of the prober http"),
    ("modules: {m: {}}", "line 1: m has no prober"), ("modules: {m: }", "line 1: m has no prober"),
  ])
  func saysWhatIsWrongWithAFile(_ yaml: String, _ words: String) {
    let error = #expect(throws: ConfigurationError.self) { try ExporterConfiguration(yaml: yaml) { $0 } }
    #expect(error?.description.hasPrefix(words) == true, "\(error.map(String.init) ?? "")")
  }
}
