# This source file is part of Dialtone.
# SPDX-License-Identifier: Apache-2.0
#
# What every scenario uses: it says what happens, waits with a limit, and fails with everything that helps to see why.

# No scenario takes a third of this, even on a busy machine.
limit=120
state=/run/lab

begin() {
  mkdir -p "$state"
  # Waiting is reading from a pipe without a writer: no process is started for it.
  mkfifo "$state/never"
  exec {never}<> "$state/never"
  ip link set lo up
}

say() {
  local uptime
  read -r uptime _ < /proc/uptime
  printf '%7.2f  %s\n' "$uptime" "$*"
}

# step WORDS…: says what follows.
step() { say "--- $*"; }

fail() {
  say "FAILED: $*"
  show_everything
  exit 1
}

finish() {
  local job
  for job in $(jobs -p); do kill "$job"; done
  say "passed"
  exit 0
}

# A pause of the machine's time, which can leap.
pause() { read -rt 0.2 -u "$never"; }

# eventually COMMAND…: repeats the command until it succeeds; fails after the limit.
eventually() {
  local end=$((SECONDS + limit))
  until "$@"; do
    ((SECONDS < end)) || fail "after $limit s, still not: $*"
    pause
  done
}

# must COMMAND…: the scenario fails if the command fails.
must() {
  local output
  output=$("$@" 2>&1) || fail "$*: $output"
}

# refused COMMAND…: the command must fail.
refused() {
  local output
  ! output=$("$@" 2>&1) || fail "succeeded: $*"
  say "refused: $* (${output%%$'\n'*})"
}

# file_is FILE TEXT
file_is() { [[ -r $1 && $(< "$1") == "$2" ]]; }

show_everything() {
  local file
  for file in "$state"/*.json "$state"/*.probe "$state"/*.error "$state"/*.log; do
    [[ -s $file ]] && printf '\n=== %s\n' "$file" && tail -n 40 "$file"
  done
  printf '\n=== links, addresses, routes\n'
  ip -details -brief link
  ip -brief address
  ip route show table all
  ip -6 route
  printf '\n=== kernel\n'
  dmesg | tail -n 20
}

# has_address BEGINNING [FLAG]: wlan0 has an IPv6 address with this beginning and flag that is past duplicate address
# detection.
has_address() {
  local line
  while read -r line; do
    [[ $line == *"inet6 $1"*" ${2-}"* && $line != *tentative* ]] && return
  done < <(ip -6 -oneline address show dev wlan0)
  return 1
}
