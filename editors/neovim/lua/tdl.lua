--- TDL in Neovim 0.7 and newer: the language server, and commands for what only TDL has.
---
---   :TdlPreview [stage] [sizes]   the op at the cursor as loops, kernel, LLVM or assembly, beside its source
---   :TdlDiff                      the loops after the schedule line at the cursor; what the line changed is marked
---   :TdlTest [name]               run a test, by default the one at the cursor
---   :TdlBench [name]              measure a bench
---   :TdlCancel                    stop what runs
---
--- A preview follows the edits of its source; <CR> on one of its lines goes to where the line comes from, and `s` to the
--- schedule line that put it there. Names, errors, hovers and everything else are Neovim's own, by LSP.
local M = {}

M.options = {
  cmd = { 'tdlc', 'lsp' },
  --- Sizes of previews: `bench`, `test`, `open`, or the name of a test or bench.
  sizes = 'bench',
  --- Whether lines that run tests and benches are shown above them.
  lenses = true,
  --- Called with the client and the buffer once a server is there, for mappings.
  on_attach = nil,
}

local STAGES = { 'nest', 'kernel', 'c', 'llvm-made', 'llvm', 'asm' }
local SYNTAX = { c = 'c', llvm = 'llvm', asm = 'asm' }
local marks = vim.api.nvim_create_namespace('tdl')

--- The previews that are open: the buffer of each, with the source and the parameters it was asked with.
local previews = {}
--- Ends the command that runs, if one does.
local cancel = nil

function M.setup(options)
  M.options = vim.tbl_extend('force', M.options, options or {})
end

-- ---- the server

local function complain(message)
  vim.notify('TDL: ' .. message, vim.log.levels.ERROR)
end

local function clients(filter)
  return (vim.lsp.get_clients or vim.lsp.get_active_clients)(filter)
end

--- The client of a buffer. Neovim 0.7 takes no filter, so it is looked for here.
local function client_of(buffer)
  for _, client in ipairs(clients()) do
    if client.name == 'tdl' and vim.lsp.buf_is_attached(buffer, client.id) then
      return client
    end
  end
end

local function root_of(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local folder = vim.fn.fnamemodify(name == '' and vim.fn.getcwd() or name, ':p:h')
  local found = vim.fn.finddir('.git', vim.fn.escape(folder, ' ,;') .. ';')
  return found == '' and folder or vim.fn.fnamemodify(found, ':p:h:h')
end

local function show_lenses(buffer)
  if not M.options.lenses then
    return
  end
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = buffer })
    return
  end
  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'TextChanged' }, {
    buffer = buffer,
    callback = function()
      vim.lsp.codelens.refresh()
    end,
  })
  vim.api.nvim_buf_call(buffer, vim.lsp.codelens.refresh)
end

local function attached(client, buffer)
  show_lenses(buffer)
  M.commands(buffer)
  if M.options.on_attach then
    M.options.on_attach(client, buffer)
  end
end

--- Give a buffer the server of its project, which is started for the first.
function M.attach(buffer)
  if vim.fn.executable(M.options.cmd[1]) == 0 then
    complain(
      "there is no `" .. M.options.cmd[1] .. "` on the path. Install it with `pip install 'tdlang[lsp]'`, or name it in "
        .. "require('tdl').setup({ cmd = { '/path/to/tdlc', 'lsp' } })"
    )
    return
  end
  local config = { name = 'tdl', cmd = M.options.cmd, root_dir = root_of(buffer), on_attach = attached }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  for _, client in ipairs(clients()) do
    if client.name == 'tdl' and client.config.root_dir == config.root_dir then
      vim.lsp.buf_attach_client(buffer, client.id)
      return
    end
  end
  vim.lsp.buf_attach_client(buffer, vim.lsp.start_client(config))
end

--- Ask the server about a buffer; `done` gets the answer. Gives a function that cancels the request.
local function ask(buffer, method, params, done)
  local client = client_of(buffer)
  if not client then
    complain('no language server is attached to this buffer')
    return
  end
  local _, cancel_all = vim.lsp.buf_request(buffer, method, params, function(fault, result)
    if fault then
      done(nil, fault.message or tostring(fault))
    else
      done(result)
    end
  end)
  return cancel_all
end

-- ---- previews

local function fill(preview, shown)
  local lines = vim.split(shown.text, '\n')
  if lines[#lines] == '' then
    lines[#lines] = nil
  end
  vim.bo[preview].modifiable = true
  vim.api.nvim_buf_set_lines(preview, 0, -1, false, lines)
  vim.bo[preview].modifiable = false
  vim.api.nvim_buf_clear_namespace(preview, marks, 0, -1)
  for _, line in ipairs(shown.changes and shown.changes ~= vim.NIL and shown.changes.added or {}) do
    vim.api.nvim_buf_add_highlight(preview, marks, 'DiffAdd', line, 0, -1)
  end
  local loop = shown.hotLoop
  if loop and loop ~= vim.NIL then
    vim.api.nvim_buf_set_extmark(preview, marks, loop.startLine, 0, { virt_text = { { loop.summary, 'Comment' } } })
  end
  previews[preview].shown = shown
end

local function refresh(preview)
  local known = previews[preview]
  ask(known.source, 'tdl/preview', known.params, function(shown)
    -- Of a program with errors there is nothing to show: the last that there was stays.
    if shown and vim.api.nvim_buf_is_valid(preview) then
      fill(preview, shown)
    end
  end)
end

local function go_to(preview, which)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, link in ipairs(previews[preview].shown.links) do
    local place = link.line == line and (link[which] or link.source or link.schedule)
    if place then
      vim.cmd('wincmd p')
      local buffer = vim.uri_to_bufnr(place.uri)
      if buffer ~= vim.api.nvim_get_current_buf() then
        vim.cmd('buffer ' .. buffer)
      end
      vim.api.nvim_win_set_cursor(0, { place.range.start.line + 1, place.range.start.character })
      return
    end
  end
end

local function open_window(source, stage)
  local window = vim.api.nvim_get_current_win()
  vim.cmd('vertical rightbelow new')
  local preview = vim.api.nvim_get_current_buf()
  vim.bo[preview].buftype, vim.bo[preview].bufhidden, vim.bo[preview].swapfile = 'nofile', 'wipe', false
  vim.bo[preview].syntax = SYNTAX[stage] or ''
  for key, which in pairs({ ['<CR>'] = 'source', s = 'schedule' }) do
    vim.keymap.set('n', key, function()
      go_to(preview, which)
    end, { buffer = preview, desc = 'Go to the ' .. which })
  end
  vim.api.nvim_set_current_win(window)
  local follow = vim.api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave' }, {
    buffer = source,
    callback = function()
      refresh(preview)
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = preview,
    callback = function()
      vim.api.nvim_del_autocmd(follow)
      previews[preview] = nil
    end,
  })
  return preview
end

local function show(source, params)
  ask(source, 'tdl/preview', params, function(shown, fault)
    if not shown then
      complain(fault)
      return
    end
    local preview = open_window(source, params.stage)
    -- The op is kept by its name, so that the preview stays with it when the cursor moves.
    local kept = { textDocument = params.textDocument, op = shown.op, stage = params.stage, sizes = params.sizes }
    if params.step then
      kept = params
    end
    previews[preview] = { source = source, params = kept }
    vim.api.nvim_buf_set_name(preview, shown.title)
    fill(preview, shown)
  end)
end

local function params_here(stage, sizes)
  local client = client_of(0)
  local params = vim.lsp.util.make_position_params(0, client and client.offset_encoding or 'utf-16')
  params.stage, params.sizes = stage, sizes
  return params
end

--- The op at the cursor at a stage (by default its loops) and at sizes.
function M.preview(stage, sizes)
  show(vim.api.nvim_get_current_buf(), params_here(stage or 'nest', sizes or M.options.sizes))
end

--- The loops after the schedule line at the cursor.
function M.diff()
  local params = params_here('nest', M.options.sizes)
  params.step = 'cursor'
  show(vim.api.nvim_get_current_buf(), params)
end

-- ---- running

--- The commands of a kind that the lenses of a buffer offer: `{ name, line }` of each.
local function cases(buffer, command, done)
  ask(buffer, 'textDocument/codeLens', { textDocument = vim.lsp.util.make_text_document_params(buffer) }, function(lenses, fault)
    if not lenses then
      complain(fault or 'there is nothing to run')
      return
    end
    local found = {}
    for _, lens in ipairs(lenses) do
      if lens.command and lens.command.command == command then
        found[#found + 1] = { name = lens.command.arguments[1].name, line = lens.range.start.line }
      end
    end
    done(found)
  end)
end

local function execute(buffer, command, name)
  local arguments = { { uri = vim.uri_from_bufnr(buffer), name = name } }
  cancel = ask(buffer, 'workspace/executeCommand', { command = command, arguments = arguments }, function(result, fault)
    cancel = nil
    if fault then
      complain(fault)
    end
    M.last = result
  end)
end

--- Run a test or bench by its name, or the last one that begins at the cursor or above it.
function M.run(kind, name)
  local buffer, command = vim.api.nvim_get_current_buf(), 'tdl.run' .. kind
  if name and name ~= '' then
    execute(buffer, command, name)
    return
  end
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  cases(buffer, command, function(found)
    local chosen = found[1]
    for _, case in ipairs(found) do
      if case.line <= line then
        chosen = case
      end
    end
    if chosen then
      execute(buffer, command, chosen.name)
    else
      complain('this file has no ' .. kind:lower())
    end
  end)
end

function M.cancel()
  if cancel then
    cancel()
  end
end

-- ---- commands

local function beginning(word, all)
  return vim.tbl_filter(function(each)
    return vim.startswith(each, word)
  end, all)
end

--- Give a buffer its commands.
function M.commands(buffer)
  local function define(name, run, options)
    vim.api.nvim_buf_create_user_command(buffer, name, run, options)
  end
  define('TdlPreview', function(given)
    M.preview(given.fargs[1], given.fargs[2])
  end, {
    nargs = '*',
    desc = 'Show the code of the op at the cursor',
    complete = function(word, line)
      local is_second = line:match('TdlPreview%s+%S+%s')
      return beginning(word, is_second and { 'bench', 'test', 'open' } or STAGES)
    end,
  })
  define('TdlDiff', M.diff, { desc = 'Show what the schedule line at the cursor does' })
  define('TdlTest', function(given)
    M.run('Test', given.args)
  end, { nargs = '?', desc = 'Run a test' })
  define('TdlBench', function(given)
    M.run('Bench', given.args)
  end, { nargs = '?', desc = 'Measure a bench' })
  define('TdlCancel', M.cancel, { desc = 'Stop what runs' })
end

--- What lenses of ops do: the server's own command would have nowhere to show it.
vim.lsp.commands['tdl.showPlan'] = function(command)
  local what = command.arguments[1]
  show(vim.uri_to_bufnr(what.uri), {
    textDocument = { uri = what.uri },
    op = what.name,
    stage = what.stage,
    sizes = M.options.sizes,
  })
end

return M
