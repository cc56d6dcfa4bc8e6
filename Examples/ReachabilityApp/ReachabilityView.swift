// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
import Dialtone
import SwiftUI

/// The Internet, the local network, and a host of the user's choice.
struct ReachabilityView: View {
  @State private var internet = ObservableReachability(.internet)
  @State private var localNetwork = ObservableReachability(.localNetwork)
  @State private var host: ObservableReachability?
  @State private var hostText = ""
  @State private var problem: String?

  var body: some View {
    Form {
      Section {
        TargetRow(title: "Internet", network: internet)
        TargetRow(title: "Local network", network: localNetwork)
      }
      Section("A host") {
        TextField("Name, address or URL", text: $hostText)
          .onSubmit { watchHost() }
        if let problem { Text(problem).foregroundStyle(.red) }
        if let host { TargetRow(title: "Host", network: host) }
      }
    }
    .formStyle(.grouped)
  }

  private func watchHost() {
    do {
      // The old one is released, and so ends.
      host = ObservableReachability(try .host(hostText))
      problem = nil
    } catch {
      host = nil
      problem = error.message
    }
  }
}

/// One target's state in words, drawn again whenever it changes.
struct TargetRow: View {
  let title: String
  let network: ObservableReachability

  var body: some View {
    Label {
      VStack(alignment: .leading) {
        Text(title).font(.headline)
        Text(network.current.description).font(.subheadline).foregroundStyle(.secondary)
      }
    } icon: {
      Image(systemName: symbol).foregroundStyle(network.isReachable ? Color.green : Color.secondary)
    }
  }

  private var symbol: String {
    guard network.isReachable else { return network.isDetermined ? "network.slash" : "questionmark.circle" }
    return switch network.current.interface?.kind {
    case .wifi?: "wifi"
    case .cellular?: "antenna.radiowaves.left.and.right"
    case .wired?: "cable.connector"
    case .tunnel?: "lock.shield"
    default: "network"
    }
  }
}
#endif
