# The commands of the guides on modelling, for a shell in which GRANTD_URL and GRANTD_KEY are set.

# call METHOD PATH [OPTION OF CURL…]: sends a request, and prints the response.
call() {
  curl -sSw '\n' -X "$1" "$GRANTD_URL$2" -H "Authorization: Bearer $GRANTD_KEY" \
    -H 'Content-Type: application/json' "${@:3}"
}
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
    grep -o '"subject":"[^"]*","relation":"[^"]*","object":"[^"]*"' | cut -d '"' -f 4,8,12 --output-delimiter ' '
}

# change: applies a diff from its input to the rule set, one rule, condition or type per line, and sends all of it.
RULES=
change() {
  local diff=$(cat)
  RULES=$(grep -vxF "$(sed -n 's/^- //p' <<< "$diff")" <<< "$RULES"; sed -n 's/^+ //p' <<< "$diff")
  listed() { grep "^{$1" <<< "$RULES" | paste -sd , -; }
  call PUT /v1/rules -d "{$(sed -n 's/^".*/&,/p' <<< "$RULES") \"conditions\": [$(listed '"name"')],
    \"types\": [$(listed '.*"relation"')], \"rules\": [$(listed '.*"any_of"')]}"
}
