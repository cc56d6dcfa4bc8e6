// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import DialtoneExporter

/// A certificate's names, as blackbox_exporter 0.23 tells them (Go's pkix.Name.String).
struct CertificateSummaryTests {
  @Test func writesNamesAsGoDoes() throws {
    // openssl req -x509 -subj "/CN=a.test/OU=Unit/O=GitHub, Inc./L=San Francisco/ST=California/C=US/serialNumber=77\
    //   /street=S 1/postalCode=123/emailAddress=a@b.c/DC=corp"
    let text =
      "MIIC5DCCAougAwIBAgIUML8LnW/avi9z2WQ3Vfw+oWA5xe8wCgYIKoZIzj0EAwIwgcYxDzANBgNVBAMMBmEudGVzdDENMAsGA1UE"
      + "CwwEVW5pdDEVMBMGA1UECgwMR2l0SHViLCBJbmMuMRYwFAYDVQQHDA1TYW4gRnJhbmNpc2NvMRMwEQYDVQQIDApDYWxpZm9ybmlh"
      + "MQswCQYDVQQGEwJVUzELMAkGA1UEBRMCNzcxDDAKBgNVBAkMA1MgMTEMMAoGA1UEEQwDMTIzMRQwEgYJKoZIhvcNAQkBFgVhQGIu"
      + "YzEUMBIGCgmSJomT8ixkARkWBGNvcnAwIBcNMjYxMTI3MDA1MjQ4WhgPMjEyNjExMDMwMDUyNDhaMIHGMQ8wDQYDVQQDDAZhLnRl"
      + "c3QxDTALBgNVBAsMBFVuaXQxFTATBgNVBAoMDEdpdEh1YiwgSW5jLjEWMBQGA1UEBwwNU2FuIEZyYW5jaXNjbzETMBEGA1UECAwK"
      + "Q2FsaWZvcm5pYTELMAkGA1UEBhMCVVMxCzAJBgNVBAUTAjc3MQwwCgYDVQQJDANTIDExDDAKBgNVBBEMAzEyMzEUMBIGCSqGSIb3"
      + "DQEJARYFYUBiLmMxFDASBgoJkiaJk/IsZAEZFgRjb3JwMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAErSVGZbCcJOPtOAx98nSu"
      + "4l53GHpoXCUGv+xSb4Kf7Yb5uih16aYtSTphM+DjLHqQhOnMrc10a9rYg4owObBvBaNTMFEwHQYDVR0OBBYEFAzm/R9Sn38iGRTW"
      + "eF3TFRCp+eXyMB8GA1UdIwQYMBaAFAzm/R9Sn38iGRTWeF3TFRCp+eXyMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAw"
      + "RAIgQuS1SXG86+jgpcrEiL529KwVc01kiAcRct3nNWg/NSUCIDH3OkDafQKN+oiTxfdqyPeAsZo+778AAUYCcvpG62Cz"
    let summary = CertificateSummary(Array(try #require(Data(base64Encoded: text))))
    #expect(
      summary.subject == "SERIALNUMBER=77,CN=a.test,OU=Unit,O=GitHub\\, Inc.,POSTALCODE=123,STREET=S 1,L=San Francisco,"
        + "ST=California,C=US,0.9.2342.19200300.100.1.25=#1304636f7270,1.2.840.113549.1.9.1=#0c056140622e63")
    #expect(summary.issuer == summary.subject && summary.names.isEmpty)
  }
}
