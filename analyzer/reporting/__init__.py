"""Reports of runs: plain typed data (`build`), rendered as text or JSON (`text`, `json_report`)."""
