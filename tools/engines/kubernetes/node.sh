# shellcheck shell=bash
# The nodes of a cluster (see cluster.sh, which sources this file): each is a network of its own behind the hub, with
# containerd, kubelet and kube-proxy in it.

PAUSE=registry.k8s.io/pause:3.10
# The last two numbers of the address of a registry on the host, and its port: nodes pull from it without TLS.
REGISTRY=240.250:5000

ctr_of() { # node, argument…
  local i=$1
  shift
  ctr -a "$DIR/n$i/containerd.sock" -n k8s.io "$@"
}

connect_node() { # node
  local i=$1
  ip netns add "n$i"
  ip link add "n$i" netns hub type veth peer name uplink netns "n$i"
  ip -n hub addr add "10.$N.$i.1/24" dev "n$i"
  ip -n hub link set "n$i" up
  ip -n hub route add "10.$N.$((16 + i)).0/24" via "10.$N.$i.2"
  ip -n "n$i" addr add "10.$N.$i.2/24" dev uplink
  ip -n "n$i" link set uplink up
  ip -n "n$i" link set lo up
  ip -n "n$i" route add default via "10.$N.$i.1"
  nsenter --net="/run/netns/n$i" sysctl -qw net.ipv4.ip_forward=1
}

# Drops packets on arrival, at both ends: as with a cut cable, neither end sees its own link go down.
switch_link() { # node, -I to cut or -D to mend
  nsenter --net=/run/netns/hub iptables -w -t raw "$2" PREROUTING -i "n$1" -j DROP &&
    nsenter --net="/run/netns/n$1" iptables -w -t raw "$2" PREROUTING -i uplink -j DROP
}

write_containerd() { # node
  local home=$DIR/n$1 registry=10.$N.$REGISTRY
  cat > "$home/cni/10-bridge.conflist" << JSON
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true, "ipam": {
    "type": "host-local", "dataDir": "$home/addresses",
    "ranges": [[{"subnet": "10.$N.$((16 + $1)).0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}
]}
JSON
  mkdir -p "$home/registries/$registry"
  # Without a host of its own, containerd 1.6 ignores the file.
  printf 'server = "http://%s"\n[host."http://%s"]\n' "$registry" "$registry" > "$home/registries/$registry/hosts.toml"
  # If the OOM score of a process must not be lowered, runc would fail for every sandbox: hence restrict_oom_score_adj.
  cat > "$home/containerd.toml" << TOML
version = 2
root = "$home/containerd"
state = "$home/containerd-state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.internal.v1.opt"]
[grpc]
  address = "$home/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$PAUSE"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$home/registries"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$home/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
TOML
}

write_kubelet() { # node
  local home=$DIR/n$1
  # Only the cluster's own name server.
  echo "nameserver 127.0.0.1" > "$home/resolv.conf"
  cat > "$home/kubelet.yaml" << YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /grantd-kubernetes-$N-n$1
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix://$home/containerd.sock
clusterDNS: [$CONTROL]
clusterDomain: cluster.local
resolvConf: $home/resolv.conf
address: 10.$N.$1.2
podLogsDir: $home/pod-logs
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100
maxPods: 100
nodeStatusUpdateFrequency: 2s
nodeStatusReportFrequency: 2s
nodeLeaseDurationSeconds: $NODE_GRACE_SECONDS
YAML
}

PLUGINS_SOCKET=/var/lib/kubelet/device-plugins/kubelet.sock

start_node() { # node
  local i=$1 home=$DIR/n$1 root
  mkdir -p "$home/cni"
  connect_node "$i"
  for root in $(cgroup_roots); do mkdir -p "$root/grantd-kubernetes-$N-n$i"; done
  write_containerd "$i"
  write_kubelet "$i"
  launch "containerd-n$i" "n$i" containerd -c "$home/containerd.toml"
  await "containerd of node $i" ctr_of "$i" version
  load_image "$i" "$(program_image pause "$PAUSE")" > /dev/null
  # The one socket that is at a fixed place: a kubelet puts its own there, and must not meet another that does the same.
  rm -f "$PLUGINS_SOCKET"
  launch "kubelet-n$i" "n$i" "$BIN/kubelet" --config "$home/kubelet.yaml" --kubeconfig "$DIR/kubeconfig" \
    --root-dir "$home/kubelet" --cert-dir "$home/kubelet-pki" --hostname-override "node$i" --node-ip "10.$N.$i.2"
  await "kubelet of node $i" test -S "$PLUGINS_SOCKET"
  launch_proxy "n$i" "n$i" "node$i"
}

is_ready() { kc wait --for=condition=Ready "node/node$1" --timeout=1s; }

load_image() { # node, file
  ctr_of "$1" images import "$2" || { say "node $1 cannot load $2"; return 1; }
}

# An image with one program and nothing else, in the format of `docker save`.
program_image() { # program, reference
  local home=$DIR/images/$1 layer config
  if [ ! -e "$home/image.tar" ]; then
    mkdir -p "$home"
    tar -cf "$home/layer.tar" -C "$BIN" "$1"
    layer=$(sha256sum "$home/layer.tar" | cut -d ' ' -f 1)
    printf '{"architecture":"%s","os":"linux","config":{"Entrypoint":["/%s"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
      "$(GOFLAGS='' go env GOARCH)" "$1" "$layer" > "$home/config"
    config=$(sha256sum "$home/config" | cut -d ' ' -f 1).json
    mv "$home/config" "$home/$config"
    printf '[{"Config":"%s","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$config" "$2" > "$home/manifest.json"
    tar -cf "$home/image.tar" -C "$home" "$config" layer.tar manifest.json
  fi
  echo "$home/image.tar"
}

# The container may be on any node, and several runs of it may exist under the pod's name.
kill_container() { # pod, container
  local i id killed=
  for i in $(seq "$NODES"); do
    for id in $(ctr_of "$i" containers ls -q \
      "labels.\"io.kubernetes.pod.name\"==$1,labels.\"io.kubernetes.container.name\"==$2"); do
      if ctr_of "$i" tasks kill -s SIGKILL "$id" 2> /dev/null; then killed=yes; fi
    done
  done
  [ -n "$killed" ] || { say "pod $1 has no running container $2"; return 1; }
}
