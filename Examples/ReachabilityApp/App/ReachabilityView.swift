// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
import SwiftUI

/// The Internet, all usable interfaces, and a site of the user's choice.
struct ReachabilityView: View {
  @State private var model = NetworkModel()
  @State private var siteText = "https://"
  @Environment(\.scenePhase) private var phase

  var body: some View {
    Form {
      Section { RowView(row: model.internet) }
      Section("Interfaces") {
        if model.interfaces.isEmpty { Text("None").foregroundStyle(.secondary) }
        ForEach(model.interfaces) { RowView(row: $0) }
      }
      Section("A site") {
        TextField("URL", text: $siteText)
          .onSubmit { model.watchSite(siteText) }
        if let problem = model.problem { Text(problem).foregroundStyle(.red) }
        if let site = model.site { RowView(row: site) }
      }
    }
    .formStyle(.grouped)
    .animation(.default, value: model.interfaces)
    .onChange(of: phase) { _, phase in
      // A Mac's window in the background is still seen.
      if phase != .inactive { model.setActive(phase == .active) }
    }
  }
}

/// One line in words, drawn again whenever it changes.
struct RowView: View {
  let row: NetworkModel.Row

  var body: some View {
    Label {
      VStack(alignment: .leading) {
        Text(row.title).font(.headline)
        Text(row.words).font(.subheadline).foregroundStyle(.secondary)
      }
    } icon: {
      Image(systemName: row.symbol).foregroundStyle(color)
    }
  }

  private var color: Color {
    switch row.isGood {
    case true?: .green
    case false?: .red
    case nil: .secondary
    }
  }
}

#Preview { ReachabilityView() }
#endif
