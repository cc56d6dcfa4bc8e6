# This source file is part of Dialtone.
# SPDX-License-Identifier: Apache-2.0
#
# Asks `dialtone explain` what is wrong, and compares the cause with what was done.

# explained CAUSE STEP WORDS [ARGUMENT…]: `dialtone explain` with these arguments names the cause in this step; the
# words say what was done. A cause of `-` is nothing wrong. What it says is a line of the transcript, from which
# `Scripts/radio-lab --write` makes the table of the documentation.
explained() {
  local cause=$1 kind=$2 words=$3 status=0 expected=1 found
  shift 3
  # As a person would ask: the time-out is the machine's time, which leaps.
  dialtone explain --json "$@" > "$state/explain.json" 2> "$state/explain.error" || status=$?
  [[ $(< "$state/explain.json") =~ $verdict ]] || fail "no object as it is documented: $(< "$state/explain.json")"
  found=("${BASH_REMATCH[@]}")
  [[ $cause != - ]] || expected=0
  ((status == expected)) || fail "explain $*: exit status $status; wanted: $expected"
  [[ ${found[2]:--} == "$cause" ]] || fail "explain $*: ${found[2]:--}; wanted: $cause"
  [[ $kind == - || $(< "$state/explain.json") == *"{\"step\":\"$kind\",\"outcome\":\"fault\""* ]] ||
    fail "explain $*: no fault in the step $kind"
  say "explain | $words | ${found[2]:--} | ${found[3]} | ${found[4]}"
}

verdict='^\{"target":"[^"]*","cause":(null|"([^"]*)"),"confidence":"([^"]*)","summary":"([^"]*)",'

# advised WORDS: the advice that came with it has these words.
advised() {
  [[ $(< "$state/explain.json") == *'"advice":"'*"$1"*'","steps":'* ]] ||
    fail "other advice than $1: $(< "$state/explain.json")"
}
