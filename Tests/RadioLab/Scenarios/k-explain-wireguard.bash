# What `dialtone explain` says of faults of WireGuard over Wi-Fi: no handshake, no peer, and a lost link beneath.
radios 2
access_point wlan1 ap home 192.168.77.1/24
station home "$key"
eventually is_associated
must ip address add 192.168.77.2/24 dev wlan0
must ip route add default via 192.168.77.1
ours=$(wg genkey) theirs=$(wg genkey)
must ip link add wg0 type wireguard
umask 077
# peer ALLOWED: our peer, with these addresses.
peer() {
  printf '[Interface]\nPrivateKey = %s\n[Peer]\nPublicKey = %s\nAllowedIPs = %s\nEndpoint = 192.168.77.1:51820\n' \
    "$ours" "$(wg pubkey <<< "$theirs")" "$1" > "$state/our.conf"
  must wg setconf wg0 "$state/our.conf"
}

step "no peer takes packets for the target"
peer 10.9.0.0/24
must ip address add 10.8.0.2/24 dev wg0
must ip link set wg0 up
explained tunnel-silent tunnel "WireGuard: no peer takes packets for the target." 10.8.0.1:80

step "nobody is at the other end"
peer 10.8.0.0/24
explained tunnel-silent connect "WireGuard: nobody is at the other end." 10.8.0.1:80

step "the other end"
must ip -n ap link add wg0 type wireguard
printf '[Interface]\nPrivateKey = %s\nListenPort = 51820\n[Peer]\nPublicKey = %s\nAllowedIPs = 10.8.0.2/32\n' \
  "$theirs" "$(wg pubkey <<< "$ours")" > "$state/their.conf"
must ip netns exec ap wg setconf wg0 "$state/their.conf"
must ip -n ap address add 10.8.0.1/24 dev wg0
must ip -n ap link set wg0 up
must ping -c 1 -W 20 10.8.0.1
explained refused connect "WireGuard: it works; nothing listens behind it." 10.8.0.1:80

step "the link beneath is lost"
wpa disconnect
explained no-carrier tunnel "WireGuard: the Wi-Fi beneath is disconnected." 10.8.0.1:80
