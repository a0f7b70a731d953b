"""How `tdl.language.parse` reads text: splitting, the automaton, building the tree, recovery."""
