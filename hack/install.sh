# Functions for scripts that install what they need; source it.

# Runs a command that needs the network, up to five times.
retry() {
  local i
  for i in 1 2 3 4 5; do
    "$@" && return
    echo "attempt $i failed: $*" >&2
    sleep $((i * 5))
  done
  return 1
}

# Installs a Debian package if one of the commands is missing.
need() {
  local package=$1 command
  shift
  for command in "$@"; do
    ! command -v "$command" >/dev/null || return 0
  done
  if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
    echo "$1 is missing: install it with the package manager of your system, and try again" >&2
    return 1
  fi
  retry apt-get update -q
  retry env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$package"
}
