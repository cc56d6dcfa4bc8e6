# This source file is part of Dialtone.
# SPDX-License-Identifier: Apache-2.0
#
# Watches with the command and with a program that uses the library, and compares their output with what is expected.
#
# A state is one line:
#
#   STATUS FLAGS INTERFACE/KIND [via GATEWAY] [because REASON]
#
# `-` is no interface, and any number of spaces may separate the fields. A path is written as in `expect_path`, with `
# from ADDRESS… via GATEWAY…` after each interface. In an expectation, `?` before a state says that the kernel leaves it
# by itself, perhaps before a program has asked: the library promises the newest state, not each one.

declare -A watch_fence # the address with which the watch is fenced; empty if that is impossible
declare -A watch_files # the files in which its programs' output is
declare -A watch_position
fence_types=(blackhole prohibit unreachable)
fence_reasons=(blackhole prohibited unreachable-route)
fence_count=0

# watch NAME [OPTION…] TARGET: starts `dialtone watch` and the program that uses the library with these arguments, in
# the namespace of $within, if that is set. The target `path` is the library's path, which only the program tells.
watch() {
  local name=$1 fence=192.0.2.99
  shift
  case " $* " in
    *" --interface "* | *" --from "*) fence= ;; # routes of other interfaces are not looked at
    *" -6 "*) fence=2001:db8:99::1 ;;
  esac
  [[ -z ${within-} ]] || fence=
  watch_fence[$name]=$fence
  watch_files[$name]=$name.probe
  : > "$state/$name.json" > "$state/$name.probe"
  watch_position[$name.json]=0 watch_position[$name.probe]=0
  if [[ ${!#} != path ]]; then
    watch_files[$name]="$name.json $name.probe"
    ${within-} dialtone watch --json "$@" $fence > "$state/$name.json" 2> "$state/$name.command.error" &
  fi
  ${within-} radio-probe "$@" $fence > "$state/$name.probe" 2> "$state/$name.probe.error" &
}

json='"target":"([^"]*)","status":"([^"]*)".*"flagsDescription":"([^"]*)",'
json+='"interface":(null|\{"name":"([^"]*)","index":[0-9]+,"kind":"([^"]*)"\}),'
json+='"source":.*,"gateway":(null|"([^"]*)"),.*"reason":(null|"([^"]*)")'

# Reads the states in a file of either program, either the fence's or the target's, into the array `states`.
read_states() {
  local name=${1%.*} file=$state/$1 wants_fence=$2 line text is_fence
  states=()
  while read -r line; do
    if [[ $1 == *.json ]]; then
      [[ $line =~ $json ]] || fail "no line of JSON as it is documented: $line"
      text="${BASH_REMATCH[1]} ${BASH_REMATCH[2]} ${BASH_REMATCH[3]} ${BASH_REMATCH[5]:--}"
      text+="${BASH_REMATCH[6]:+/${BASH_REMATCH[6]}}${BASH_REMATCH[8]:+ via ${BASH_REMATCH[8]}}"
      text+="${BASH_REMATCH[10]:+ because ${BASH_REMATCH[10]}}"
    else
      text=$line
    fi
    is_fence=
    [[ -n ${watch_fence[$name]} && ${text%% *} == "${watch_fence[$name]}" ]] && is_fence=1
    [[ $is_fence == "$wants_fence" ]] && states+=("${text#* }")
  done < "$file"
}

# Compares the states from a position on with the expected ones: `same`, `begun` if more may come, or `different`. A
# state with `?` may be missing.
compare() {
  local file=$1 position=$2 next=0 found
  shift 2
  local wanted=("$@")
  read_states "$file" ""
  for found in "${states[@]:position}"; do
    while ((next < ${#wanted[@]})) && [[ ${wanted[next]} == "? "* && ${wanted[next]#"? "} != "$found" ]]; do
      next=$((next + 1))
    done
    if ((next == ${#wanted[@]})) || [[ ${wanted[next]#"? "} != "$found" ]]; then
      comparison=different
      return
    fi
    next=$((next + 1))
  done
  comparison=same
  for found in "${wanted[@]:next}"; do [[ $found == "? "* ]] || comparison=begun; done
}

# fence NAME: makes a change that does not matter, and waits until both programs have told it. Then they have also told
# everything before. The earlier fence must be told first, because it may have led to the same state.
fence() {
  wait_for_fence "$1"
  fence_count=$((fence_count + 1))
  set_fence
  wait_for_fence "$1"
}

set_fence() {
  local type=${fence_types[fence_count % 3]}
  must ip route replace "$type" 192.0.2.99/32
  must ip -6 route replace "$type" 2001:db8:99::1/128
}

wait_for_fence() {
  local file
  [[ -n ${watch_fence[$1]} ]] || return 0
  for file in ${watch_files[$1]}; do eventually has_passed_fence "$file"; done
}

has_passed_fence() {
  read_states "$1" 1
  ((${#states[@]} > 0)) && [[ ${states[-1]} == *" because ${fence_reasons[fence_count % 3]}" ]]
}

# expect NAME: since the last time, both programs have told exactly the states on standard input, one a line, or tell
# them within the limit.
expect() {
  local name=$1 wanted=() told=() line words file end=$((SECONDS + limit))
  while read -ra words; do
    ((${#words[@]} == 0)) || wanted+=("${words[*]}")
  done
  for file in ${watch_files[$name]}; do
    while true; do
      compare "$file" "${watch_position[$file]}" ${wanted[@]+"${wanted[@]}"}
      [[ $comparison == begun ]] && ((SECONDS < end)) || break
      pause
    done
    [[ $comparison == same ]] || differ "$file" ${wanted[@]+"${wanted[@]}"}
  done
  fence "$name"
  for file in ${watch_files[$name]}; do
    compare "$file" "${watch_position[$file]}" ${wanted[@]+"${wanted[@]}"}
    [[ $comparison == same ]] || differ "$file" ${wanted[@]+"${wanted[@]}"}
    told=("${states[@]:watch_position[$file]}")
    watch_position[$file]=${#states[@]}
  done
  ((${#told[@]} > 0)) || told=("nothing new")
  for line in "${told[@]}"; do say "$name: $line"; done
}

# expect_interface NAME type NUMBER devtype TEXT link-kind TEXT is KIND: what the kernel says of an interface (its
# hardware type, DEVTYPE in sysfs, IFLA_INFO_KIND), and the kind that dialtone gives it. `-` is nothing.
expect_interface() {
  local name=$1 wanted="${*:2}" found info devtype kind
  info=$(ip -details -json link show dev "$name") || fail "no interface $name"
  [[ $info =~ \"info_kind\":\"([^\"]*)\" ]] && info=${BASH_REMATCH[1]} || info=-
  devtype=$(sed -n 's/^DEVTYPE=//p' "/sys/class/net/$name/uevent")
  kind=$(dialtone interfaces --json | sed -n "s/.*\"name\":\"$name\",\"index\":[0-9]*,\"kind\":\"\([a-z]*\)\".*/\1/p")
  found="type $(< "/sys/class/net/$name/type") devtype ${devtype:--} link-kind $info is $kind"
  [[ $found == "$wanted" ]] || fail "$name: $found; wanted: $wanted"
  say "interface $name: $found"
}

# expect_path WORDS…: the library's path now, and the cost of its interfaces:
#
#   STATUS [expensive] INTERFACE/KIND[/expensive]… [because REASON]
expect_path() {
  local found
  found=$(radio-probe --path) || fail "no path: $found"
  [[ $found == "$*" ]] || fail "path: $found; wanted: $*"
  say "path: $found"
}

# expect_over INTERFACE/KIND FLAGS [expensive]: with an address and a route by a gateway, the Internet is reachable over
# the interface, with these flags and this cost. Removes both again.
expect_over() {
  local name=${1%/*} wanted="reachable $2 $1 via 10.77.0.1" path
  must ${within-} ip link set "$name" up
  must ${within-} ip address add 10.77.0.2/24 dev "$name"
  must ${within-} ip route replace default via 10.77.0.1
  expect_now "$wanted"
  path=$(${within-} radio-probe --path) || fail "no path: $path"
  [[ "$path " == "satisfied ${3:+$3 }$1${3:+/$3} "* ]] || fail "path: $path; wanted first: $1${3:+/$3}"
  say "path: $path"
  must ${within-} ip -4 address flush dev "$name"
}

# expect_now STATE: the Internet's state once the kernel has reached it, as a program reads it that sees nothing else.
expect_now() {
  watch_fence[now]=
  eventually is_now "$1"
  say "now: $1"
}

is_now() {
  # 1: not reachable.
  ${within-} dialtone status --json internet > "$state/now.json" || (($? == 1)) || return
  read_states now.json ""
  [[ ${states[0]} == "$1" ]]
}

# wait_without_cellular TARGET: both programs wait until it is reachable, but not over a modem.
wait_without_cellular() {
  dialtone wait --json --not-cellular "$1" > "$state/wait.json" 2> "$state/wait.command.error" &
  wait_jobs=($!)
  radio-probe --not-cellular "$1" > "$state/wait.probe" 2> "$state/wait.probe.error" &
  wait_jobs+=($!)
  watch_fence[wait]=
}

still_waits() {
  local job
  for job in "${wait_jobs[@]}"; do kill -0 "$job" 2> /dev/null || fail "waits no longer"; done
  [[ ! -s $state/wait.json && ! -s $state/wait.probe ]] || fail "the waiting has ended"
  say "wait: still waits"
}

# has_waited STATE: both have ended successfully, with this state.
has_waited() {
  local job file
  for job in "${wait_jobs[@]}"; do wait "$job" || fail "exit status $?"; done
  for file in wait.json wait.probe; do
    read_states "$file" ""
    [[ ${#states[@]} == 1 && ${states[0]} == "$1" ]] || fail "$file: ${states[*]}"
  done
  unset "watch_fence[wait]"
  say "wait: $1"
}

# expect_nothing NAME: nothing has been told since the last time.
expect_nothing() { expect "$1" < /dev/null; }

differ() {
  local file=$1
  shift
  say "$file has:"
  read_states "$file" ""
  printf '         %s\n' "${states[@]:watch_position[$file]}"
  say "wanted:"
  printf '         %s\n' "$@"
  fail "$file: not the states expected ($comparison)"
}
