// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone
package import DialtoneSites

package struct ProbeResult: Sendable {
  /// Dialtone's own verdict, in words that never change: those of ``SiteVerdict``, and why.
  package struct Verdict: Sendable, Equatable {
    package var kind: SiteVerdict.Kind
    package var stage = ""
    package var reason = ""
  }

  package struct Phases: Sendable {
    var resolve: Duration = .zero
    var connect: Duration = .zero
    var tls: Duration = .zero
    var processing: Duration = .zero
    var transfer: Duration = .zero
  }

  package let prober: ProbeModule.Prober
  package var succeeded = false
  package var verdict = Verdict(kind: .undetermined)
  /// For a person.
  package var explanation = ""
  package var duration: Duration = .zero
  /// How long the target's own name took.
  package var lookup: Duration = .zero
  /// The address that was connected to first, or was to be.
  package var address: IPAddress?
  package var phases = Phases()
  package var redirects = 0
  /// What came of the last hop, if anything.
  package var details: CheckDetails?
  package var certificateExpires: UTCTimestamp?
  /// Whether the certificate was judged.
  package var isVerified = true
  package var failedByExpression = false
  /// One line for each hop, and what was decided.
  package var log: [String] = []

  package init(_ prober: ProbeModule.Prober) { self.prober = prober }

  /// As blackbox_exporter has them, and Dialtone's own.
  package func families(isLocalPathUp: Bool?) -> [MetricFamily] {
    // Nearly in the order in which they are written.
    var families: [MetricFamily] = []
    families.reserveCapacity(24)
    if let isLocalPathUp { families.append(MetricFamily.localPath(isUp: isLocalPathUp)) }
    families += [
      .info(
        "dialtone_probe_verdict_info", "What Dialtone found, and why",
        ["verdict": verdict.kind.identifier, "stage": verdict.stage, "reason": verdict.reason]),
      .gauge(
        "probe_dns_lookup_time_seconds", "Returns the time taken for probe dns lookup in seconds", lookup.inSeconds),
      .gauge("probe_duration_seconds", "Returns how long the probe took to complete in seconds", duration.inSeconds),
      .gauge("probe_failed_due_to_regex", "Indicates if probe failed due to regex", failedByExpression ? 1 : 0),
    ]
    if prober == .http { families += http }
    families += [
      .gauge(
        "probe_ip_addr_hash", "Specifies the hash of IP address. It's useful to detect if the IP address changes.",
        address.map { Double($0.hash) } ?? 0),
      .gauge(
        "probe_ip_protocol", "Specifies whether probe ip protocol is IP4 or IP6",
        address.map { $0.unmapped.family == .ipv4 ? 4 : 6 } ?? 0),
      .gauge("probe_success", "Displays whether or not the probe was a success", succeeded ? 1 : 0),
    ]
    // As there: TLS is told of with what came over it; for tcp, if it is believed.
    if prober == .tcp ? succeeded : details?.status != nil { families += tls }
    return families
  }

  private var http: [MetricFamily] {
    let hasAnswer = details?.status != nil
    var phaseTimes = MetricFamily(
      "probe_http_duration_seconds", "Duration of http request by phase, summed over all redirects")
    phaseTimes.add(phases.resolve.inSeconds, ["phase": "resolve"])
    if address != nil {
      phaseTimes.add(phases.connect.inSeconds, ["phase": "connect"])
      phaseTimes.add(phases.tls.inSeconds, ["phase": "tls"])
      phaseTimes.add(phases.processing.inSeconds, ["phase": "processing"])
      phaseTimes.add(phases.transfer.inSeconds, ["phase": "transfer"])
    }
    var families: [MetricFamily] = [
      .gauge(
        "probe_http_content_length", "Length of http content response",
        hasAnswer ? Double(details?.contentLength ?? -1) : 0),
      phaseTimes,
      .gauge("probe_http_redirects", "The number of redirects", Double(redirects)),
      .gauge(
        "probe_http_ssl", "Indicates if SSL was used for the final redirect",
        hasAnswer && details?.tlsVersion != nil ? 1 : 0),
      .gauge("probe_http_status_code", "Response HTTP status code", Double(details?.status ?? 0)),
      .gauge(
        "probe_http_uncompressed_body_length", "Length of uncompressed response body",
        Double(details?.bodyLength ?? 0)),
      .gauge(
        "probe_http_version", "Returns the version of HTTP of the probe response",
        hasAnswer ? details?.version ?? 1.1 : 0),
    ]
    if let modified = details?.value(of: "last-modified").flatMap(HTTPDate.seconds) {
      families.append(
        .gauge(
          "probe_http_last_modified_timestamp_seconds", "Returns the Last-Modified HTTP response header in unixtime",
          Double(modified)))
    }
    return families
  }

  /// Go's year 1, which blackbox_exporter tells if no chain was verified.
  private static let noChain = -62_135_596_800.0

  private var tls: [MetricFamily] {
    guard let version = details?.tlsVersion, let expires = certificateExpires, let bytes = details?.certificate else {
      return []
    }
    let certificate = CertificateSummary(bytes)
    let end = Double(expires.durationSince1970.components.seconds)
    return [
      .info("probe_tls_version_info", "Returns the TLS version used or NaN when unknown", ["version": version]),
      .info(
        "probe_ssl_last_chain_info", "Contains SSL leaf certificate information",
        [
          "fingerprint_sha256": certificate.fingerprint, "issuer": certificate.issuer, "subject": certificate.subject,
          "subjectalternative": certificate.names.joined(separator: ","),
        ]),
      .gauge("probe_ssl_earliest_cert_expiry", "Returns last SSL chain expiry in unixtime", end),
      .gauge(
        "probe_ssl_last_chain_expiry_timestamp_seconds", "Returns last SSL chain expiry in timestamp",
        isVerified ? end : Self.noChain),
    ]
  }
}

extension MetricFamily {
  static func localPath(isUp: Bool) -> MetricFamily {
    .gauge("dialtone_local_path_up", "Whether packets for the Internet can leave the machine that probes", isUp ? 1 : 0)
  }
}

extension Duration {
  package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}

extension IPAddress {
  /// FNV-1a of its bytes (draft-eastlake-fnv), an IPv4-mapped address as IPv4.
  fileprivate var hash: UInt32 {
    unmapped.networkBytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }
}
