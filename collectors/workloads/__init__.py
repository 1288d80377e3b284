"""The papers' applications as C programs: what they are (`catalogue`), and how they are built and started (`build`)."""
