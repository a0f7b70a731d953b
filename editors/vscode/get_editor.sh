#!/usr/bin/env bash
# VS Code for the browser in a folder of its own, and Chromium: what the tests drive. Nothing is done where it is there.
#
#   editors/vscode/get_editor.sh FOLDER
set -euo pipefail

cache=$1
mkdir -p "$cache"
cd "$cache"
node_version=24.21.0 editor_version=4.139.1
stamp="$node_version $editor_version"
export npm_config_yes=true npm_config_audit=false npm_config_fund=false npm_config_loglevel=error

if [ ! -x "${TDL_CHROMIUM:-/usr/bin/chromium}" ]; then
    apt-get update --quiet=2
    DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends chromium > /dev/null
fi
if [ "$(cat .complete 2> /dev/null)" = "$stamp" ]; then
    exit 0
fi
# The editor runs on a Node of its own, in a prefix of its own: an install in the same prefix would take its headers away.
mkdir -p node editor
echo '{"private": true}' > node/package.json
echo '{"private": true}' > editor/package.json
npm install --prefix node "node@$node_version"
export PATH=$PWD/node/node_modules/node/bin:$PATH
# Without install scripts no compiler is needed; what they would build is for terminals, which no test opens.
npm install --prefix editor --ignore-scripts "code-server@$editor_version"
code=$PWD/editor/node_modules/code-server/lib/vscode
for folder in "$code" "$code/extensions"; do
    (cd "$folder" && npm install --omit=dev --ignore-scripts)
done
ln -sf code-linux.sh "$code/bin/remote-cli/code-server"
ln -sf browser-linux.sh "$code/bin/helpers/browser.sh"
cat > code-server << SCRIPT
#!/bin/sh
exec "$PWD/node/node_modules/node/bin/node" "$PWD/editor/node_modules/code-server/out/node/entry.js" "\$@"
SCRIPT
chmod +x code-server
./code-server --version
echo "$stamp" > .complete
