// The completion scripts. Each runs `grantd complete -- WORD…` and takes a suggestion from each line of output: its
// value, a tab, its description; but for the last line, `:N`. The scripts evaluate nothing that was typed, and a value
// may contain a colon.

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

const FISH = `# fish completion for grantd; keep it as ~/.config/fish/completions/grantd.fish.
function __grantd_complete
  set -l current (commandline -ct)
  set -l words (commandline -opc)
  set -l option (string match -r -- '^-.*=' "$current")
  for suggestion in (grantd complete -- $words[2..-1] "$current" 2> /dev/null)
    string match -q ':*' -- $suggestion; or printf '%s%s\\n' "$option" $suggestion
  end
end
complete -c grantd -f -a '(__grantd_complete)'
`;

export const COMPLETION_SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['bash', BASH],
  ['zsh', ZSH],
  ['fish', FISH],
]);
