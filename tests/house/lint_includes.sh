#!/usr/bin/env bash
# lint_includes.sh public FILE...: a public header includes the standard library and heed, each by its full name.
# lint_includes.sh source FILE...: a source does not step over its room's border by a path.
set -euo pipefail
case $1 in
  public) allowed='<(heed/[a-z0-9_/]+\.h|[a-z_]+)>' ;;
  source) allowed='(<[^>]+>|"([^./]|\.[^.])[^"]*")' ;;
esac
shift
if offenders=$(grep -nE '^ *# *include' "$@" /dev/null | grep -vE "# *include $allowed( *//.*)?$"); then
  echo "$offenders"
  exit 1
fi
