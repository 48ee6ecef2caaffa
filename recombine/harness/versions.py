"""Tools of others, and the versions that were tried."""

from importlib.metadata import PackageNotFoundError, version

from recombine.store.errors import UserError

TRIED = {"inspect-ai": "0.3", "lmms-eval": "0.7", "trl": "1", "verifiers": "0.4", "verl": "0.9", "ms-swift": "4"}
"""What a version begins with where nothing that is used has changed."""


def need(tool: str, found: str | None = None) -> str:
    """The version of a tool that is installed; one sentence where it is missing or of another kind."""
    wanted = TRIED[tool]
    if found is None:
        try:
            found = version(tool)
        except PackageNotFoundError:
            raise UserError(f'{tool} is not installed: pip install "{tool}=={wanted}.*"') from None
    if found.split(".")[: wanted.count(".") + 1] != wanted.split("."):
        raise UserError(
            f"this was made for {tool} {wanted} and {found} is installed, which may work in another way: "
            f'pip install "{tool}=={wanted}.*"'
        )
    return found
