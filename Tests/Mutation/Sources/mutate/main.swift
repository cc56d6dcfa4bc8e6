// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Makes small changes of meaning in the sources of a checkout. Scripts/mutate calls it:
//
//   mutate ROOT COUNT SEED LEFT-OUT ONLY FOLDER…
//
// It rewrites files below ROOT, so give it a copy. It chooses COUNT changes at random in the files of the folders whose
// paths begin with one of ONLY (separated by commas, or empty), except those of the file LEFT-OUT. It prints each,
// fields separated by tabs: number, file, first line, last line, before, after. A program that is built of the sources
// makes the change whose number DIALTONE_MUTANT has; without it, none.

import Foundation

/// Random numbers that are the same for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}

struct Place {
  let file: String
  let change: Change
}

/// The switch, in each module. It notes which changes are reached: an empty file for each, in the folder that
/// DIALTONE_MUTANTS_REACHED names.
let mutantSource = """
  #if canImport(Glibc)
  internal import Glibc
  #else
  internal import Musl
  #endif

  private let mutantNumber: Int = unsafe getenv("DIALTONE_MUTANT").flatMap { unsafe Int(String(cString: $0)) } ?? 0
  private let reachedFolder: String? = unsafe getenv("DIALTONE_MUTANTS_REACHED").map { unsafe String(cString: $0) }
  // A byte for each change. Two threads may both note the same one.
  private nonisolated(unsafe) let isReached = unsafe UnsafeMutableRawPointer.allocate(byteCount: 4_096, alignment: 1)
    .initializeMemory(as: UInt8.self, repeating: 0, count: 4_096)

  private func note(_ number: Int, in folder: String) {
    if unsafe isReached[number] != 0 { return }
    unsafe isReached[number] = 1
    let descriptor = unsafe open("\\(folder)/\\(number)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o666)
    if descriptor >= 0 { close(descriptor) }
  }

  @inline(never) func mutantIsOn(_ number: Int) -> Bool {
    if let reachedFolder { note(number, in: reachedFolder) }
    return number == mutantNumber
  }

  """

func swiftFiles(in folder: String, below root: String) throws -> [String] {
  // The source for Apple's platforms is compiled into a second module, too, which has no switch.
  try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")
    .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("Apple/") }.sorted().map { "\(folder)/\($0)" }
}

/// Writes the changes of one file into it, the last one first, so that the others stay where they are. Of two that
/// overlap, the one that was chosen first is made.
func write(_ changes: [(number: Int, change: Change)], to path: String) throws -> Set<Int> {
  var bytes = Array(try String(contentsOfFile: path, encoding: .utf8).utf8)
  var made: [(number: Int, change: Change)] = []
  for candidate in changes where !made.contains(where: { $0.change.range.overlaps(candidate.change.range) }) {
    made.append(candidate)
  }
  for (number, change) in made.sorted(by: { $0.change.range.lowerBound > $1.change.range.lowerBound }) {
    bytes.replaceSubrange(change.range, with: Array(change.text(number: number).utf8))
  }
  try String(decoding: bytes, as: UTF8.self).write(toFile: path, atomically: true, encoding: .utf8)
  return Set(made.map(\.number))
}

func oneLine(_ text: String) -> String {
  text.split { $0 == "\n" || $0 == "\t" }.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
}

let arguments = CommandLine.arguments
guard arguments.count > 6, let count = Int(arguments[2]), let seed = UInt64(arguments[3]) else {
  print("Scripts/mutate calls this")
  exit(64)
}
let root = arguments[1]
// "FILE:LINE BEFORE", of an earlier run that did not compile.
let leftOut = Set(try String(contentsOfFile: arguments[4], encoding: .utf8).split(separator: "\n").map(String.init))
let prefixes = arguments[5].split(separator: ",")
var places: [Place] = []
for folder in arguments[6...] {
  for file in try swiftFiles(in: folder, below: root)
  where prefixes.isEmpty || prefixes.contains(where: file.hasPrefix) {
    let text = try String(contentsOfFile: "\(root)/\(file)", encoding: .utf8)
    places += ChangeFinder.changes(in: text).map { Place(file: file, change: $0) }
  }
}
var generator = SeededGenerator(state: seed)
places.shuffle(using: &generator)
let chosen = places.filter { !leftOut.contains("\($0.file):\($0.change.line) \(oneLine($0.change.before))") }
  .prefix(count).enumerated().map { (number: $0.offset + 1, place: $0.element) }
for (file, group) in Dictionary(grouping: chosen, by: { $0.place.file }) {
  let made = try write(group.map { ($0.number, $0.place.change) }, to: "\(root)/\(file)")
  for (number, place) in group where made.contains(number) {
    let change = place.change
    print(
      [
        "\(number)", file, "\(change.line)", "\(change.endLine)", oneLine(change.before),
        change.form == .leftOut ? "(left out)" : oneLine(change.after),
      ].joined(separator: "\t"))
  }
}
for folder in arguments[6...] {
  try mutantSource.write(toFile: "\(root)/\(folder)/MutantSwitch.swift", atomically: true, encoding: .utf8)
}
