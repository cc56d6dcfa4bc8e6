// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// The program under test of the radio lab. It uses the library like any program, and prints one line for each state
/// that it gets, in the form that `Tests/RadioLab/Guest/watch.bash` describes.
///
///     radio-probe [-4 | -6] [--interface NAME] [--mark N] [--settling SECONDS] [--no-nat64] [--not-cellular] TARGET…
///     radio-probe --path
///
/// `dialtone` runs beside it with the same arguments, and the two have to agree. The target `path` is the library's
/// path, which the command does not have. With `--path` it prints the present path.
@main
struct RadioProbe {
  static func main() async {
    let arguments: ProbeArguments
    do {
      arguments = try ProbeArguments(CommandLine.arguments.dropFirst())
    } catch {
      Line.write("radio-probe: \(error)", to: 2)
      exit(64)
    }
    if arguments.asksForPath {
      do {
        Line.write(Line.text(try await PathMonitor().waitUntilDetermined()), to: 1)
      } catch {
        Line.write("radio-probe: \(error)", to: 2)
        exit(1)
      }
      return
    }
    await withDiscardingTaskGroup { group in
      if arguments.watchesPath {
        var configuration = PathConfiguration()
        configuration.settling = arguments.configuration.settling
        let monitor = PathMonitor(configuration: configuration)
        group.addTask {
          for await path in monitor.updates { Line.write("path \(Line.text(path, withAddresses: true))", to: 1) }
        }
      }
      for target in arguments.targets {
        let monitor = ReachabilityMonitor(target.value, configuration: arguments.configuration)
        group.addTask {
          if arguments.isWaiting {
            await wait(for: monitor, target.text)
          } else {
            for await state in monitor.updates { Line.write("\(target.text) \(Line.text(state))", to: 1) }
          }
        }
      }
    }
  }

  /// Prints the first state in which the target is reachable, and not over a modem.
  private static func wait(for monitor: ReachabilityMonitor, _ target: String) async {
    do {
      let state = try await monitor.waitUntilReachable(over: .nonCellular)
      Line.write("\(target) \(Line.text(state))", to: 1)
    } catch {
      Line.write("\(target) \(error)", to: 2)
    }
  }
}
