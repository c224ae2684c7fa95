#!/usr/bin/env bash
# package.sh BUILD CONSUMER [CMAKE_OPTION...]: installs the build, then configures, builds and runs the consumer against
# it, with the libraries that are heed's own business out of reach.
set -euo pipefail
build=$1 consumer=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
"$work/prefix/bin/heed" version >/dev/null
private=$(find "$work/prefix/include" -name kernels -o -name cli -o -name '*.cpp')
[[ -z $private ]] || { echo "FAILED: installed, but private: $private"; exit 1; }

hidden=()
for library in Eigen3 CLI11 nlohmann_json utf8cpp; do
  hidden+=("-DCMAKE_DISABLE_FIND_PACKAGE_$library=ON")
done
cmake -S "$consumer" -B "$work/build" -G Ninja "-DCMAKE_PREFIX_PATH=$work/prefix" "${hidden[@]}" "$@"
cmake --build "$work/build"
output=$("$work/build/consumer")
echo "$output"
[[ $output == "y = "*"dy/dx = "* ]] || { echo "FAILED: not what the consumer prints"; exit 1; }
"$work/build/own_task"
