# Wi-Fi associates (WPA2), and gets an address and a route: before, not reachable; afterwards, reachable over Wi-Fi.
radios 2
access_point wlan1 ap home 192.168.77.1/24

step "before anything is switched on"
watch internet internet
watch local local-network
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END
expect local << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END

step "switched on, associated, given its keys; a link-local address is all it has"
station home "$key"
eventually is_associated
expect_interface wlan0 type 1 devtype wlan link-kind - is wifi
expect_interface hwsim0 type 803 devtype - link-kind - is other
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because no-carrier
  ? requires-connection -R -cC----  wlan0/wifi  because dormant
  unreachable          -- -------  -           because no-route
END
expect local << 'END'
  unreachable          -- -------  wlan0/wifi  because no-carrier
  ? requires-connection -R -cC----  wlan0/wifi  because dormant
  unreachable          -- -------  wlan0/wifi  because no-address
  reachable            -R ------d  wlan0/wifi
END

step "an address, then a route"
must ip address add 192.168.77.2/24 dev wlan0
expect_nothing local
expect_nothing internet
must ip route add default via 192.168.77.1
expect internet << 'END'
  reachable            -R -------  wlan0/wifi  via 192.168.77.1
END
expect_path satisfied wlan0/wifi
must ping -c 1 -W 10 192.168.77.1

step "scans: the kernel sends messages that have IFLA_WIRELESS alone"
ip monitor link > "$state/messages.log" &
for _ in 1 2 3; do must iw dev wlan0 scan freq 2412; done
wpa scan freq=2412
eventually grep -q "^[0-9]*: wlan0: <[A-Z_,]*> *$" "$state/messages.log"
expect_nothing internet
expect_nothing local

step "given new keys by the access point"
must ip netns exec ap hostapd_cli -p /run/hostapd -i wlan1 raw REKEY_GTK
eventually grep -q "WPA: Group rekeying completed" "$state/station.log"
expect_nothing internet
expect_nothing local
