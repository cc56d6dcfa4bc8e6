# How each script in bash begins:
#
#   source "$(dirname "$0")/options.bash" 'check jobs=8 scratch-path=.build SUBJECT…' "$@"
#
# The first word says which options there are. --check sets `check` to 1. --jobs takes a value, into `jobs`, which is 8
# without it; a dash in a name is `_` in that of the variable. Other words go into `operands`, if the list ends with
# `…`. --help prints the comment at the script's top, up to that line. Wrong usage ends the script with status 64.
set -euo pipefail
unset CDPATH # with it, cd prints where it went
cd "$(dirname "$0")/.."
script=Scripts/${0##*/}

fail() {
  echo "$script: $*" >&2
  exit 1
}

wrong() {
  echo "$script: $*; see $script --help" >&2
  exit 64
}

# logged FILE WORDS COMMAND…: its output goes into a file. If it fails, that is shown, and ends the script.
logged() {
  "${@:3}" > "$1" 2>&1 || {
    tail -40 "$1" >&2
    fail "$2"
  }
}

# copy_clone FOLDER: the clone as git would fetch it, with changes that are not committed yet.
copy_clone() {
  rm -rf "$1"
  mkdir "$1"
  comm -z23 <(git ls-files -z --cached --others --exclude-standard | sort -z) <(git ls-files -z --deleted | sort -z) |
    tar --null -T - -cf - | tar -xf - -C "$1"
}

# options_for_modules PRODUCTS SCRATCH-PATH: sets `module_options`, by which the compiler finds the modules of a build:
# those in Swift, and those in C that they are made with.
options_for_modules() {
  local map
  module_options=(-I "$1/Modules")
  for map in "$1"/*.build/module.modulemap "$2"/checkouts/*/Sources/*/include/module.modulemap; do
    module_options+=(-Xcc "-fmodule-map-file=$map")
  done
}

# compiler_arguments MODULE SCRATCH-PATH: those of the debug build that say how to read a source, a line each.
compiler_arguments() {
  sed -n "/^  \"C\.$1-[^\"]*\.module\":/,/^    args:/p" "$2/debug.yaml" |
    sed -n 's/^    args: \[\(.*\)\]$/\1/p' | sed 's/","/\n/g; s/^"//; s/"$//' | awk '
      skip { skip = 0; next }
      # What is about outputs, and about compiling in steps.
      /^(-module-name|-emit-module-path|-output-file-map|-index-store-path)$/ { skip = 1; next }
      /^(-emit-objc-header-path|-Werror)$/ { skip = 1; next }
      /^(-emit-dependencies|-emit-module|-emit-objc-header|-incremental|-c|-enable-batch-mode)$/ { next }
      /^(-serialize-diagnostics|-parseable-output|-warnings-as-errors)$/ || /^@/ || /^-j[0-9]+$/ || /swiftc$/ { next }
      { print }'
}

known=" $1 "
shift
for option in $known; do
  name=${option%%=*}
  [[ $name == *… ]] || printf -v "${name//-/_}" %s "${option:${#name}+1}"
done
operands=()
while [[ $# -gt 0 ]]; do
  name=${1#--}
  case $1 in
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$script"; exit 0 ;;
    --*)
      if [[ $known == *" $name "* ]]; then
        printf -v "${name//-/_}" 1
      elif [[ $known == *" $name="* ]]; then
        [[ -n ${2-} ]] || wrong "$1 needs a value"
        printf -v "${name//-/_}" %s "$2"
        shift
      else
        wrong "unknown argument: $1"
      fi
      ;;
    *)
      [[ $known == *"… " ]] || wrong "unknown argument: $1"
      operands+=("$1")
      ;;
  esac
  shift
done
