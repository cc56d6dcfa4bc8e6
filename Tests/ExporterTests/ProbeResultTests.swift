// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneExporter
@testable import DialtoneSites

/// The series of a probe, under blackbox_exporter's names, and Dialtone's own (Exporter.md).
struct ProbeResultTests {
  private func samples(_ result: ProbeResult, isLocalPathUp: Bool? = nil) -> [String] {
    Exposition.text.text(of: result.families(isLocalPathUp: isLocalPathUp)).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map(String.init)
  }

  private func value(_ name: String, of result: ProbeResult) -> String? {
    samples(result).first { $0.hasPrefix("\(name) ") }.map { String($0.dropFirst(name.count + 1)) }
  }

  private func full(_ prober: ProbeModule.Prober) -> ProbeResult {
    var result = ProbeResult(prober)
    (result.succeeded, result.verdict) = (true, ProbeResult.Verdict(kind: .failed, stage: "tls", reason: "timed-out"))
    (result.duration, result.lookup) = (.milliseconds(1_500), .milliseconds(250))
    (result.address, result.redirects) = (IPAddress("192.0.2.1"), 3)
    (result.phases.resolve, result.phases.connect) = (.milliseconds(250), .milliseconds(500))
    (result.phases.tls, result.phases.processing) = (.milliseconds(750), .seconds(1))
    (result.phases.transfer, result.failedByExpression) = (.seconds(2), true)
    var details = CheckDetails()
    (details.tlsVersion, details.certificate, details.status) = ("TLS 1.3", Array("abc".utf8), 404)
    (details.minorVersion, details.contentLength, details.bodyLength) = (1, 5, 7)
    details.fields = [SiteInspection.Field(name: "Last-Modified", value: "Sun, 06 Nov 1994 08:49:37 GMT")]
    result.details = details
    result.certificateExpires = UTCTimestamp(durationSince1970: .milliseconds(1_800_000_000_500))
    return result
  }

  /// The hash is FNV-1a, in 32 bits, of c0 00 02 01; the fingerprint is SHA-256 of "abc" (FIPS 180-4).
  @Test func tellsAllOfAProbe() {
    let certificate = [
      "probe_ssl_earliest_cert_expiry 1800000000", "probe_ssl_last_chain_expiry_timestamp_seconds 1800000000",
      "probe_ssl_last_chain_info{fingerprint_sha256="
        + "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",issuer=\"\",subject=\"\","
        + "subjectalternative=\"\"} 1",
    ]
    let own = #"dialtone_probe_verdict_info{verdict="failed",stage="tls",reason="timed-out"} 1"#
    #expect(
      samples(full(.http), isLocalPathUp: true) == [
        "dialtone_local_path_up 1", own, "probe_dns_lookup_time_seconds 0.25", "probe_duration_seconds 1.5",
        "probe_failed_due_to_regex 1", "probe_http_content_length 5",
        "probe_http_duration_seconds{phase=\"resolve\"} 0.25", "probe_http_duration_seconds{phase=\"connect\"} 0.5",
        "probe_http_duration_seconds{phase=\"tls\"} 0.75", "probe_http_duration_seconds{phase=\"processing\"} 1",
        "probe_http_duration_seconds{phase=\"transfer\"} 2", "probe_http_last_modified_timestamp_seconds 784111777",
        "probe_http_redirects 3", "probe_http_ssl 1", "probe_http_status_code 404",
        "probe_http_uncompressed_body_length 7", "probe_http_version 1.1", "probe_ip_addr_hash 1969986452",
        "probe_ip_protocol 4",
      ] + certificate + ["probe_success 1", "probe_tls_version_info{version=\"TLS 1.3\"} 1"])
    #expect(
      samples(full(.tcp), isLocalPathUp: false) == [
        "dialtone_local_path_up 0", own, "probe_dns_lookup_time_seconds 0.25", "probe_duration_seconds 1.5",
        "probe_failed_due_to_regex 1", "probe_ip_addr_hash 1969986452", "probe_ip_protocol 4",
      ] + certificate + ["probe_success 1", "probe_tls_version_info{version=\"TLS 1.3\"} 1"])
  }

  @Test func tellsWithoutAnAnswerThatThereIsNone() {
    let own = #"dialtone_probe_verdict_info{verdict="undetermined",stage="",reason=""} 1"#
    let last = ["probe_ip_addr_hash 0", "probe_ip_protocol 0", "probe_success 0"]
    #expect(
      samples(ProbeResult(.http)) == [
        own, "probe_dns_lookup_time_seconds 0", "probe_duration_seconds 0", "probe_failed_due_to_regex 0",
        "probe_http_content_length 0", "probe_http_duration_seconds{phase=\"resolve\"} 0", "probe_http_redirects 0",
        "probe_http_ssl 0", "probe_http_status_code 0", "probe_http_uncompressed_body_length 0", "probe_http_version 0",
      ] + last)
    #expect(
      samples(ProbeResult(.tcp)) == [
        own, "probe_dns_lookup_time_seconds 0", "probe_duration_seconds 0", "probe_failed_due_to_regex 0",
      ] + last)
  }

  /// Of a version, a length and TLS that are not there.
  @Test func tellsWhatAnAnswerHasNot() {
    var result = full(.http)
    result.details?.minorVersion = 0
    result.details?.contentLength = nil
    result.details?.fields = []
    #expect(value("probe_http_version", of: result) == "1" && value("probe_http_content_length", of: result) == "-1")
    #expect(value("probe_http_last_modified_timestamp_seconds", of: result) == nil)
    result.details?.tlsVersion = nil
    #expect(value("probe_http_ssl", of: result) == "0" && value("probe_ssl_earliest_cert_expiry", of: result) == nil)
    // TLS came about, and no answer: blackbox_exporter tells of it only for the prober tcp.
    for (prober, isTold) in [(ProbeModule.Prober.http, false), (.tcp, true)] {
      var silent = full(prober)
      silent.details?.status = nil
      #expect((value("probe_ssl_earliest_cert_expiry", of: silent) != nil) == isTold)
      if prober == .tcp { continue }
      #expect(value("probe_http_ssl", of: silent) == "0" && value("probe_http_version", of: silent) == "0")
      #expect(value("probe_http_content_length", of: silent) == "0")
    }
    var half = full(.tcp)
    half.certificateExpires = nil
    #expect(value("probe_ssl_earliest_cert_expiry", of: half) == nil)
    // A certificate of another name: there is no TLS with the target.
    var other = full(.tcp)
    other.succeeded = false
    #expect(value("probe_ssl_earliest_cert_expiry", of: other) == nil)
  }

  /// Go's year 1, of a chain that was not verified: date -u -d 0001-01-01 +%s
  @Test func tellsOfNoChainThatWasNotVerified() {
    #expect(ProbeResult(.http).isVerified && !ProbeResult(.http).succeeded)
    var result = full(.http)
    result.isVerified = false
    #expect(value("probe_ssl_last_chain_expiry_timestamp_seconds", of: result) == "-62135596800")
    #expect(value("probe_ssl_earliest_cert_expiry", of: result) == "1800000000")
  }

  /// An IPv4-mapped address is one of IPv4. The hashes are FNV-1a of the bytes.
  @Test(arguments: [
    ("127.0.0.1", "4", "3668918509"), ("::ffff:127.0.0.1", "4", "3668918509"), ("2001:db8::1", "6", "1851458804"),
  ])
  func tellsOfTheAddress(_ text: String, _ version: String, _ hash: String) {
    var result = ProbeResult(.tcp)
    result.address = IPAddress(text)
    #expect(value("probe_ip_protocol", of: result) == version && value("probe_ip_addr_hash", of: result) == hash)
  }

  @Test func durationsAreToldInSeconds() {
    #expect(Duration.milliseconds(1_500).inSeconds == 1.5 && Duration.zero.inSeconds == 0)
    #expect(Duration.milliseconds(-250).inSeconds == -0.25 && Duration.seconds(3_600).inSeconds == 3_600)
  }
}
