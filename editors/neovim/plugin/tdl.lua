-- Files that end in `.tdl` are of filetype `tdl`, and every buffer of that type gets the language server.
local group = vim.api.nvim_create_augroup('tdl', {})

vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
  group = group,
  pattern = '*.tdl',
  callback = function()
    vim.bo.filetype = 'tdl'
  end,
})

vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = 'tdl',
  callback = function(event)
    require('tdl').attach(event.buf)
  end,
})
