"""What is said about something at the cursor, as Markdown: names, lines of schedules and their loops, numbers."""
