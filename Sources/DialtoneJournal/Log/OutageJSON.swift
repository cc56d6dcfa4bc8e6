// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Outages and sums as lines of JSON, all keys always present. Spans are seconds.
package enum OutageJSON {
  package static func line(_ outage: Outage) -> [UInt8] {
    JSONText.object { text in
      text.field("kind", "outage")
      text.field("target", outage.target)
      text.field("began", WallTime.text(outage.began))
      text.field("ended", outage.ending == .open ? nil : WallTime.text(outage.ended))
      text.field("lasted", seconds: outage.lasted)
      text.field("slept", seconds: outage.slept)
      text.field("unwatched", seconds: outage.unwatched)
      text.field("beganBefore", outage.wasFirst)
      let (ending, how) = words(outage.ending)
      text.field("ending", ending)
      text.field("how", how)
      text.field("layer", outage.layer.rawValue)
      text.field("reason", outage.reason)
      text.field("cause", outage.explanation?.cause)
      text.field("confidence", outage.explanation?.confidence)
      text.field("unexplained", outage.unexplained?.rawValue)
      text.field("summary", outage.causeWords)
      text.field("advice", outage.explanation?.advice)
      text.steps(outage.explanation?.steps ?? [], leavesOut: false)
    }
  }

  package static func lines(_ sums: OutageSums, skippedLines: Int) -> [[UInt8]] {
    let targets = sums.targets.sorted { $0.key < $1.key }.map { name, target in
      JSONText.object { text in
        text.field("kind", "target")
        text.field("target", name)
        text.field("outages", Int64(target.outages))
        text.field("up", seconds: target.up)
        text.field("down", seconds: target.down)
        text.field("longest", seconds: target.longest)
        text.key("availability")
        text.number(target.availability.map { decimals($0 * 100, 6) } ?? "null")
      }
    }
    let layers = OutageLayer.allCases.map { layer in
      let events = sums.events(in: layer)
      return JSONText.object { text in
        text.field("kind", "layer")
        text.field("layer", layer.rawValue)
        text.field("outages", Int64(sums.layers[layer]?.outages ?? 0))
        text.field("down", seconds: sums.layers[layer]?.down ?? 0)
        text.field("events", Int64(events.count))
        text.field("lasted", seconds: events.lasted)
      }
    }
    let end = JSONText.object { text in
      text.field("kind", "journal")
      text.field("since", WallTime.text(sums.since))
      text.field("until", WallTime.text(sums.until))
      text.field("skippedLines", Int64(skippedLines))
    }
    return targets + layers + [end]
  }

  private static func words(_ ending: Outage.Ending) -> (ending: String, how: String?) {
    switch ending {
    case .over(let how): ("over", how)
    case .open: ("open", nil)
    case .cut: ("cut", nil)
    }
  }

  /// A number with this many digits behind the point, rounded down, so that 100 means all.
  package static func decimals(_ number: Double, _ digits: Int) -> String {
    var scale: Double = 1
    for _ in 0..<digits { scale *= 10 }
    let whole = Int64((number * scale).rounded(.down))
    return "\(whole / Int64(scale)).\(UTCTimestamp.padded(whole % Int64(scale), digits))"
  }
}
