#!/usr/bin/env bash
# A real Apache Cassandra on loopback, for tests. It lives as long as its standard input: when that ends, because the test
# closed it or died in any way, the script kills every node and removes every file.
#
#   cassandra.sh install        downloads the jars once and dumps their classes once. Needs Java 17 and Maven; on Debian,
#                               as root, it installs them. Ends with status 3 if they are not available.
#   cassandra.sh serve <nodes>  starts a new cluster of 1 to 9 nodes on addresses of its own, 127.0.N.1 and up. Prints
#                               "ready <N> <directory>" once every node sees every other. Then it executes the lines of
#                               its standard input, one at a time, and prints "done" or "failed <why>" for each:
#       kill <node>…       kill -9; the data stays
#       restart <node>…    starts nodes on their data, after killing those that run
#       pause <node>…      SIGSTOP
#       resume <node>…     SIGCONT
#
# Progress goes to standard error. Environment:
#   GRANTD_TOOLS            the folder of jars and classes, by default ~/.cache/grantd-tools
#   CASSANDRA_AUTH=1        passwords and rights; the first role is cassandra/cassandra
#   CASSANDRA_TLS=1         clients use TLS with a certificate: ca.pem, client.pem, client-key.pem in the directory
#   CASSANDRA_SYNC          commitlog_sync: batch (default: an acknowledged write survives kill -9) or periodic
#   CASSANDRA_PAXOS         paxos_variant: v2 (default) or v1
#   CASSANDRA_HEAP          of each node, by default 384m
#   CASSANDRA_DIRECTORY     for the data, which is kept: the next start with it has the same addresses
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
VERSION=5.0.9
MAVEN_PLUGIN=org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies
TOOLS=${GRANTD_TOOLS:-$HOME/.cache/grantd-tools}
HOME_OF_JARS=$TOOLS/cassandra-$VERSION
LIB=$HOME_OF_JARS/lib
PORT=9042
STORAGE_PORT=7000
SYNC=${CASSANDRA_SYNC:-batch}
PAXOS=${CASSANDRA_PAXOS:-v2}
HEAP=${CASSANDRA_HEAP:-384m}
START_SECONDS_MAX=180
MISSING=3

say() { echo "cassandra: $*" >&2; }
die() { say "$*"; exit 1; }

# ---- install -----------------------------------------------------------------------------------------------------

# Dependencies of the build that the machine may lack.
provide_java() {
  type -P java > /dev/null && type -P mvn > /dev/null && return
  "$HERE/apt.sh" openjdk-17-jre-headless maven || exit $?
}

fetch_jars() {
  [ -e "$LIB/.complete" ] && return
  local pom=$HOME_OF_JARS/pom.xml
  say "downloading the jars of $VERSION with Maven (a minute, once)"
  rm -rf "$LIB"
  mkdir -p "$LIB"
  cat > "$pom" << XML
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>test</groupId><artifactId>cassandra</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId><version>$VERSION</version>
  </dependency></dependencies>
</project>
XML
  mvn -q -B -f "$pom" "$MAVEN_PLUGIN" -DincludeScope=runtime -DoutputDirectory="$LIB" > "$LIB.log" 2>&1 ||
    { say "the jars cannot be downloaded; see $LIB.log"; exit $MISSING; }
  touch "$LIB/.complete"
}

# The class archive of one node, dumped at a clean exit, makes every later start some seconds faster. It fits one build
# of Java.
classes() { echo "$HOME_OF_JARS/classes-$(java -version 2>&1 | cksum | cut -d ' ' -f 1).jsa"; }

dump_classes() {
  CLASSES=$(classes)
  [ -e "$CLASSES" ] && return
  say "dumping its classes (half a minute, once)"
  (
    unset CASSANDRA_AUTH CASSANDRA_TLS CASSANDRA_DIRECTORY
    open_cluster 1
    configure 1
    launch 1 -XX:ArchiveClassesAtExit="$CLASSES.new"
    await_ready 1
    kill "$(pid 1)"
    while alive 1; do sleep 0.1; done
    [ ! -s "$CLASSES.new" ] || mv "$CLASSES.new" "$CLASSES"
  )
}

# Two concurrent runs would write into each other's files: the second waits, and finds everything done.
install() {
  local lock
  mkdir -p "$HOME_OF_JARS"
  exec {lock}> "$HOME_OF_JARS/install.lock"
  flock -n "$lock" || { say "waiting for another installation"; flock "$lock"; }
  INSTALL_LOCK=$lock
  provide_java
  fetch_jars
  dump_classes
  exec {lock}>&-
  INSTALL_LOCK=
}

# ---- one cluster -------------------------------------------------------------------------------------------------

# Sets N (the third number of the addresses, locked for the life of this shell), DIR and NODES.
open_cluster() { # nodes
  local each kept=
  NODES=$1
  mkdir -p "$TOOLS/cassandra-nets"
  [ -z "${CASSANDRA_DIRECTORY:-}" ] || kept=$(cat "$CASSANDRA_DIRECTORY/net" 2> /dev/null || true)
  for each in ${kept:-$(shuf -i 16-250)}; do
    exec {NET_LOCK}> "$TOOLS/cassandra-nets/$each"
    N=$each
    if flock -n "$NET_LOCK" && ! listening 1; then
      open_directory
      trap close_cluster EXIT
      return
    fi
    exec {NET_LOCK}>&-
  done
  [ -z "$kept" ] || die "the addresses of $CASSANDRA_DIRECTORY, 127.0.$kept.1 and up, are in use"
  die "no free addresses from 127.0.16.1 to 127.0.250.9"
}

open_directory() {
  if [ -z "${CASSANDRA_DIRECTORY:-}" ]; then
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/grantd-cassandra-XXXXXX")
    return
  fi
  mkdir -p "$CASSANDRA_DIRECTORY"
  DIR=$(cd "$CASSANDRA_DIRECTORY" && pwd)
  echo "$N" > "$DIR/net"
}

close_cluster() {
  local i
  for i in $(seq "$NODES"); do end "$i"; done
  [ -n "${CASSANDRA_DIRECTORY:-}" ] || rm -rf "$DIR"
}

# One authority; a certificate for the nodes, and one that clients must present.
make_certificates() {
  local each names
  names=DNS:localhost$(printf ",IP:127.0.$N.%d" $(seq 9))
  (
    cd "$DIR"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=test-authority \
      -keyout ca-key.pem -out ca.pem
    for each in node client; do
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$each" \
        -keyout "$each-key.pem" -out "$each.csr"
      openssl x509 -req -in "$each.csr" -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 3650 -out "$each.pem" \
        -extfile <(echo "subjectAltName=$names")
    done
    openssl pkcs12 -export -name node -in node.pem -inkey node-key.pem -out keystore.p12 -passout pass:cassandra
    keytool -importcert -noprompt -alias authority -file ca.pem -keystore truststore.p12 -storetype PKCS12 \
      -storepass cassandra
  ) 2> "$DIR/certificates.log" || { cat "$DIR/certificates.log" >&2; die "the certificates could not be created"; }
}

JVM=(
  -ea -da:net.openhft... -Xss512k -XX:+UseSerialGC -XX:+PerfDisableSharedMem -XX:-UsePerfData
  -XX:TieredStopAtLevel=1 -XX:+ExitOnOutOfMemoryError
  -Djava.net.preferIPv4Stack=true -Djava.awt.headless=true -Djdk.attach.allowAttachSelf=true
  -Dio.netty.tryReflectionSetAccessible=true
  -Dio.netty.allocator.useCacheForAllThreads=true -Dio.netty.allocator.maxOrder=11
)
for each in java.base/jdk.internal.misc java.base/java.lang.ref java.management.rmi/com.sun.jmx.remote.internal.rmi \
  java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.sql/java.sql jdk.unsupported/sun.misc \
  jdk.compiler/com.sun.tools.javac.file jdk.attach/sun.tools.attach; do
  JVM+=(--add-exports "$each=ALL-UNNAMED")
done
for each in java.base/java.lang.module java.base/jdk.internal.loader java.base/jdk.internal.ref \
  java.base/jdk.internal.reflect java.base/jdk.internal.math java.base/jdk.internal.module \
  java.base/jdk.internal.util.jar java.base/sun.nio.ch java.base/java.io java.base/java.lang \
  java.base/java.lang.reflect java.base/java.util java.base/java.nio \
  jdk.management/com.sun.management.internal jdk.compiler/com.sun.tools.javac; do
  JVM+=(--add-opens "$each=ALL-UNNAMED")
done

# Turns off startup waits that only matter to growing clusters, a measurement of some seconds (row_overhead_size), and
# fsync: without it, writes still survive the process (in the page cache), though not the machine.
CASSANDRA=(
  -Dcassandra-foreground=yes
  -Dcassandra.memtable.row_overhead_size=180
  -Dcassandra.skip_sync=true
  -Dcassandra.ring_delay_ms=100
  -Dcassandra.skip_wait_for_gossip_to_settle=0
  -Dcassandra.consistent.rangemovement=false
  -Dcassandra.superuser_setup_delay_ms=500
)

configure() { # node
  local i=$1 home=$DIR/n$1 seeds
  seeds=$(printf "127.0.$N.%d:$STORAGE_PORT," $(seq "$NODES"))
  mkdir -p "$home"
  cat > "$home/cassandra.yaml" << YAML
cluster_name: test
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
num_tokens: 1
initial_token: $(((1 << 63) + 1 + (i - 1) * ((1 << 62) / NODES * 4)))
auto_bootstrap: false
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{seeds: "${seeds%,}"}]
endpoint_snitch: SimpleSnitch
dynamic_snitch: false
listen_address: 127.0.$N.$i
rpc_address: 127.0.$N.$i
storage_port: $STORAGE_PORT
native_transport_port: $PORT
data_file_directories: [$home/data]
commitlog_directory: $home/commitlog
saved_caches_directory: $home/saved_caches
hints_directory: $home/hints
cdc_raw_directory: $home/cdc_raw
commitlog_sync: $SYNC
$([ "$SYNC" != periodic ] || echo 'commitlog_sync_period: 1s')
commitlog_segment_size: 16MiB
commitlog_total_space: 128MiB
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
memtable_allocation_type: heap_buffers
file_cache_size: 32MiB
key_cache_size: 4MiB
counter_cache_size: 0MiB
concurrent_reads: 16
concurrent_writes: 16
concurrent_counter_writes: 4
concurrent_compactors: 1
auto_snapshot: false
paxos_variant: $PAXOS
phi_convict_threshold: 6
read_request_timeout: 5s
range_request_timeout: 10s
write_request_timeout: 10s
cas_contention_timeout: 5s
request_timeout: 10s
$([ -z "${CASSANDRA_AUTH:-}" ] || cat << Y
authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
role_manager: CassandraRoleManager
Y
)
$([ -z "${CASSANDRA_TLS:-}" ] || cat << Y
client_encryption_options:
  enabled: true
  optional: false
  keystore: $DIR/keystore.p12
  keystore_password: cassandra
  truststore: $DIR/truststore.p12
  truststore_password: cassandra
  store_type: PKCS12
  require_client_auth: true
Y
)
YAML
  cat > "$home/logback.xml" << XML
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern></encoder>
  </appender>
  <logger name="org.apache.cassandra.service.StorageService" level="DEBUG"/> <!-- sees() reads it -->
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
XML
}

launch() { # node, extra JVM options…
  local i=$1 home=$DIR/n$1
  shift
  [ -e "$CLASSES" ] && set -- -XX:SharedArchiveFile="$CLASSES" "$@"
  # The log starts again, because the waits below read it. If this shell is killed, the kernel ends the node. The locks
  # stay here.
  (
    exec {NET_LOCK}>&-
    [ -z "${INSTALL_LOCK:-}" ] || exec {INSTALL_LOCK}>&-
    exec setsid setpriv --pdeathsig KILL java "${JVM[@]}" -Xms"$HEAP" -Xmx"$HEAP" "$@" "${CASSANDRA[@]}" \
      -Dcassandra.config="file://$home/cassandra.yaml" -Dcassandra.storagedir="$home" \
      -Djava.io.tmpdir="$home" -Dcassandra.logdir="$home" -Dlogback.configurationFile="file://$home/logback.xml" \
      -Dcassandra.system_auth.default_rf="$NODES" \
      -cp "$LIB/*" org.apache.cassandra.service.CassandraDaemon
  ) > "$home/log" 2>&1 < /dev/null &
  echo $! > "$home/pid"
  disown $! # keeps the shell silent when it is killed
  until alive "$i" || ! kill -0 $! 2> /dev/null; do sleep 0.02; done # past fork and exec
}

pid() { cat "$DIR/n$1/pid" 2> /dev/null || true; }
alive() { local p; p=$(pid "$1"); [ -n "$p" ] && grep -qs CassandraDaemon "/proc/$p/cmdline"; }
# During exec, a process has no command line for a moment; a dead one has none for good.
died() { local p; p=$(pid "$1"); [ -z "$p" ] || [ ! -d "/proc/$p" ] || grep -qs '^State:[[:space:]]*[ZX]' "/proc/$p/status"; }
paused() { grep -qs '^State:.*stopped' "/proc/$(pid "$1")/status"; }
listening() { (exec 3<> "/dev/tcp/127.0.$N.$1/$PORT") 2> /dev/null; }

# Ends this shell, and with it the cluster, once the process that started it has ended.
await() { # node, what, command…
  local i=$1 what=$2 end=$((SECONDS + START_SECONDS_MAX))
  shift 2
  until "$@"; do
    ! died "$i" || { tail -30 "$DIR/n$i/log" >&2; die "node $i died"; }
    kill -0 "$PPID" 2> /dev/null || die "no process waits for node $i any more"
    if ((SECONDS >= end)); then
      tail -30 "$DIR/n$i/log" >&2
      die "node $i: no $what after $START_SECONDS_MAX s"
    fi
    sleep 0.1
  done
}

# A node's log says that another one is alive and owns its part of the ring. "UP" alone comes seconds earlier, and a
# keyspace with three replicas created in between would have two in the view of one node.
sees() { # node, peer
  local log=$DIR/n$1/log peer=/127.0.$N.$2:$STORAGE_PORT
  grep -q "Node $peer state NORMAL" "$log" && [[ $(grep "$peer is now " "$log" | tail -1) == *UP ]]
}

# CQL answers, and it and every running peer see one another.
await_ready() { # node
  local i=$1 k
  await "$i" CQL listening "$i"
  for k in $(seq "$NODES"); do
    if [ "$k" != "$i" ] && alive "$k" && ! paused "$k"; then
      await "$i" "sight of node $k" sees "$i" "$k"
      await "$k" "sight of node $i" sees "$k" "$i"
    fi
  done
}

end() { # node
  local p
  if alive "$1"; then
    p=$(pid "$1")
    kill -9 "$p"
    # Its sockets close with its last thread, after the process first shows as a zombie.
    while [ "$(ls "/proc/$p/task" 2> /dev/null | wc -l)" -gt 1 ]; do sleep 0.02; done
    while listening "$1"; do sleep 0.02; done
  fi
  rm -f "$DIR/n$1/pid"
}

# ---- commands ----------------------------------------------------------------------------------------------------

start_nodes() { # node…
  local i
  for i in "$@"; do end "$i"; done
  for i in "$@"; do launch "$i"; done
  for i in "$@"; do await_ready "$i"; done
}

signal_nodes() { # signal, node…
  local i signal=$1
  shift
  for i in "$@"; do
    alive "$i" || { say "node $i is not running"; return 1; }
    kill -s "$signal" "$(pid "$i")"
  done
}

obey() { # command, node…
  local command=$1 i
  shift
  for i in "$@"; do [ -d "$DIR/n$i" ] || { say "there is no node $i"; return 1; }; done
  case $command in
    kill) for i in "$@"; do end "$i"; done ;;
    restart) start_nodes "$@" ;;
    pause) signal_nodes STOP "$@" ;;
    resume) signal_nodes CONT "$@" ;;
    *) say "unknown command $command"; return 1 ;;
  esac
}

serve() { # nodes
  local nodes=$1 i line
  [[ $nodes =~ ^[1-9]$ ]] || die "serve: 1 to 9 nodes"
  install
  open_cluster "$nodes"
  say "starting $nodes node(s) on 127.0.$N.1 and up"
  [ -z "${CASSANDRA_TLS:-}" ] || make_certificates
  for i in $(seq "$nodes"); do configure "$i"; done
  start_nodes $(seq "$nodes")
  [ -z "${CASSANDRA_AUTH:-}" ] || await 1 "first role" grep -qs "Created default superuser role" "$DIR"/n*/log
  echo "ready $N $DIR"
  while read -r line; do
    if obey $line; then echo done; else echo "failed $line"; fi
  done
}

case ${1:-} in
  install) install ;;
  serve) serve "${2:-1}" ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
