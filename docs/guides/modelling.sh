# The commands of the guides on modelling, for a POSIX shell in the folder of grantd, in which GRANTD_URL is set.

# operator COMMAND…: the command line with the operator's token of the service that `npm start` runs here, whichever
# service and key the shell has exported.
operator() (
  unset GRANTD_URL GRANTD_KEY GRANTD_CONTEXT GRANTD_OPERATOR_URL GRANTD_OPERATOR_TOKEN
  GRANTD_DATA_DIR=${GRANTD_DATA_DIR:-.grantd} bin/grantd "$@"
)

# new_tenant NAME: creates a tenant without rules and grants, and a key for it. Sets TENANT and GRANTD_KEY.
new_tenant() {
  TENANT=$(operator tenants create "$1" --plan scale --json | sed -n 's/.*"tenant_id": *"\([^"]*\)".*/\1/p')
  GRANTD_KEY=$(operator keys create --tenant "$TENANT" --name guide --json \
    --scope admin --scope check:read --scope grant:write | sed -n 's/.*"key": *"\([^"]*\)".*/\1/p')
}

# call METHOD PATH [OPTION OF CURL…]: sends a request, and prints the response.
call() (
  method=$1 path=$2
  shift 2
  curl -sSw '\n' -X "$method" "$GRANTD_URL$path" -H "Authorization: Bearer $GRANTD_KEY" \
    -H 'Content-Type: application/json' "$@"
)
tuple() { printf '{"subject":"%s","relation":"%s","object":"%s"%s}' "$1" "$2" "$3" "${4:-}"; }

# grant SUBJECT RELATION OBJECT [CONDITION]: creates a grant.
grant() { call POST /v1/grants -d "$(tuple "$1" "$2" "$3" "${4:+,\"condition\":$4}")"; }

# check SUBJECT RELATION OBJECT [CONTEXT]: prints the result, or the status and the type of an error.
check() {
  echo "$*: $(call POST /v1/check -d "$(tuple "$1" "$2" "$3" "${4:+,\"context\":$4}")" |
    sed -E 's/.*"authorized":(true|false).*/\1/; s|.*/errors/([a-z-]*)".*"status":([0-9]*).*|\2 \1|')"
}

# why SUBJECT RELATION OBJECT: prints the grants from which `true` follows.
why() {
  call POST /v1/check -d "$(tuple "$1" "$2" "$3" ',"explain":true')" | sed 's/"proof".*//' |
    grep -o '"subject":"[^"]*","relation":"[^"]*","object":"[^"]*"' |
    sed 's/"subject":"\(.*\)","relation":"\(.*\)","object":"\(.*\)"/\1 \2 \3/'
}

# set_rules [QUERY [OPTION OF CURL…]]: replaces the rules of the tenant by those of its input, in the text form.
set_rules() (
  query=${1:-}
  [ $# -eq 0 ] || shift
  curl -sSw '\n' -X PUT "$GRANTD_URL/v1/rules$query" -H "Authorization: Bearer $GRANTD_KEY" \
    -H 'Content-Type: text/vnd.grantd.rules' -H 'Accept: text/vnd.grantd.rules' --data-binary @- "$@"
)

# show_rules [VERSION]: prints the rules of the tenant, or those of a version.
show_rules() { call GET "/v1/rules${1:+/versions/$1}" -H 'Accept: text/vnd.grantd.rules'; }

# add_rules [QUERY [OPTION OF CURL…]]: adds those of its input behind the rules of the tenant.
add_rules() (
  added=$(cat) present=$(show_rules)
  printf '%s\n\n%s\n' "$present" "$added" | set_rules "$@"
)
