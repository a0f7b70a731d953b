#!/usr/bin/env bash
# All tests of the extension: types, units, grammars, the package, the extension host, and a person's session in a browser.
#
#   editors/vscode/test.sh [PICTURES]      PICTURES: a folder that gets pictures of the session, in a dark and a light theme
#
# The editor and the browser's driver are kept outside the repository, in $TDL_EDITOR_CACHE (by default in the user's cache
# folder). $TDL_PYTHON is an interpreter with the server; without it one is made beside the editor.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
pictures=${1:+$(realpath -m "$1")}
cache=${TDL_EDITOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tdl-editor}
export npm_config_audit=false npm_config_fund=false npm_config_loglevel=error

./get_editor.sh "$cache"
python=${TDL_PYTHON:-}
if [ -z "$python" ]; then
    python=$cache/python/bin/python
    [ -x "$python" ] || python3 -m venv "$cache/python"
    "$python" -m pip install --quiet --disable-pip-version-check -e "$here/../..[lsp]"
fi

npm ci
npm run --silent check
npm run --silent unit
npm run --silent grammar
node esbuild.mjs
npm run --silent package > build/package.log 2>&1 || { cat build/package.log; exit 1; }
if grep -i warning build/package.log; then
    echo "vsce warns: see above"
    exit 1
fi
size=$(stat -c %s build/tdl.vsix)
if [ "$size" -gt 500000 ]; then
    echo "build/tdl.vsix has $size bytes, more than 500,000"
    exit 1
fi
node test/browser/host.mjs "$cache" "$python"
node test/browser/e2e.mjs "$cache" "$here/build/tdl.vsix" "$python" ${pictures:+"$pictures"}
