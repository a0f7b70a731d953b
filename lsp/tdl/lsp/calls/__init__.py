"""How something is called, while it is being called: `callables` in brackets, `lines` in schedules."""
