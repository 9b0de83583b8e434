# shellcheck shell=bash
# The control plane of a cluster (see cluster.sh, which sources this file): etcd, API server, controller manager,
# scheduler and cluster DNS, in the network of the hub. Also a kube-proxy, through which the host reaches Services.

CONTROL=10.$N.0.2
API_PORT=6443
ETCD_PORT=2379
PODS=10.$N.0.0/16
SERVICES=10.$N.32.0/20
# A node that is silent for this long counts as lost, and its pods are moved at once. By default that takes a minute,
# and then five.
NODE_GRACE_SECONDS=8
TOLERATION_SECONDS=3

start_control_plane() {
  local token
  mkdir -p "$DIR/pki"
  openssl genrsa -out "$DIR/pki/accounts.key" 2048 2> /dev/null
  token=$(openssl rand -hex 16)
  (umask 077; echo "$token,administrator,administrator,system:masters" > "$DIR/pki/tokens.csv")
  launch etcd hub "$BIN/etcd" --data-dir "$DIR/etcd" --unsafe-no-fsync --log-level warn --quota-backend-bytes 536870912 \
    --listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
    --listen-peer-urls "http://127.0.0.1:2380" --initial-advertise-peer-urls "http://127.0.0.1:2380" \
    --initial-cluster "default=http://127.0.0.1:2380"
  launch_api
  await "certificate of the API server" test -s "$DIR/pki/apiserver.crt"
  write_kubeconfig "$token"
  await "API server" kc get --raw /readyz
  launch_controllers
  launch_scheduler
  start_dns
  await "controllers" kc get serviceaccount default
  # Under the name of the first node: a proxy needs a node object, but only reads its addresses.
  launch_proxy hub hub node1
}

launch_api() {
  launch api-server hub "$BIN/kube-apiserver" --etcd-servers "http://127.0.0.1:$ETCD_PORT" \
    --bind-address "$CONTROL" --advertise-address "$CONTROL" --secure-port $API_PORT --cert-dir "$DIR/pki" \
    --service-cluster-ip-range "$SERVICES" --authorization-mode Node,RBAC --token-auth-file "$DIR/pki/tokens.csv" \
    --service-account-issuer https://kubernetes.default.svc \
    --service-account-key-file "$DIR/pki/accounts.key" --service-account-signing-key-file "$DIR/pki/accounts.key" \
    --allow-privileged --kubelet-preferred-address-types InternalIP \
    --default-not-ready-toleration-seconds $TOLERATION_SECONDS \
    --default-unreachable-toleration-seconds $TOLERATION_SECONDS
}

launch_controllers() {
  launch controller-manager hub "$BIN/kube-controller-manager" --kubeconfig "$DIR/kubeconfig" \
    --authentication-kubeconfig "$DIR/kubeconfig" --authorization-kubeconfig "$DIR/kubeconfig" \
    --bind-address 127.0.0.1 --cert-dir "$DIR/pki/controller-manager" --leader-elect=false \
    --service-account-private-key-file "$DIR/pki/accounts.key" --root-ca-file "$DIR/pki/apiserver.crt" \
    --node-monitor-grace-period "${NODE_GRACE_SECONDS}s" --node-monitor-period 1s
}

launch_scheduler() {
  launch scheduler hub "$BIN/kube-scheduler" --kubeconfig "$DIR/kubeconfig" \
    --authentication-kubeconfig "$DIR/kubeconfig" --authorization-kubeconfig "$DIR/kubeconfig" \
    --bind-address 127.0.0.1 --cert-dir "$DIR/pki/scheduler" --leader-elect=false
}

# Controllers and scheduler go with it, as on a machine that runs all three. If the controllers survived an outage
# longer than the grace period of nodes, they would declare every node lost and every pod not ready before any node
# could report. A scheduler that survives may find its cache contradicted, and exits to be restarted.
stop_api() {
  local each
  for each in scheduler controller-manager api-server; do
    # shellcheck disable=SC2153 # launch fills it
    kill -9 "${PIDS[$each]}"
    while kill -0 "${PIDS[$each]}" 2> /dev/null; do sleep 0.02; done
  done
}

start_api() {
  launch_api
  await "API server" kc get --raw /readyz
  launch_controllers
  launch_scheduler
}

write_kubeconfig() { # token
  (
    umask 077
    cat > "$DIR/kubeconfig" << YAML
apiVersion: v1
kind: Config
clusters:
  - name: test
    cluster:
      server: https://$CONTROL:$API_PORT
      certificate-authority-data: $(base64 -w0 "$DIR/pki/apiserver.crt")
users: [{name: administrator, user: {token: $1}}]
contexts: [{name: test, context: {cluster: test, user: administrator}}]
current-context: test
YAML
  )
}

start_dns() {
  cat > "$DIR/Corefile" << COREFILE
.:53 {
  bind $CONTROL
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $DIR/kubeconfig
    pods insecure
    ttl 1
  }
}
COREFILE
  launch dns hub "$BIN/coredns" -conf "$DIR/Corefile"
}

# Clients from the cluster's network (all are) keep their addresses on the way to a pod.
launch_proxy() { # name, network, node
  cat > "$DIR/proxy-$1.yaml" << YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clusterCIDR: $PODS
hostnameOverride: $3
clientConnection: {kubeconfig: $DIR/kubeconfig}
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
YAML
  launch "proxy-$1" "$2" "$BIN/kube-proxy" --config "$DIR/proxy-$1.yaml"
}
