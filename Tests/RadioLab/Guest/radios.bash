# This source file is part of Dialtone.
# SPDX-License-Identifier: Apache-2.0
#
# Simulated radios: access points in network namespaces of their own, and this machine's Wi-Fi.

key=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
wrong_key=ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff

# radios COUNT: makes COUNT radios; wlan0 is this machine's, the others become access points.
radios() {
  must modprobe mac80211_hwsim radios="$1"
  eventually test -e "/sys/class/net/wlan$(($1 - 1))"
}

# access_point INTERFACE NAMESPACE NAME [ADDRESS [BRIDGE]]: starts an access point that asks for the WPA2 key,
# $handshakes times if that is set.
access_point() {
  local interface=$1 namespace=$2
  [[ -e /run/netns/$namespace ]] || must ip netns add "$namespace"
  if [[ -e /sys/class/net/$interface ]]; then
    must iw phy "$(< "/sys/class/net/$interface/phy80211/name")" set netns name "$namespace"
  fi
  cat > "$state/$interface.conf" << END
interface=$interface
driver=nl80211
ctrl_interface=/run/hostapd
ssid=$3
hw_mode=g
channel=1
wpa=2
wpa_key_mgmt=WPA-PSK
rsn_pairwise=CCMP
wpa_psk=$key
${5:+bridge=$5}
${handshakes:+wpa_pairwise_update_count=$handshakes}
END
  must ip netns exec "$namespace" hostapd -B -f "$state/$interface.log" -P "$state/$interface.pid" \
    "$state/$interface.conf"
  [[ -z ${4-} ]] || must ip -n "$namespace" address replace "$4" dev "$interface"
}

# access_point_dies INTERFACE: ends the access point, and its stations get no message.
access_point_dies() {
  local process
  process=$(< "$state/$1.pid")
  kill -KILL "$process"
  eventually has_ended "$process"
}

# has_ended PID: the process is gone, or a zombie, which no process waits for.
has_ended() { ! grep -qs '^State:.[^Z]' "/proc/$1/status"; }

# station NAME KEY [NAME KEY…]: starts the supplicant of wlan0 with these networks, the first of them chosen.
station() {
  {
    printf 'ctrl_interface=/run/wpa\np2p_disabled=1\n'
    local disabled=0
    while (($# > 0)); do
      printf 'network={\nssid="%s"\npsk=%s\nscan_freq=2412\ndisabled=%d\n}\n' "$1" "$2" "$disabled"
      disabled=1
      shift 2
    done
  } > "$state/station.conf"
  must wpa_supplicant -B -i wlan0 -D nl80211 -c "$state/station.conf" -f "$state/station.log" -P "$state/station.pid"
}

# wpa COMMAND…: tells the supplicant what to do.
wpa() {
  local answer
  answer=$(wpa_cli -p /run/wpa -i wlan0 "$@" 2>&1) && [[ $answer != *FAIL* ]] || fail "wpa_cli $*: $answer"
}

# can_see ADDRESS: the last scan found the access point.
can_see() { wpa_cli -p /run/wpa -i wlan0 scan_results | grep -q "^$1"; }

# is_at ADDRESS: the station is at this access point.
is_at() { iw dev wlan0 link | grep -q "^Connected to $1"; }

# is_associated: the station is at an access point, with its keys.
is_associated() { file_is /sys/class/net/wlan0/operstate up; }

# block PHY, unblock PHY: by software, like rfkill(8). Every radio has a switch of its own.
block() { switch "$1" 1; }
unblock() { switch "$1" 0; }
switch() {
  local file
  for file in "/sys/class/ieee80211/phy$1"/rfkill*/soft; do printf '%d' "$2" > "$file" || fail "$file"; done
}
