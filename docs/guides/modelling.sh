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
  RULES=
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

# change: applies a diff from its input to the rule set, one rule, condition or type per line, and sends all of it.
change() {
  diff=$(cat)
  RULES=$(
    printf '%s\n' "$RULES" | grep -vxF "$(printf '%s\n' "$diff" | sed -n 's/^- //p')" || :
    printf '%s\n' "$diff" | sed -n 's/^+ //p'
  )
  listed() { printf '%s\n' "$RULES" | grep "^{$1" | paste -sd , -; }
  call PUT /v1/rules -d "{$(printf '%s\n' "$RULES" | sed -n 's/^".*/&,/p') \"conditions\": [$(listed '"name"')],
    \"types\": [$(listed '.*"relation"')], \"rules\": [$(listed '.*"any_of"')]}"
}
