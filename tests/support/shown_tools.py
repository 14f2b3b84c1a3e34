"""The tools that the skills of the documentation name, with the simplest results that these skills can go on with."""

from typing import Any

from pydantic import JsonValue

from perdure import tool

CALLED: list[tuple[str, dict[str, Any]]] = []
"""The calls that changed something, in their order."""


def _act(name: str, **arguments: object) -> None:
    CALLED.append((name, arguments))


@tool(effect="read")
async def stock_of(sku: str) -> int:
    return len(sku)


@tool(effect="once", timeout=2)
async def order(sku: str, count: int) -> dict[str, JsonValue]:
    _act("order", sku=sku, count=count)
    return {"accepted": True, "number": "o-1", "supplier": "north"}


@tool(effect="idempotent")
async def cancel_order(number: str) -> None:
    _act("cancel_order", number=number)


@tool(effect="idempotent")
async def greet(customer: str, manner: str, again: bool) -> str:
    _act("greet", customer=customer, manner=manner, again=again)
    return f"{customer}, {manner}{', again' if again else ''}"


@tool(effect="read")
async def look_at(shop: str) -> str:
    return f"{shop} is open"


@tool(effect="idempotent")
async def report(shop: str, found: str, number: int) -> None:
    _act("report", shop=shop, found=found, number=number)


@tool(effect="read")
async def rates_of(country: str) -> dict[str, float]:
    return {"tax": 0.5 if country else 0.0}


@tool(effect="once", timeout=2)
async def bill(customer: str, amount: float) -> None:
    _act("bill", customer=customer, amount=amount)


@tool(effect="read")
async def look_up(who: str) -> str:
    return f"{who}@example.org"


@tool(effect="idempotent")
async def tell(address: str = "", shop: str = "", about: str = "") -> None:
    _act("tell", address=address, shop=shop, about=about)


@tool(effect="once", timeout=2)
async def book_room(city: str) -> dict[str, JsonValue]:
    _act("book_room", city=city)
    return {"booking": "r-1", "cents": 9_000}


@tool(effect="idempotent")
async def cancel_room(booking: str, city: str) -> None:
    _act("cancel_room", booking=booking, city=city)


@tool(effect="once", timeout=2)
async def book_train(city: str) -> dict[str, JsonValue]:
    _act("book_train", city=city)
    return {"ticket": "t-1", "seat": "11 A" if city != "Ulm" else None, "cents": 4_000}


@tool(effect="idempotent")
async def cancel_train(ticket: str) -> None:
    _act("cancel_train", ticket=ticket)


@tool(effect="once", timeout=2)
async def pay(card: str, cents: int) -> None:
    _act("pay", card=card, cents=cents)


@tool(effect="idempotent")
async def remind(who: str) -> dict[str, bool]:
    _act("remind", who=who)
    return {"sent": True}


@tool(effect="once", timeout=2)
async def book(payment: JsonValue = None, team: str = "") -> JsonValue:
    _act("book", payment=payment, team=team)
    return payment


@tool(effect="read")
async def read_file(path: str) -> str:
    return f"the text of {path}"


@tool(effect="read")
async def merged_since(repository: str, tag: str, most: int) -> list[str]:
    return [f"{repository} {tag}"][:most]


@tool(effect="read")
async def open_editor() -> None:
    """What a skill requires and does not call."""


@tool(effect="read")
async def ask_supplier(name: str, part: str) -> str:
    return f"{part} of {name}"


@tool(effect="read")
async def look_up_stock(part: str) -> str:
    return f"{part} in stock"


@tool(effect="read")
async def price_of(stock: str) -> str:
    return f"a price for {stock}"


@tool(effect="read")
async def compare(offers: list[str]) -> str:
    return " | ".join(offers)


@tool(effect="read")
async def find_budget(team: str) -> int | None:
    return 5 if team == "ops" else None


@tool(effect="read")
async def count_boxes(what: str, fragile: bool) -> dict[str, int]:
    return {"boxes": len(what) + fragile}
