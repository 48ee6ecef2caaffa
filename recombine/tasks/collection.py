"""Collections of examples: sequences that make their items when they are asked for, also for PyTorch."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload

from recombine.store.errors import UserError

T = TypeVar("T")


class Collection(Sequence[T], Generic[T]):
    """A sequence of examples."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def item(self, number: int) -> T:
        """The example of this number, which is in range."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return Some(self, range(len(self))[index])
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"there is no example {index} among {len(self):,}")
        return self.item(number)

    def torch(self, convert: Callable[[T], Any] | None = None) -> Any:
        """A `torch.utils.data.Dataset` of arrays, or of what `convert` makes of an example."""
        try:
            from torch.utils.data import Dataset
        except ImportError as error:
            raise UserError("a torch Dataset needs PyTorch: pip install 'recombine[models]'") from error
        examples, make = self, convert or (lambda one: one.arrays())  # type: ignore[attr-defined]

        class View(Dataset):
            def __len__(self) -> int:
                return len(examples)

            def __getitem__(self, number: int) -> Any:
                return make(examples[number])

            def __repr__(self) -> str:
                return f"{examples!r} for PyTorch"

        return View()


class Some(Collection[T]):
    """Some examples of a collection."""

    def __init__(self, whole: Collection[T], places: range) -> None:
        self.whole, self.places = whole, places

    def __len__(self) -> int:
        return len(self.places)

    def item(self, number: int) -> T:
        return self.whole.item(self.places[number])

    def __repr__(self) -> str:
        return f"{len(self):,} of {self.whole!r}"
