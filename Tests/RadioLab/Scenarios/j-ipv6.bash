# IPv6 alone on Wi-Fi: router advertisements, temporary addresses, and the IPv4 Internet behind NAT64.
radios 2
access_point wlan1 ap home 2001:db8:7::1/64
watch internet internet
watch four 192.0.2.7
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END
