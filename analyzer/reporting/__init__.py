"""What a run says, as plain typed data first (`build`), then as text or JSON (`text`, `json_report`)."""
