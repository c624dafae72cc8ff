"""Pages of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Self

    from .types import Pagination

Item = TypeVar("Item")
Body = TypeVar("Body")


class Page(Generic[Item]):
    """One page of a list."""

    def __init__(
        self, items: list[Item], pagination: Pagination, turn: Callable[[int], Self]
    ) -> None:
        self.items = items
        """The items of this page."""
        self.pagination = pagination
        """The number of this page, and how many there are."""
        self._turn = turn

    def next(self) -> Self | None:
        """The next page, or `None` after the last one."""
        page = self.pagination["page"]
        # Above 10,000 items the service does not count; an empty page is the end.
        uncounted = self.pagination.get("total_is_minimum", False)
        if not self.items or (page >= self.pagination["total_pages"] and not uncounted):
            return None
        return self._turn(page + 1)

    def pages(self) -> Iterator[Self]:
        """This page and all that follow, each requested when it is reached."""
        page: Self | None = self
        while page is not None:
            yield page
            page = page.next()

    def all(self) -> Iterator[Item]:
        """The items of this page and of all that follow."""
        for page in self.pages():
            yield from page.items


class PageWith(Page[Item], Generic[Item, Body]):
    """One page of a list whose answer has more than items."""

    def __init__(
        self, items: list[Item], pagination: Pagination, turn: Callable[[int], Self], body: Any
    ) -> None:
        super().__init__(items, pagination, turn)
        self.body: Body = body
        """The whole answer."""
