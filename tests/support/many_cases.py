"""One test for many cases that are checked in an instant each: pytest takes milliseconds for a test of its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

Check = Callable[..., None]


def for_each(names: str, cases: Iterable[Any], ids: Callable[[Any], str] = repr) -> Callable[[Check], Check]:
    """Call the test with every case in turn; it fails with the names and the messages of all cases that fail.

    names: of the parameters, between commas, as for pytest.mark.parametrize, which this replaces where no fixture has
    to begin anew for each case.
    """
    found = list(cases)
    parameters = [name.strip() for name in names.split(",")]

    def decorated(check: Check) -> Check:
        @functools.wraps(check)
        def all_cases(*of_class: Any, **fixtures: Any) -> None:
            assert found, f"{check.__name__}: there are no cases"
            failures = []
            for case in found:
                values = [case] if len(parameters) == 1 else case
                try:
                    check(*of_class, **dict(zip(parameters, values, strict=True)), **fixtures)
                except Exception as error:
                    failures.append(f"{ids(case)}: {type(error).__name__}: {error}")
            assert not failures, f"{len(failures)} of {len(found)} cases fail:\n" + "\n".join(failures)

        signature = inspect.signature(check)
        others = [one for name, one in signature.parameters.items() if name not in parameters]
        all_cases.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return all_cases

    return decorated
