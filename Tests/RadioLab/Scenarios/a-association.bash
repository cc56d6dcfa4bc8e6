# Wi-Fi associates (WPA2), gets an address and a route: not reachable before it is, then reachable over Wi-Fi.
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

step "switched on, associated, given its keys; there is no address yet"
station home "$key"
eventually is_associated
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because no-carrier
  requires-connection  -R c--C---  wlan0/wifi  because dormant
  unreachable          -- -------  -           because no-route
END
expect local << 'END'
  unreachable          -- -------  wlan0/wifi  because no-carrier
  requires-connection  -R c--C---  wlan0/wifi  because dormant
  unreachable          -- -------  wlan0/wifi  because no-address
END
