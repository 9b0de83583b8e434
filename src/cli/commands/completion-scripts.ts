// The completion scripts for bash and zsh. Each runs `grantd complete -- WORD…` and takes a suggestion from each line
// of output: its value, a tab, its description. The last line, `:N`, is for other shells. The scripts evaluate nothing
// that was typed, and a value may contain a colon.

const BASH = `# bash completion for grantd; source it, or put it where bash-completion looks for completion files.
_grantd() {
  local line=\${COMP_LINE:0:COMP_POINT} words word current kept= suggestion value
  read -r -a words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  word=\${words[-1]}
  # After "--option=", bash replaces what follows the sign; after a colon, what follows that.
  current=$word
  [[ $word == -*=* ]] && current=\${word#*=}
  [[ $current == *:* && $COMP_WORDBREAKS == *:* ]] && kept=\${current%"\${current##*:}"}
  COMPREPLY=()
  while IFS= read -r suggestion; do
    value=\${suggestion%%$'\\t'*}
    [[ $value == :* || $value != "$current"* ]] && continue
    COMPREPLY+=("\${value#"$kept"}")
  done < <(grantd complete -- "\${words[@]:1}" 2> /dev/null)
}
complete -o default -F _grantd grantd
`;

const ZSH = `#compdef grantd
# zsh completion for grantd; source it after compinit, or keep it as _grantd in a directory of fpath.
_grantd() {
  local -a suggestions
  local line
  for line in "\${(@f)$(grantd complete -- "\${(@Q)words[2,CURRENT]}" 2> /dev/null)}"; do
    [[ -z $line || $line == :* ]] && continue
    suggestions+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  [[ $PREFIX == -*=* ]] && compset -P '*='
  if (( $#suggestions )); then _describe grantd suggestions; else _files; fi
}
if [[ $funcstack[1] == _grantd ]]; then _grantd "$@"; else compdef _grantd grantd; fi
`;

export const COMPLETION_SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['bash', BASH],
  ['zsh', ZSH],
]);
