# WireGuard over Wi-Fi, set up by wg-quick: what goes through the tunnel, and what stays on Wi-Fi.
radios 2
access_point wlan1 ap home 192.168.77.1/24
station home "$key"
eventually is_associated
must ip address add 192.168.77.2/24 dev wlan0
must ip route add default via 192.168.77.1
ours=$(wg genkey) theirs=$(wg genkey)

step "the other end, behind the access point"
must ip -n ap link add wg0 type wireguard
printf '[Interface]\nPrivateKey = %s\nListenPort = 51820\n[Peer]\nPublicKey = %s\nAllowedIPs = 10.8.0.2/32\n' \
  "$theirs" "$(wg pubkey <<< "$ours")" > "$state/their.conf"
must ip netns exec ap wg setconf wg0 "$state/their.conf"
must ip -n ap address add 10.8.0.1/24 dev wg0
must ip -n ap link set wg0 up
mkdir -p /etc/wireguard
umask 077
cat > /etc/wireguard/tunnel.conf << END
[Interface]
PrivateKey = $ours
Address = 10.8.0.2/24
[Peer]
PublicKey = $(wg pubkey <<< "$theirs")
AllowedIPs = 0.0.0.0/0
Endpoint = 192.168.77.1:51820
END

watch internet internet
watch endpoint 192.168.77.1
watch marked --mark 51820 internet
expect internet << 'END'
  reachable            -R -------  wlan0/wifi     via 192.168.77.1
END
expect endpoint << 'END'
  reachable            -R ------d  wlan0/wifi
END
expect marked << 'END'
  reachable            -R -------  wlan0/wifi     via 192.168.77.1
END

step "wg-quick up"
for module in nf_tables nft_ct nft_fib_inet; do must modprobe "$module"; done # for its firewall rules
must wg-quick up tunnel
must ping -c 1 -W 20 10.8.0.1
expect_interface tunnel type 65534 devtype wireguard link-kind wireguard is tunnel
expect internet << 'END'
  reachable            -R t------  tunnel/tunnel
END
expect_path satisfied tunnel/tunnel wlan0/wifi
# wg-quick's first rule sends everything into the tunnel. Its second rule excepts the routes in main.
expect endpoint << 'END'
  ? reachable          -R t------  tunnel/tunnel
  ? reachable          -R ------d  wlan0/wifi
END
expect_nothing marked

step "the link below is lost: of the tunnel the kernel says nothing, of the endpoint it does"
wpa disconnect
expect endpoint << 'END'
  unreachable          -- -------  wlan0/wifi     because no-carrier
END
expect marked << 'END'
  unreachable          -- -------  wlan0/wifi     because no-carrier
END
expect_nothing internet
wpa reconnect
expect endpoint << 'END'
  ? requires-connection -R -cC----  wlan0/wifi     because dormant
  reachable            -R ------d  wlan0/wifi
END
expect marked << 'END'
  ? requires-connection -R -cC----  wlan0/wifi     because dormant
  reachable            -R -------  wlan0/wifi     via 192.168.77.1
END
expect_nothing internet
must ping -c 1 -W 20 10.8.0.1

step "wg-quick down: its first rule goes last, with the link"
must wg-quick down tunnel
expect_nothing marked
expect endpoint << 'END'
  ? reachable          -R t------  tunnel/tunnel
  ? reachable          -R ------d  wlan0/wifi
END
expect internet << 'END'
  reachable            -R -------  wlan0/wifi     via 192.168.77.1
END
