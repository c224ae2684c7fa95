#!/usr/bin/env bash
# isa_symbols.sh NM OBJECT...: each object defines its table of kernels and nothing that the linker may merge with another
# object's: a function of the standard library compiled for AVX-512 could otherwise be the one that every CPU is given.
set -euo pipefail
nm=$1
shift
[[ $# -ge 1 ]] || { echo "no object to look at"; exit 1; }
table='^T .*heed::kernels::VectorKernels<(float|double)> const& heed::kernels::(base|avx2|avx512)_kernels<'
for object in "$@"; do
  symbols=$("$nm" --defined-only --extern-only -C "$object" | sed 's/^[^ ]* //')
  if others=$(grep -vE "$table" <<<"$symbols"); then
    printf '%s also defines:\n%s\n' "$object" "$others"
    exit 1
  fi
  [[ $(wc -l <<<"$symbols") == 2 ]] || { echo "$object does not define two tables:" "$symbols"; exit 1; }
done
