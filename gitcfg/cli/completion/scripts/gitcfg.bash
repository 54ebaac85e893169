# Completion of gitcfg for bash. Now:       eval "$(gitcfg completion bash)"
# For always, put that line into ~/.bashrc, or save this as
#   ~/.local/share/bash-completion/completions/gitcfg

_gitcfg() {
    local -a answer=()
    mapfile -t answer < <(command gitcfg --complete bash "$2" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    COMPREPLY=("${answer[@]:1}")
    case "${answer[0]-}" in
        files) compopt -o default ;;
        folders) compopt -o dirnames ;;
        stems) compopt -o nospace ;;
    esac
}
complete -F _gitcfg gitcfg
