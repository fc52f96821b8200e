"""Refunds of a shop."""

# é🙂
def refund(order, amount=0):
    # a nested one
    def check(value):
        return value > 0

    return check(amount)


@cached
@traced(
    level=2,
)
async def fetch(order):
    return await order.load()


class Ledger(Base):
    """Keeps "entries" # not a comment."""

    limit = 5

    def add(self, entry):
        self.entries.append(entry)

    @property
    def total(self) -> int:
        return sum(self.entries)

    @total.setter
    def total(self, value):
        self._total = value

    class Entry:
        def __init__(self): pass


if True:
    def only_here(): ...
