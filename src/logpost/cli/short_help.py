"""`-h` as a screen of the common options with an example, `--help-all` for all of them."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

ALL = "--help-all"


def with_common_options(*names: str, base: type[TyperCommand] = TyperCommand) -> type[TyperCommand]:
    """The class of a command whose help has these options and its first example.

    The rest is in `--help-all`, and so are paragraphs that begin with an option.
    """

    class Command(base):  # type: ignore[valid-type, misc]
        help: str | None
        epilog: str | None
        whole = False

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            # Behind `--`, and behind the program of `record`, words belong to the program.
            own = args[: args.index("--")] if "--" in args else args
            own = own if ctx.allow_interspersed_args else own[:1]
            if ALL in own:
                self.whole, args = True, ["--help"]
            parsed: list[str] = super().parse_args(ctx, args)
            return parsed

        def format_help(self, ctx: Any, formatter: Any) -> None:
            if self.whole:
                super().format_help(ctx, formatter)
                return
            options = (one for one in self.params if one.param_type_name == "option" and not one.hidden)
            rest: list[Any] = [one for one in options if not set(names) & set(one.opts)]
            text = self.help or ""
            paragraphs = re.split(r"\n\s*\n", text)
            about = [one for one in paragraphs if not one.lstrip().startswith(("--", "Example: "))]
            self.help = "\n\n".join([*about, *(one for one in paragraphs if "Example: " in one)][: len(about) + 1])
            self.epilog = f"{ctx.command_path} {ALL}: {len(rest)} further options, and more examples."
            for one in rest:
                one.hidden = True
            try:
                super().format_help(ctx, formatter)
            finally:
                self.help, self.epilog = text, None
                for one in rest:
                    one.hidden = False

    return Command
