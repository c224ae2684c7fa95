#!/usr/bin/env bash
# multiply_adds.sh OBJDUMP OBJECT: the object has ten multiply-adds, as many as the loop has chains, of AVX2 and of AVX-512.
set -euo pipefail
code=$("$1" -d --no-show-raw-insn "$2")
for register in ymm zmm; do
  count=$(grep -cE "vfmadd.*%$register" <<<"$code" || true)
  [[ $count -ge 10 ]] || { echo "$2: $count multiply-adds of %$register instead of ten"; exit 1; }
done
