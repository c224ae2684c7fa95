#!/usr/bin/env bash
# include.sh MAY|MAY_NOT HEADER SOURCE COMPILER [INCLUDE_ROOT...]: compiles nothing but `#include <heed/HEADER>`.
# MAY: it must compile. MAY_NOT: it must not be found, although SOURCE has it.
set -euo pipefail
export LC_ALL=C
verdict=$1 header=$2 source=$3 compiler=$4
shift 4
[[ -f $source/$header ]] || { echo "there is no $source/$header"; exit 1; }

command=("$compiler" -std=c++20 -fsyntax-only "${@/#/-I}" -x c++ -)
echo "#include <heed/$header> with ${command[*]}"
if errors=$("${command[@]}" <<<"#include <heed/$header>" 2>&1); then compiles=MAY; else compiles=MAY_NOT; fi
echo "$errors"
[[ $compiles == "$verdict" ]] || { echo "FAILED: it $verdict compile"; exit 1; }
[[ $verdict == MAY || $errors =~ heed/$header(: No such file|\' file not found) ]] || { echo "FAILED: for another reason"; exit 1; }
