// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The parser's script for a shell, with what it does not know: that words behind `help` are commands, and how each
/// shell completes a program. compgen is of bash alone, and expands the words it is given: a name could have a command
/// in it.
enum CompletionScript {
  static let option = "--generate-completion-script"

  static func completed(_ script: String) -> String {
    let words = CommandWord.known.filter { $0 != "help" }.joined(separator: " ")
    guard let help = script.firstRange(of: "_dialtone_help() {") else {
      // fish has no function for each command.
      let condition = #"__dialtone_should_offer_completions_for_positional "dialtone help" -eq 1"#
      return script.replacing("(compgen -c)", with: "(__fish_complete_command)")
        + "\ncomplete -c 'dialtone' -n '\(condition)' -fka '\(words)'"
    }
    let rest = String(script[help.upperBound...])
      .replacing("'*:subcommands:'", with: "':subcommands:(\(words))'", maxReplacements: 1)  // zsh
      .replacing(
        "offer_flags_options -1\n",
        with: """
          offer_flags_options 1
              [[ ${positional_number} -ne 1 ]] || COMPREPLY+=($(compgen -W '\(words)' -- "${cur}"))

          """, maxReplacements: 1)  // bash
    return (script[..<help.upperBound] + rest)
      .replacing(#"local -a list;list=(${(f)"$(compgen -c)"});_describe -V "" list"#, with: "_command_names -e")
      .replacing(#"-W "$(eval 'compgen -c')""#, with: "-c")
  }
}
