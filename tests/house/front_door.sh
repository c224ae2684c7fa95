#!/usr/bin/env bash
# front_door.sh FRONT_DOOR CASE: one case about ./heed, in a pretended checkout with pretended tools.
# The checkout's path has a space in it. PATH holds only what a bare system has, and the tools of the case.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
checkout="$work/a place/heed"
build=$checkout/build/release
bin=$work/bin
calls=$work/calls # one line for each call of a pretended tool
mkdir -p "$checkout"/{cmake,autograd,layers,data,train,tests/autograd,tests/gradients,tests/layers,examples,docs} "$bin" "$work/elsewhere"
touch "$checkout"/{CMakeLists.txt,CMakePresets.json,README.md,autograd/tensor.h,tests/CMakeLists.txt} "$calls"
cp "$1" "$checkout/heed"
for tool in sh bash cat chmod dirname readlink grep find flock mkdir rm touch mv tail id stat env nproc sleep; do
  ln -s "$(command -v $tool)" "$bin/$tool"
done

fail() { echo "FAILED: $*"; exit 1; }
expect() { [[ $1 == $2 ]] || fail "expected: $2"$'\n'"found: $1"; }
calls_of() { grep -c "^$1" "$calls" || true; }

# pretend NAME <<script: a tool that records its call.
pretend() {
  { printf '#!/bin/sh\necho "%s $*" >>"%s"\n' "$1" "$calls"; cat; } >"$bin/$1"
  chmod +x "$bin/$1"
}

# The program tells how it was called. Its exit code is 7.
pretend_tools() {
  for tool in c++ ninja ctest; do pretend $tool </dev/null; done
  pretend cmake <<'CMAKE'
cat >/dev/null
case $1 in
  -S) build=$2/build/release; mkdir -p "$build"; touch "$build/build.ninja"; echo "noise of cmake"
      case $* in *HEED_TESTS=ON*) echo HEED_TESTS:BOOL=ON;; *) echo HEED_TESTS:BOOL=OFF;; esac >"$build/CMakeCache.txt";;
  --build) echo "noise of the build"; mkdir -p "$2/bin"
      printf '#!/bin/sh\necho "pid $$ in $(pwd)"; printf "<%%s>" "$@"; exit 7\n' >"$2/bin/heed"; chmod +x "$2/bin/heed";;
esac
CMAKE
}

# heed ARGS: sets out, err and code.
heed() {
  code=0
  PATH=$bin "${door:-$checkout/heed}" "$@" >"$work/out" 2>"$work/err" || code=$?
  out=$(<"$work/out") err=$(<"$work/err")
}

case_program_gets_arguments_folder_and_exit_code() {
  pretend_tools
  ln -s "$checkout/heed" "$work/elsewhere/a link"
  cd "$work/elsewhere"
  door="./a link" heed train "two words" ""
  expect "$out" "pid * in $work/elsewhere"$'\n'"<train><two words><>"
  expect "$code" 7
}

case_program_is_told_the_name_it_was_called_by() {
  pretend_tools
  heed version
  printf '#!/bin/sh\necho "$HEED_COMMAND"\n' >"$build/bin/heed"
  cd "$checkout"
  door=./heed heed version
  expect "$out" ./heed
}

case_only_the_program_writes_to_stdout() {
  pretend_tools
  heed version
  expect "$out" "pid *"$'\n'"<version>"
  expect "$err" "*noise of the build*"
  expect "$(<"$checkout/build/log.txt")" "*noise of cmake*"
}

case_alone_it_shows_the_help() {
  pretend_tools
  heed
  expect "$out" "*<--help>"
}

case_program_takes_the_place_of_the_script() {
  pretend_tools
  heed version
  PATH=$bin "$checkout/heed" version >"$work/out" &
  wait $! || true
  expect "$(<"$work/out")" "pid $! in *"
}

case_stdin_is_left_to_the_program() {
  pretend_tools
  sed -i 's/exit 7/cat; exit 7/' "$bin/cmake"
  heed sample <<<"a prompt"
  expect "$out" "*<sample>a prompt"
}

case_second_call_is_silent_and_builds_nothing() {
  pretend_tools
  heed version
  true >"$calls"
  heed version
  expect "$err" ""
  expect "$(<"$calls")" ""
}

case_changed_added_and_removed_sources_are_built() {
  pretend_tools
  heed version
  local change
  for change in "touch autograd/tensor.h" "touch layers/new.h" "rm autograd/tensor.h" "touch CMakeLists.txt"; do
    true >"$calls"
    sleep 0.02
    (cd "$checkout" && $change)
    heed version
    expect "$(calls_of 'cmake --build') after $change" "1 after $change"
    expect "$(calls_of 'cmake -S')" 0
  done
}

case_two_calls_at_once_build_once() {
  pretend_tools
  sed -i 's/noise of the build"/&; sleep 0.5/' "$bin/cmake"
  PATH=$bin "$checkout/heed" first >"$work/first" 2>/dev/null &
  sleep 0.2
  heed second
  wait $! || true
  expect "$out" "*<second>"
  expect "$err" "*waiting for another build*"
  expect "$(<"$work/first")" "*<first>"
  expect "$(calls_of 'cmake --build')" 1
}

case_failed_build_is_told_and_taken_up_again() {
  pretend_tools
  local cmake=$(<"$bin/cmake")
  sed -i 's/--build) /&echo "error: no such thing"; exit 1; /' "$bin/cmake"
  heed version
  expect "$code $out" "1 "
  expect "$err" "*error: no such thing*the build failed*"
  printf '%s\n' "$cmake" >"$bin/cmake"
  heed version
  expect "$code" 7
  expect "$(calls_of 'cmake -S')" 1
}

case_failed_configuration_shows_the_end_of_the_log() {
  pretend_tools
  sed -i 's/-S) /&echo "CMake is too old"; exit 1; /' "$bin/cmake"
  heed version
  expect "$code" 1
  expect "$err" "*CMake is too old*$checkout/build/log.txt*"
}

case_without_apt_the_missing_packages_are_listed() {
  pretend_tools
  rm "$bin/c++" "$bin/cmake"
  heed train copy
  expect "$code $out" "1 "
  expect "$err" "*no apt-get*: g++ cmake"
  expect "$(<"$calls")" ""
}

case_without_sudo_the_command_is_told() {
  pretend_tools
  rm "$bin/ninja" "$bin/id"
  pretend id <<<'echo 1000'
  pretend apt-get </dev/null
  heed train copy
  expect "$code" 1
  expect "$err" "*as root*apt-get install ninja-build"
  pretend sudo <<<'echo "a password is required" >&2; exit 1'
  heed train copy
  expect "$code" 1
  expect "$err" "*a password is required*as root*apt-get install ninja-build"
  expect "$(calls_of apt-get)" 0
}

# install_as UID: pretends that apt-get brings Ninja, which is missing.
install_as() {
  pretend_tools
  rm "$bin/id"
  mv "$bin/ninja" "$work/ninja"
  pretend id <<<"echo $1"
  pretend sudo <<<'"$@"'
  pretend apt-get <<<"case \$* in *install*) mv '$work/ninja' '$bin/ninja';; esac; echo noise of apt"
  heed version
  expect "$code" 7
  expect "$err" "heed: installing, this once: ninja-build"$'\n'*
  [[ $err != *"noise of apt"* ]] || fail "apt-get is not quiet"
  expect "$(grep '^apt-get' "$calls")" "apt-get *update"$'\n'"apt-get *install --no-install-recommends ninja-build"
}

case_root_installs_without_sudo() {
  install_as 0
  expect "$(calls_of sudo)" 0
}

case_others_install_with_sudo() {
  install_as 1000
  expect "$(grep '^sudo' "$calls")" "sudo true"$'\n'"sudo env *update"$'\n'"sudo env *install *"
}

case_failed_installation_shows_the_end_of_the_log() {
  pretend_tools
  rm "$bin/ninja" "$bin/id"
  pretend id <<<'echo 0'
  pretend apt-get <<<'echo "E: no network"; exit 100'
  heed version
  expect "$code" 1
  expect "$err" "*E: no network*this failed*install*ninja-build*"
  expect "$(calls_of cmake)" 0
}

case_read_only_checkout_is_told() {
  pretend_tools
  chmod -R a+rX,a-w "$work/a place"
  if [[ $(id -u) == 0 ]]; then
    code=0 err=$(PATH=$bin "$(command -v setpriv)" --reuid 65534 --clear-groups "$checkout/heed" version 2>&1) || code=$?
  else
    heed version
  fi
  chmod -R u+w "$work/a place"
  expect "$code" 1
  expect "$err" "heed: cannot build as *: Permission denied.*"
}

case_moved_checkout_is_built_anew() {
  pretend_tools
  heed version
  touch "$build/old"
  mv "$checkout" "$work/moved"
  checkout=$work/moved build=$work/moved/build/release
  heed version
  expect "$(calls_of 'cmake -S')" 2
  [[ ! -e $build/old ]] || fail "the old build is still there"
}

case_after_the_tests_the_program_is_built() {
  pretend_tools
  heed test
  : >"$calls"
  heed version
  expect "$out" "pid *"$'\n'"<version>"
  expect "$err" ""
  expect "$(calls_of cmake)" 0
}

case_tests_are_added_to_the_build_of_the_program() {
  pretend_tools
  heed version
  touch "$build/object"
  heed test -R softmax
  expect "$(grep -E '^(ctest|cmake -S)' "$calls")" \
    "cmake *HEED_TESTS=OFF"$'\n'"cmake *HEED_TESTS=ON"$'\n'"ctest --test-dir $build *-R softmax"
  [[ -e $build/object ]] || fail "the build was not kept"
  sleep 0.02
  touch "$checkout/train/new.cpp"
  heed version
  expect "$(calls_of 'cmake -S')" 2
  expect "$(tail -n 1 "$calls")" "cmake --build $build --target heed"
}

"case_$2"
