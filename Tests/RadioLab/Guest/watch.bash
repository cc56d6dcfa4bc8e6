# This source file is part of Dialtone.
# SPDX-License-Identifier: Apache-2.0
#
# Watching with the command and with a program that uses the library, and comparing what both say with what is expected.
#
# A state is written as one line:
#
#   STATUS FLAGS INTERFACE/KIND [via GATEWAY] [because REASON]
#
# with `-` for no interface, and as many spaces as look well; a path as in `expect_path`, with ` from ADDRESS… via GATEWAY…` after
# each interface. Where a state is expected, `?` before it says that the kernel
# leaves it by itself, and so soon that it may be over before a program has asked: being given the newest state and not each
# one is what the library promises.

declare -A watch_fence # the address that the watch is fenced with; empty where it cannot be
declare -A watch_files # what its programs have told
declare -A watch_position
fence_types=(blackhole prohibit unreachable)
fence_reasons=(blackhole prohibited unreachable-route)
fence_count=0

# watch NAME [OPTION…] TARGET: starts `dialtone watch` and the program that uses the library with these arguments, in the
# namespace of $within, if that is set. The target `path` is the library's path, which the program alone tells.
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

# Reads the states in a file of either program, those of the fence or those of the target, into the array `states`.
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

# How the states from a position on stand to those wanted: `same`, `begun` where more may come, or `different`. A state marked
# `?` need not be there.
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

# fence NAME: makes a change of no concern, and waits until both programs have told of it: what happened before has been
# told, too. The change before has to be told first, for it may be one to the same.
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

# expect NAME: the states that both programs have told, or tell within the limit, since the last time are those of the
# standard input, one a line; and no more.
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

# expect_interface NAME type NUMBER devtype TEXT link-kind TEXT is KIND: what the kernel says of an interface (its hardware type,
# DEVTYPE in sysfs, IFLA_INFO_KIND), and what dialtone makes of it. `-` is nothing.
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

# expect_path WORDS…: what the library's path is now, and what it says of its interfaces' price:
#
#   STATUS [expensive] INTERFACE/KIND[/expensive]… [because REASON]
expect_path() {
  local found
  found=$(radio-probe --path) || fail "no path: $found"
  [[ $found == "$*" ]] || fail "path: $found; wanted: $*"
  say "path: $found"
}

# expect_over INTERFACE/KIND FLAGS [expensive]: given an address, and a route by a gateway, the Internet is reachable over it, with
# these flags, at this price. Takes both away again.
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

# expect_now STATE: what the Internet's state is once the kernel has come to it, asked for by a program that sees nothing else.
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

# wait_without_cellular TARGET: has both programs wait until it is reachable, but not over a modem.
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

# has_waited STATE: both have ended, with success and this state.
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
