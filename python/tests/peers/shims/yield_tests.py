"""A plugin of pytest that runs test functions which yield checks, as nose did."""

import inspect

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, name, obj):
    if not (name.startswith("test") and inspect.isgeneratorfunction(obj)):
        return None

    def run():
        for check, *arguments in obj():
            check(*arguments)

    return pytest.Function.from_parent(collector, name=name, callobj=run)
