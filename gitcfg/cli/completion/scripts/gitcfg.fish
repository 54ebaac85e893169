# Completion of gitcfg for fish. Now:       gitcfg completion fish | source
# For always:       gitcfg completion fish > ~/.config/fish/completions/gitcfg.fish

function __gitcfg_complete
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -e words[1]
    set -l word (commandline --current-token --cut-at-cursor)
    set -l answer (command gitcfg --complete fish $words "$word" 2>/dev/null)
    set -l how $answer[1]
    set -e answer[1]
    set -l head (string match --regex -- '^--[a-z-]+=' "$word")
    switch "$how"
        case files
            __fish_complete_path (string replace -- "$head" "" "$word") | string replace --regex -- '^' "$head"
        case folders
            __fish_complete_directories (string replace -- "$head" "" "$word") "" | string replace --regex -- '^' "$head"
        case words stems
            string join \n -- $answer
    end
end

complete --command gitcfg --no-files --arguments '(__gitcfg_complete)'
