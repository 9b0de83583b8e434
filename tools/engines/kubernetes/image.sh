#!/usr/bin/env bash
# Builds and unpacks the container image on a machine without Docker and without a registry, for tests: with buildah, on a
# replacement for docker.io/library/node:26-slim that consists of Debian packages and the pinned Node's npm package.
#
#   image.sh install                 provides buildah, debootstrap and runc: installs them on Debian, as root. Ends with
#                                    status 3 if they, or the parts of the replacement, are not available.
#   image.sh base                    builds the replacement, unless it exists (two minutes, once)
#   image.sh build <reference> <folder> [option of `buildah build`]…
#                                    builds <folder>/Dockerfile on the replacement; it pulls nothing
#   image.sh save <reference> <file> writes the image as an archive, for `docker load` or `ctr images import`
#   image.sh unpack <reference> <folder>
#                                    writes <folder>/rootfs, the files of the image as in a container, and
#                                    <folder>/image.json, its configuration
#
# Progress goes to standard error. Environment:
#   GRANTD_TOOLS   the folder of images and their layers, by default ~/.cache/grantd-tools
set -euo pipefail

TOOLS=${GRANTD_TOOLS:-$HOME/.cache/grantd-tools}
STORE=$TOOLS/image
BASE=docker.io/library/node:26-slim
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PROJECT=$(cd "$HERE/../../.." && pwd)
NPM_CACHE=/var/cache/npm
CERTIFICATES=/etc/ssl/certs/ca-certificates.crt
MISSING=3

say() { echo "image: $*" >&2; }
die() { say "$*"; exit 1; }
missing() { say "$*"; exit $MISSING; }

# Isolation by chroot needs nothing from the machine; settings and policy are our own, so that the machine's do not
# matter.
buildah() {
  CONTAINERS_REGISTRIES_CONF=$STORE/registries.conf BUILDAH_ISOLATION=chroot \
    command buildah --root "$STORE/layers" --runroot "$STORE/run" --storage-driver overlay "$@"
}
present() { buildah inspect --type image "$1" > /dev/null 2>&1; }

# Two concurrent runs would write into each other's files: the second waits.
lock() {
  mkdir -p "$STORE"
  exec {LOCK}> "$STORE/lock"
  flock -n "$LOCK" || { say "waiting for another build"; flock "$LOCK"; }
}

# ---- install -----------------------------------------------------------------------------------------------------

install() {
  local each absent=()
  for each in buildah debootstrap runc; do type -P "$each" > /dev/null || absent+=("$each"); done
  ((${#absent[@]} == 0)) || "$HERE/../apt.sh" "${absent[@]}" || exit $?
  [ "$(id -u)" = 0 ] || missing "layers and containers need root here"
  echo 'unqualified-search-registries = ["docker.io"]' > "$STORE/registries.conf"
  echo '{"default": [{"type": "insecureAcceptAnything"}]}' > "$STORE/policy.json"
}

# ---- the replacement ---------------------------------------------------------------------------------------------

# Node needs libatomic1, which a minimal Debian lacks.
PACKAGES=ca-certificates,libatomic1
# The official Debian images leave the same out: man pages, languages, and what apt can download again.
UNUSED=(usr/share/doc usr/share/man usr/share/info usr/share/locale var/cache/apt var/lib/apt/lists)

make_debian() {
  local root=$1 mirror suite each
  suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  mirror=$(apt-cache policy base-files 2> /dev/null | awk '/http/ {print $2; exit}')
  [ -n "$suite" ] && [ -n "$mirror" ] || missing "this is not a Debian with a mirror"
  say "building a Debian $suite with debootstrap (a minute or two, once)"
  debootstrap --variant=minbase --include="$PACKAGES" "$suite" "$root" "$mirror" > "$STORE/debootstrap.log" 2>&1 ||
    { tail -5 "$STORE/debootstrap.log" >&2; missing "Debian's packages are not available"; }
  for each in "${UNUSED[@]}"; do rm -rf "${root:?}/$each"/*; done
  echo 'node:x:1000:' >> "$root/etc/group"
  echo 'node:x:1000:1000::/nonexistent:/bin/bash' >> "$root/etc/passwd"
}

# Name and version of the npm package that contains Node itself.
pinned_node() {
  local name
  name=node-linux-$(uname -m | sed 's/x86_64/x64/;s/aarch64/arm64/')
  sed -n "s/.*\"\($name\)\": \"\(.*\)\".*/\1@\2/p" "$PROJECT/package.json"
}

# Installs the Node that the project pins, and an npm, below /usr/local as in the official image.
add_node() { # folder, package of Node
  local root=$1 packages=$1.npm package=${2%@*} version=${2##*@}
  say "downloading Node $version and npm"
  npm install --silent --no-save --ignore-scripts --prefix "$packages" "$package@$version" npm@11 >&2 ||
    missing "Node $version is not available from npm"
  cp "$packages/node_modules/$package/bin/node" "$root/usr/local/bin/node"
  mkdir -p "$root/usr/local/lib/node_modules" "$root/usr/local/etc"
  cp -r "$packages/node_modules/npm" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  # npm in a build uses the same registry as npm on this machine, and keeps its downloads where a build mounts a folder.
  cp "$CERTIFICATES" "$root$CERTIFICATES"
  printf '%s\n' "registry=$(npm config get registry)" "cafile=$CERTIFICATES" "cache=$NPM_CACHE" \
    > "$root/usr/local/etc/npmrc"
}

base() {
  local directory container node
  node=$(pinned_node)
  # If another Node is pinned or the list of Debian packages has changed, it is built again.
  present "$BASE" && [ "$(cat "$STORE/base" 2> /dev/null)" = "$node $PACKAGES" ] && return
  directory=$(mktemp -d "$STORE/base-XXXXXX")
  trap "rm -rf '$directory'" EXIT
  make_debian "$directory/root"
  add_node "$directory/root" "$node"
  container=$(buildah from scratch)
  buildah copy -q "$container" "$directory/root" / > /dev/null
  buildah config --cmd node --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  buildah commit -q --rm --signature-policy "$STORE/policy.json" "$container" "$BASE" > /dev/null
  echo "$node $PACKAGES" > "$STORE/base"
  say "$BASE has a replacement"
}

# ---- commands ----------------------------------------------------------------------------------------------------

# Without cached layers: this buildah confuses the LABELs of two builds that differ only in their arguments. npm's
# downloads are cached instead.
build() { # reference, folder, options…
  local reference=$1 folder=$2
  shift 2
  base
  mkdir -p "$STORE/npm"
  say "building $reference"
  buildah build -q --signature-policy "$STORE/policy.json" --pull-never --network host --layers=false \
    --volume "$STORE/npm:$NPM_CACHE" -t "$reference" "$@" "$folder" > "$STORE/build.log" 2>&1 ||
    { tail -30 "$STORE/build.log" >&2; die "$reference was not built"; }
  # Images that had the name before, and leftovers of interrupted builds.
  buildah rm --all > /dev/null
  buildah rmi --prune > /dev/null
}

save() { # reference, file
  rm -f "$2"
  buildah push -q --signature-policy "$STORE/policy.json" "$1" "docker-archive:$2:$1" > /dev/null
}

unpack() { # reference, folder
  local container
  mkdir -p "$2/rootfs"
  buildah inspect --type image "$1" > "$2/image.json"
  container=$(buildah from --pull-never --signature-policy "$STORE/policy.json" "$1")
  cp -a "$(buildah mount "$container")/." "$2/rootfs"
  buildah rm "$container" > /dev/null
}

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 2; }

command=${1:-}
[ $# = 0 ] || shift
case $command:$# in
  install:0 | base:0 | build:[2-9] | build:[1-9][0-9] | save:2 | unpack:2) ;;
  *) usage ;;
esac
lock
install
case $command in
  install) ;;
  *) "$command" "$@" ;;
esac
