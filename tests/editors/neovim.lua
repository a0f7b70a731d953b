-- What a user does in Neovim, without a screen. Says what it found, and PASS at the end; the first that is wrong ends it.
local function wrong(what)
  io.stdout:write('WRONG ' .. what .. '\n')
  vim.cmd('cquit 1')
end

local function wait_until(what, is_it)
  if not vim.wait(60000, is_it, 20) then
    wrong('waited in vain for ' .. what)
  end
end

local function expect(is_so, what)
  if not is_so then
    wrong(what)
  end
end

local messages = {}
vim.notify = function(message)
  messages[#messages + 1] = message
end
local show_message = vim.lsp.handlers['window/showMessage']
vim.lsp.handlers['window/showMessage'] = function(fault, params, ...)
  messages[#messages + 1] = params.message
  return show_message(fault, params, ...)
end

local function wait_for_message(pattern)
  local found
  wait_until('a message like ' .. pattern, function()
    for _, message in ipairs(messages) do
      found = message:match(pattern) and message or found
    end
    return found ~= nil
  end)
  messages = {}
  return found
end

-- ---- a file with an error

expect(vim.bo.filetype == 'tdl', 'the filetype is ' .. vim.bo.filetype)
local source, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
wait_until('an error', function()
  return #vim.diagnostic.get(source) > 0
end)
local fault = vim.diagnostic.get(source)[1]
expect(fault.code == 'unknown-name', 'the error is ' .. tostring(fault.code))
expect(fault.lnum == 1 and fault.col == 15, 'the error is at ' .. fault.lnum .. ':' .. fault.col)
vim.api.nvim_buf_set_text(source, 1, 15, 1, 16, { 'X' })
wait_until('the error to go', function()
  return #vim.diagnostic.get(source) == 0
end)

-- ---- what Neovim knows by itself

local position = { textDocument = vim.lsp.util.make_text_document_params(source), position = { line = 0, character = 4 } }
local answers = vim.lsp.buf_request_sync(source, 'textDocument/hover', position, 60000)
local _, answer = next(answers)
expect(vim.inspect(answer.result):find('op double'), 'the hover is ' .. vim.inspect(answer))

-- ---- previews

local function preview()
  for _, each in ipairs(vim.api.nvim_list_bufs()) do
    if each ~= source and vim.bo[each].buftype == 'nofile' then
      local text = table.concat(vim.api.nvim_buf_get_lines(each, 0, -1, false), '\n')
      if text ~= '' then
        return each, text
      end
    end
  end
end

local function wait_for_preview(pattern)
  wait_until('a preview with ' .. pattern, function()
    local _, text = preview()
    return text ~= nil and text:find(pattern) ~= nil
  end)
  return preview()
end

vim.api.nvim_win_set_cursor(window, { 1, 4 })
vim.cmd('TdlPreview')
local shown = wait_for_preview('for io in 0..125')
expect(vim.api.nvim_buf_get_name(shown):find('double, loops at N=1000', 1, true), 'its name')
expect(vim.api.nvim_get_current_win() == window, 'the cursor left its window')
vim.api.nvim_buf_set_lines(source, 7, 8, false, { 'bench big: double(N=2000)' })
vim.api.nvim_exec_autocmds('TextChanged', { buffer = source })
wait_for_preview('for io in 0..250')
vim.cmd('wincmd w')
local _, line = preview()
vim.fn.search('Y\\[')
vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('<CR>', true, false, true), 'x', false)
expect(vim.api.nvim_get_current_buf() == source, 'it did not go to the source')
expect(vim.api.nvim_win_get_cursor(0)[1] == 2, 'it went to line ' .. vim.api.nvim_win_get_cursor(0)[1])
vim.cmd('bwipeout! ' .. shown)

vim.cmd('TdlPreview asm test')
shown = wait_for_preview('double.kernel')
expect(vim.bo[shown].syntax == 'asm', 'its syntax')
vim.cmd('bwipeout! ' .. shown)

vim.api.nvim_win_set_cursor(window, { 5, 4 })
vim.cmd('TdlDiff')
shown = wait_for_preview('for io in')
local marks = vim.api.nvim_buf_get_extmarks(shown, vim.api.nvim_get_namespaces()['tdl'], 0, -1, {})
expect(#marks > 0, 'nothing is marked as changed')
vim.cmd('bwipeout! ' .. shown)
vim.cmd('TdlPreview gpu')
wait_for_message('there is no stage `gpu`')

-- ---- running

vim.api.nvim_win_set_cursor(window, { 7, 0 })
vim.cmd('TdlTest')
wait_for_message('test tiny passed')
vim.cmd('TdlBench big')
wait_for_message('bench big: .*GFLOP/s')
vim.cmd('TdlTest absent')
wait_for_message('there is no test `absent`')
vim.cmd('TdlBench big')
vim.cmd('TdlCancel')

-- ---- lenses

vim.lsp.commands['tdl.showPlan']({ arguments = { { uri = vim.uri_from_bufnr(source), name = 'double', stage = 'kernel' } } })
wait_for_preview('global X')

-- ---- the end

local client = (vim.lsp.get_clients or vim.lsp.get_active_clients)()[1]
client.stop()
wait_until('the server to end', function()
  return client.is_stopped()
end)
io.stdout:write('PASS\n')
vim.cmd('qall!')
