#!/usr/bin/env bash
# Prints the newest interpreter of Python 3.12 or later, which may be installed without being the one on the path; fails without one.
mapfile -t others < <(printf '%s\n' "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9].*/bin/python3 | sort --version-sort --reverse)
for python in python3.14 python3.13 python3.12 "${others[@]}"; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2> /dev/null; then
        echo "$python"
        exit
    fi
done
exit 1
