"""Vocabularies: the attributes that objects have, and the values these take."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from recombine.store.errors import UserError


@dataclass(frozen=True)
class Attribute:
    """A property of objects. The code of a value is its place in `values`; in an ordered attribute codes compare."""

    name: str
    values: tuple[str, ...]
    ordered: bool = False

    def code(self, value: str) -> int:
        if value not in self.values:
            raise UserError(f"'{value}' is not a {self.name}; choose one of {', '.join(self.values)}")
        return self.values.index(value)


@dataclass(frozen=True)
class Vocabulary:
    """All attributes of a world, by name."""

    attributes: tuple[Attribute, ...]

    @cached_property
    def by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    def __getitem__(self, name: str) -> Attribute:
        if name not in self.by_name:
            raise UserError(f"there is no attribute '{name}'; choose one of {', '.join(self.by_name)}")
        return self.by_name[name]

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def attribute_of(self, value: str) -> Attribute:
        """The first attribute that has this value."""
        for attribute in self.attributes:
            if value in attribute.values:
                return attribute
        raise UserError(f"no attribute has the value '{value}'; the attributes are {', '.join(self.by_name)}")
