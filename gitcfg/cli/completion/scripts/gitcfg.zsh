#compdef gitcfg
# Completion of gitcfg for zsh. Now:       eval "$(gitcfg completion zsh)"
# For always, put that line into ~/.zshrc, behind compinit, or save this as _gitcfg in a folder of $fpath.

_gitcfg() {
    local line how
    local -a answer names
    answer=("${(@f)$(command gitcfg --complete zsh "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
    how=$answer[1]
    case $how in
        (files) compset -P '--*='; _files ;;
        (folders) compset -P '--*='; _files -/ ;;
        (words | stems)
            for line in "${(@)answer[2,-1]}"; do
                # _describe takes what is behind a colon for the description.
                names+=("${${line%%$'\t'*}//:/\\:}${${(M)line%%$'\t'*}:+:${line#*$'\t'}}")
            done
            local -a how_to=(-M 'm:{a-zA-Z}={A-Za-z}')
            [[ $how == stems ]] && how_to+=(-S '')
            _describe -t gitcfg 'gitcfg' names "${(@)how_to}"  # quoted, or the empty suffix is lost
            ;;
    esac
}

if [[ ${funcstack[1]-} == _gitcfg ]]; then
    _gitcfg "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _gitcfg gitcfg
fi
