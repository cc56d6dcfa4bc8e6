# Wi-Fi is lost and comes back: it disconnects, the access point dies, the key is wrong, the radio is blocked.
radios 3
access_point wlan1 ap home 192.168.77.1/24
station home "$key" home "$wrong_key"
eventually is_associated
must ip address add 192.168.77.2/24 dev wlan0
must ip route add default via 192.168.77.1
watch internet internet
expect internet << 'END'
  reachable            -R -------  wlan0/wifi  via 192.168.77.1
END

step "disconnected: the kernel keeps the route, but no packet leaves"
wpa disconnect
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because no-carrier
END
must ip route get 198.41.0.4
wpa reconnect
expect internet << 'END'
  ? requires-connection -R -cC----  wlan0/wifi  because dormant
  reachable            -R -------  wlan0/wifi  via 192.168.77.1
END

step "the access point dies, and is there again"
access_point_dies wlan1
expect internet << 'END'
  ? requires-connection  -R -cC----  wlan0/wifi  because dormant
  unreachable            -- -------  wlan0/wifi  because no-carrier
END
access_point wlan1 ap home
expect internet << 'END'
  ? requires-connection -R -cC----  wlan0/wifi  because dormant
  reachable            -R -------  wlan0/wifi  via 192.168.77.1
END

step "a wrong key: associated, but not let in, until the access point sends the station away"
wpa select_network 1
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because no-carrier
  requires-connection  -R -cC----  wlan0/wifi  because dormant
  unreachable          -- -------  wlan0/wifi  because no-carrier
END
wpa select_network 0
expect internet << 'END'
  ? requires-connection -R -cC----  wlan0/wifi  because dormant
  reachable            -R -------  wlan0/wifi  via 192.168.77.1
END

step "the radio blocked by software: the link is switched off, and its routes are gone"
block 0
expect internet << 'END'
  requires-connection  -R -c-i---  wlan0/wifi  because radio-blocked
END
unblock 0
eventually is_associated
must ip route add default via 192.168.77.1
expect internet << 'END'
  ? unreachable        -- -------  wlan0/wifi  because link-down
  unreachable          -- -------  wlan0/wifi  because no-carrier
  ? requires-connection -R -cC----  wlan0/wifi  because dormant
  unreachable          -- -------  -           because no-route
  reachable            -R -------  wlan0/wifi  via 192.168.77.1
END

step "another radio of this machine blocked: nothing by that"
block 2
must test "$(< /sys/class/ieee80211/phy2/rfkill*/soft)" = 1
expect_nothing internet
unblock 2

step "the access point's radio blocked: it switches off, and ours has no carrier"
ip netns exec ap bash -c '. /lab/state.bash; . /lab/radios.bash; block 1'
expect internet << 'END'
  ? requires-connection  -R -cC----  wlan0/wifi  because dormant
  unreachable            -- -------  wlan0/wifi  because no-carrier
END
