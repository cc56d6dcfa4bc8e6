// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneExporter
import DialtoneSites
import Testing

struct ProbeRequestTests {
  private func request(_ query: String, timeout: String? = nil) throws -> ProbeRequest {
    var slow = ProbeModule(name: "slow", prober: .http)
    slow.timeout = .seconds(5)
    var host = ProbeModule(name: "host", prober: .http)
    host.fields = [SiteInspection.Field(name: "host", value: "a.example")]
    let configuration = ExporterConfiguration(
      modules: Array(ExporterConfiguration.usual.modules.values) + [slow, host])
    return try ProbeRequest(query: query, scrapeTimeout: timeout, configuration: configuration)
  }

  @Test(arguments: [
    ("target=example.com", "http://example.com"), ("target=example.com:8080/a?b=c", "http://example.com:8080/a?b=c"),
    ("target=https%3A%2F%2Fexample.com%2Fa+b", ""), ("target=HTTPS://example.com/", "HTTPS://example.com/"),
    ("target=[::1]:80", "http://[::1]:80"), ("target=localhost/?u=http://x/", "http://localhost/?u=http://x/"),
    ("target=192.0.2.1:22&module=tcp_connect", "http://192.0.2.1:22/"),
    ("module=tcp_connect&target=%5B2001%3Adb8%3A%3A1%5D%3A22", "http://[2001:db8::1]:22/"),
  ])
  func readsTargetsAsBlackboxExporter(_ query: String, _ url: String) throws {
    if url.isEmpty {
      #expect(try request(query).url == nil)
    } else {
      #expect(try request(query).url?.text == url)
    }
  }

  @Test(arguments: [
    "", "target=", "target=x&module=nosuch", "target=file:///etc/passwd", "target=file:/etc/passwd",
    "target=gopher://x/", "target=javascript:alert(1)", "target=http://user:secret@example.com/",
    "target=user@example.com", "target=http://example.com\\@evil/", "target=u@a:1&module=tcp_connect",
    "target=x&hostname=a%0d%0ab", "target=x&module=host&hostname=b.example",
  ])
  func refusesWith400(_ query: String) {
    let refusal = #expect(throws: ProbeRequest.Refusal.self) { try request(query) }
    #expect(refusal?.status == 400)
    #expect(refusal?.message.contains("secret") == false)
  }

  /// blackbox_exporter 0.23 answers all of these with `probe_success 0`, of which alerts hear.
  @Test(arguments: [
    "0.0.0.0", "a%0d%0ab", "a+b", "http:///x", "http://a:0/", "http://a:99999/", "example.com&module=tcp_connect",
    "example.com:99999&module=tcp_connect", "a:0&module=tcp_connect", "a:1/b:2&module=tcp_connect",
    "http://a:1&module=tcp_connect", "[::]:1&module=tcp_connect",
  ])
  func aTargetThatCannotBeProbedFails(_ target: String) async throws {
    let result = await Prober(policy: .local).run(try request("target=\(target)"))
    #expect(!result.succeeded && result.explanation.hasPrefix("target: "))
    #expect(result.verdict.kind == .failed && result.verdict.reason == "target-unusable")
  }

  /// RFC 3986, 3.2.2: an IPv6 address stands in brackets.
  @Test(arguments: ["::1", "2001:db8::1/a", "::1:22&module=tcp_connect"])
  func namesTheBrackets(_ target: String) throws {
    let flaw = try request("target=\(target)").flaw
    #expect(flaw.contains("[::1]") || flaw.contains("[2001:db8::1]:22"))
  }

  /// As getTimeout of blackbox_exporter 0.23 has it, with an offset of half a second.
  @Test(arguments: [
    ("", "10", 9_500), ("", nil, 119_500), ("&module=slow", "10", 5_000), ("&module=slow", "3", 2_500),
    ("&module=slow", "0.2", 5_000), ("", "0.2", 200), ("", "0", 119_500),
  ])
  func leavesTimeForTheWayBack(_ module: String, _ header: String?, _ milliseconds: Int) throws {
    #expect(try request("target=x\(module)", timeout: header).timeout == .milliseconds(milliseconds))
  }

  @Test(arguments: ["x", "nan", "-1", "inf"])
  func refusesATimeoutThatIsNone(_ header: String) {
    #expect(throws: ProbeRequest.Refusal.self) { try request("target=x", timeout: header) }
  }

  @Test func readsTheOtherParameters() throws {
    let request = try request("target=192.0.2.1&hostname=example.com&debug=true")
    #expect(request.hostName?.text == "example.com" && request.isDebug)
    #expect(try self.request("target=x&module=host&hostname=a.example").hostName?.text == "a.example")
  }
}

struct ExpositionTests {
  private var families: [MetricFamily] {
    var info = MetricFamily("b_info", "back\\slash\nline \"q\"", .info)
    info.add(1, ["x": "a\"b\\c\nd"])
    var counter = MetricFamily("a_total", "A counter.", .counter)
    counter.add(2.5)
    return [info, counter, MetricFamily("empty", "None."), .gauge("c", "C.", .nan)]
  }

  /// Prometheus: "Exposition formats", 0.0.4.
  @Test func writesText() {
    #expect(
      Exposition.text.text(of: families) == """
        # HELP a_total A counter.
        # TYPE a_total counter
        a_total 2.5
        # HELP b_info back\\\\slash\\nline "q"
        # TYPE b_info gauge
        b_info{x="a\\"b\\\\c\\nd"} 1
        # HELP c C.
        # TYPE c gauge
        c NaN

        """)
  }

  /// OpenMetrics 1.0: a family's name has no suffix, and the text has an end.
  @Test func writesOpenMetrics() {
    let text = Exposition.openMetrics.text(of: families)
    #expect(text.contains("# TYPE a counter\na_total 2.5\n") && text.contains("# TYPE b info\nb_info{"))
    #expect(text.contains("line \\\"q\\\"\n") && text.hasSuffix("\n# EOF\n"))
  }

  @Test(arguments: [
    ("", Exposition.text), ("*/*", .text), ("text/plain", .text),
    ("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .openMetrics),
    ("application/openmetrics-text; version=1.0.0; q=0.2, text/plain", .text),
    ("application/openmetrics-text;version=0.0.1", .text), ("application/openmetrics-text;q=0", .text),
  ])
  func writesWhatIsAskedFor(_ accept: String, _ format: Exposition) {
    #expect(Exposition(accept: accept) == format)
  }
}
