#!/usr/bin/env bash
# The programs of Kubernetes and around it that tests need, and k6, built once from source by the Go toolchain, each in
# one fixed version. A program of that version is kept; one of another version is built again.
#
#   tools.sh install              everything that a cluster of real nodes needs: half an hour at first, later a second
#   tools.sh install <tool>…      only these, out of:
#       helm kustomize            for charts and examples
#       crane                     a registry of images and charts
#       k6                        for load tests
#       kubectl kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy
#       etcd coredns pause        their companions; pause keeps a pod's network alive
#       node-packages             containerd, runc and so on, from Debian; needs root
#   tools.sh path                 prints their folder
#
# Ends with status 3 if something is not available: no Go, no sources, not Debian, not root. Progress and durations go to
# standard error, the output of compilers to files. Environment:
#   GRANTD_TOOLS   the folder of programs, sources and logs, by default ~/.cache/grantd-tools
set -euo pipefail

KUBERNETES=v1.35.4
HELM=v3.22.0
KUSTOMIZE=v5.8.1
K6=v1.8.0
CRANE=v0.22.1
COREDNS=v1.15.0
ETCD=v3.6.16
OF_KUBERNETES=(kubectl kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy)
OF_CLUSTERS=(helm crane etcd coredns pause "${OF_KUBERNETES[@]}" node-packages)
ALL=("${OF_CLUSTERS[@]}" kustomize k6)
PACKAGES=(containerd runc containernetworking-plugins iptables conntrack iproute2 openssl)
TOOLS=${GRANTD_TOOLS:-$HOME/.cache/grantd-tools}
BIN=$TOOLS/bin
LOGS=$TOOLS/logs
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:/usr/sbin:/sbin
MISSING=3

say() { echo "$*" >&2; }
missing() { say "$*"; exit $MISSING; }

# ---- what is there -----------------------------------------------------------------------------------------------

# Whether each of these is a program on the path.
have() {
  local each
  for each in "$@"; do type -P "$each" > /dev/null || return 1; done
}

# The version that a program reports; nothing if it is not there.
version_of() {
  [ "$1" = node-packages ] || [ -x "$BIN/$1" ] || return 0
  case $1 in
    helm) "$BIN/helm" version --template '{{.Version}}' ;;
    kustomize) go version -m "$BIN/kustomize" ;;
    k6) "$BIN/k6" version ;;
    crane) "$BIN/crane" version ;;
    kubectl) "$BIN/kubectl" version --client ;;
    kube*) "$BIN/$1" --version ;;
    etcd) "$BIN/etcd" --version ;;
    coredns) "$BIN/coredns" -version ;;
    pause) echo pause ;;
    node-packages)
      [ -x /usr/lib/cni/bridge ] && [ -x /usr/lib/cni/host-local ] && [ -x /usr/lib/cni/loopback ] &&
        have containerd runc iptables conntrack ip openssl ctr && echo there
      ;;
  esac 2> /dev/null
}

is_present() {
  local version
  version=$(version_of "$1") || return 1
  case $1 in
    helm) [[ $version == *"$HELM"* ]] ;;
    kustomize) [[ $version == *"$KUSTOMIZE"* ]] ;;
    k6) [[ $version == *"$K6"* ]] ;;
    crane) [[ $version == *"$CRANE"* ]] ;;
    kube*) [[ $version == *"$KUBERNETES"* ]] ;;
    etcd) [[ $version == *"${ETCD#v}"* ]] ;;
    coredns) [[ $version == *"${COREDNS#v}"* ]] ;;
    *) [ -n "$version" ] ;;
  esac
}

# ---- builds ------------------------------------------------------------------------------------------------------

provide_go() { have go || missing "$1: Go is missing, which builds it"; }

# Builds use every processor, but at low priority.
go_install() { # package@version, linker flags
  GOFLAGS=-buildvcs=false nice -n 10 go install -trimpath -ldflags "-s -w ${2:-}" "$1"
}

# Without these flags `helm template` claims to speak to an old Kubernetes.
helm_flags() {
  local module=helm.sh/helm/v3 minor=${KUBERNETES#v1.} each
  echo "-X $module/internal/version.version=$HELM"
  for each in lint/rules chartutil; do
    echo "-X $module/pkg/$each.k8sVersionMajor=1 -X $module/pkg/$each.k8sVersionMinor=${minor%.*}"
  done
}

crane_flags() { echo "-X github.com/google/go-containerregistry/cmd/crane/cmd.Version=$CRANE"; }

# Its module cannot be installed by name (it has replace directives), so a main of our own calls it.
build_etcd() { # output directory
  (
    cd "$1"
    cat > main.go << 'GO'
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
GO
    printf 'module local/etcd\n\ngo 1.26\n\nrequire go.etcd.io/etcd/server/v3 %s\n' "$ETCD" > go.mod
    export GOFLAGS="-mod=mod -buildvcs=false"
    go mod tidy && nice -n 10 go build -trimpath -ldflags "-s -w" -o etcd .
  )
}

# The first process of every pod: it holds the pod's network and reaps orphaned processes.
build_pause() { # output directory
  (
    cd "$1"
    cat > main.go << 'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for pid := 1; pid > 0; pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil) {
		}
	}
}
GO
    printf 'module local/pause\n\ngo 1.26\n' > go.mod
    GOFLAGS=-buildvcs=false go build -trimpath -ldflags "-s -w" -o pause .
  )
}

# The published module contains neither its vendor folder nor its nested modules; those are published separately.
kubernetes_sources() {
  local sources=$TOOLS/src/kubernetes-$KUBERNETES module
  if [ ! -e "$sources/.complete" ]; then
    module=$(cd / && go mod download -json "k8s.io/kubernetes@$KUBERNETES" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
    rm -rf "$sources"
    mkdir -p "$TOOLS/src"
    cp -r "$module" "$sources"
    chmod -R u+w "$sources"
    rm -rf "$sources/vendor" "$sources"/go.work*
    sed -i -E "s#=> \./staging/src/(k8s.io/[a-z-]+)#=> \1 v0.${KUBERNETES#v1.}#" "$sources/go.mod"
    touch "$sources/.complete"
  fi
  echo "$sources"
}

build_kubernetes() { # program, output directory
  local each minor=${KUBERNETES#v1.} flags="-s -w" sources
  sources=$(locked kubernetes-sources kubernetes_sources)
  for each in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $each.gitVersion=$KUBERNETES -X $each.gitMajor=1 -X $each.gitMinor=${minor%.*} -X $each.gitTreeState=clean"
  done
  (
    cd "$sources"
    GOWORK=off GOFLAGS="-mod=mod -buildvcs=false" nice -n 10 go build -trimpath -ldflags "$flags" -o "$2/$1" "./cmd/$1"
  )
}

build() { # tool, output directory
  case $1 in
    helm) GOBIN=$2 go_install helm.sh/helm/v3/cmd/helm@$HELM "$(helm_flags | tr '\n' ' ')" ;;
    kustomize) GOBIN=$2 go_install sigs.k8s.io/kustomize/kustomize/v5@$KUSTOMIZE ;;
    k6) GOBIN=$2 go_install go.k6.io/k6@$K6 ;;
    crane) GOBIN=$2 go_install github.com/google/go-containerregistry/cmd/crane@$CRANE "$(crane_flags)" ;;
    coredns) GOBIN=$2 go_install github.com/coredns/coredns@$COREDNS ;;
    etcd) build_etcd "$2" ;;
    pause) build_pause "$2" ;;
    kube*) build_kubernetes "$1" "$2" ;;
  esac
}

# ---- install -----------------------------------------------------------------------------------------------------

# Two concurrent runs would write the same file: the second waits, and finds it done. Each tool has its own lock, so
# that a quick one does not wait for a slow one.
locked() { # name, command…
  local name=$1
  shift
  (
    exec 9> "$TOOLS/locks/$name"
    flock -n 9 || { say "$name: waiting for another installation"; flock 9; }
    "$@"
  )
}

install_tool() {
  local start=$SECONDS directory
  is_present "$1" && return
  if [ "$1" = node-packages ]; then
    "$HERE/../apt.sh" "${PACKAGES[@]}" || exit $?
  else
    provide_go "$1"
    say "$1: building (minutes, once)"
    directory=$(mktemp -d "$TOOLS/build-XXXXXX")
    BUILT=$directory
    trap 'chmod -R u+w "$BUILT"; rm -rf "$BUILT"' EXIT
    build "$1" "$directory" > "$LOGS/$1.log" 2>&1 || missing "$1: cannot be built; see $LOGS/$1.log"
    mv "$directory/$1" "$BIN/$1"
  fi
  is_present "$1" || missing "$1: not the requested version: $(version_of "$1" | head -1)"
  say "$1: ready, after $((SECONDS - start)) s"
}

install() {
  local each
  [ $# -gt 0 ] || set -- "${OF_CLUSTERS[@]}"
  mkdir -p "$BIN" "$TOOLS/locks" "$LOGS"
  export GOTOOLCHAIN=local CGO_ENABLED=0
  for each in "$@"; do
    [[ " ${ALL[*]} " == *" $each "* ]] || { say "unknown tool $each"; exit 2; }
  done
  for each in "$@"; do
    is_present "$each" || locked "$each" install_tool "$each"
  done
}

case ${1:-} in
  install) shift; install "$@" ;;
  path) echo "$BIN" ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
