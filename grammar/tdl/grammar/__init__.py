"""The syntax of TDL: `tdl.lark`, its parse tables, and the word lists that editors need."""
