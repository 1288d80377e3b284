"""The words of findings, kind by kind: templates of titles and advice, which `findings.prose` lists by kind."""
