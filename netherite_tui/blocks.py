"""Names of block and item ids (Minecraft 1.11.2) that a player of the ladder meets."""

SKY = "sky"
UNKNOWN = "unknown"

#: What a block id looks like from afar; glyph sets and themes speak of these kinds.
KIND_IDS: dict[str, tuple[int, ...]] = {
    SKY: (0,),
    "stone": (1,),
    "grass": (2, 110),
    "dirt": (3, 60, 208, 82),
    "cobble": (4, 48),
    "planks": (5, 53, 134, 135),
    "bedrock": (7,),
    "water": (8, 9, 79),
    "lava": (10, 11),
    "sand": (12, 24),
    "gravel": (13,),
    "iron": (15,),
    "coal": (16,),
    "ore": (14, 21, 56, 73, 74, 129),
    "log": (17, 162),
    "leaves": (18, 161, 106),
    "glass": (20, 95, 102),
    "plants": (6, 31, 32, 37, 38, 39, 40, 59, 81, 83, 111, 175),
    "wool": (35,),
    "torch": (50,),
    "table": (58,),
    "furnace": (61, 62),
    "snow": (78, 80),
}
KINDS: tuple[str, ...] = (*KIND_IDS, UNKNOWN)
KIND_OF_ID: dict[int, str] = {block: kind for kind, ids in KIND_IDS.items() for block in ids}

ITEM_NAMES: dict[int, str] = {
    3: "dirt",
    4: "cobble",
    5: "planks",
    6: "sapling",
    12: "sand",
    13: "gravel",
    15: "iron ore",
    17: "log",
    50: "torch",
    58: "table",
    61: "furnace",
    257: "iron pick",
    260: "apple",
    263: "coal",
    265: "iron",
    270: "wood pick",
    274: "stone pick",
    280: "stick",
    295: "seeds",
    318: "flint",
}
#: Names of `inv_counts` in the record's order (SPEC 2).
INVENTORY = ("log", "planks", "stick", "cobble", "table", "wood pick", "stone pick", "coal", "torch")
CONTAINERS = {0: "none", 1: "crafting table", 2: "furnace"}


def block_name(block: int) -> str:
    """Returns the block's kind, with the id when the kind does not tell."""
    kind = KIND_OF_ID.get(block)
    return "air" if block == 0 else kind if kind is not None else f"id {block}"


def item_name(item: int) -> str:
    """Returns the item's name, or `id N`."""
    return ITEM_NAMES.get(item, f"id {item}")
