"""What an editor offers to change: each an edit of the text that is tried before it is offered."""
