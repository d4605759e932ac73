"""The models that are checked, with their bounds; and for each mutant, bounds in which its fault shows."""

from __future__ import annotations

from typing import Any

from verification.checker import Model
from verification.models.budget import PROGRAMS, Budgets
from verification.models.completion import Completion
from verification.models.free_list import FreeLists
from verification.models.lane import Lanes
from verification.models.life import Life
from verification.models.tiles import Tiles
from verification.models.wake import Wake

Bounds = dict[str, Any]

MODELS: list[tuple[type[Model], Bounds]] = [
    (Wake, {}),
    (Wake, {"issuers": (2,), "meet": True}),
    (Wake, {"issuers": (2,), "meet": True, "cores": 2}),
    (Wake, {"issuers": (2, 1), "workers": 1}),
    (Wake, {"issuers": (2,), "meet": True, "other": True}),
    (Wake, {"cost": "tiny"}),
    (Wake, {"cost": "tiny", "workers": 1, "helper": True}),
    (Wake, {"workers": 1, "helper": True}),
    (Wake, {"issuers": (2,), "meet": True, "cores": 2, "helper": True}),
    (Wake, {"issuers": (2,), "meet": True, "helper": True, "interrupted": True}),
    (Completion, {}),
    (Completion, {"waits": (("mark", 1), ("mark", 2), ("storage", 2))}),
    (Completion, {"waits": (("mark", 1), ("mark", 2)), "chain": True}),
    (Completion, {"hands": True}),
    (Tiles, {}),
    (Tiles, {"tiles": 1}),
    (Tiles, {"failing": (1,)}),
    (Tiles, {"failing": (0, 2)}),
    (Tiles, {"failing": "prepare"}),
    (Tiles, {"poisoned": True}),
    *((Budgets, {"program": name}) for name in PROGRAMS),
    *((Budgets, {"program": name, "scarce": True}) for name in PROGRAMS),
    (Budgets, {"program": "tight", "scarce": True, "hard": 9}),
    (Life, {}),
    (Life, {"ops": 2}),
    (Life, {"ops": 2, "dependent": True}),
    (Life, {"host": False, "helper": True}),
    (Life, {"endless": True}),
    (Life, {"signals": True}),
    (Life, {"forks": 2}),
    (FreeLists, {}),
    (Lanes, {}),
    (Lanes, {"failing": (0,)}),
    (Lanes, {"failing": (1,)}),
    (Lanes, {"throwing": (1,)}),
    (Lanes, {"failing": (0,), "throwing": (1,)}),
]

_IN_VAIN: Bounds = {"issuers": (2,), "meet": True, "cores": 2, "helper": True, "other": True, "in_vain": True}

DEEP: list[tuple[type[Model], Bounds]] = [
    (Wake, {"issuers": (3,), "meet": True, "cores": 2, "helper": True}),
    (Wake, _IN_VAIN),
    (Wake, {"issuers": (2, 1), "meet": True}),
    (Wake, {"issuers": (2,), "workers": 3, "meet": True}),
    (Wake, {"issuers": (2,), "cost": "tiny", "helper": True}),
    (Wake, {"issuers": (1, 1), "meet": True, "other": True}),
    (Completion, {"ops": 3, "waits": (("storage", 1), ("mark", 2), ("mark", 3))}),
    (Tiles, {"tiles": 6, "runners": 4, "failing": (2, 4)}),
    *((Budgets, {"program": name, "runners": 3, "scarce": True}) for name in PROGRAMS if name != "copy"),
    (Life, {"forks": 2, "ops": 2}),
    (Life, {"forks": 2, "host": False, "helper": True}),
    (FreeLists, {"users": 3, "objects": 4, "rounds": 3}),
    (Lanes, {"ops": 5, "devices": 3, "failing": (1,), "throwing": (3,)}),
]

MUTANTS: list[tuple[type[Model], str, Bounds]] = [
    (Wake, "look_first", {}),
    (Wake, "look_before_sleeping", {}),
    (Wake, "no_last_check", {}),
    (Wake, "looks_asleep", {}),
    (Wake, "stays_called", {"issuers": (2, 1), "workers": 1}),
    (Wake, "goes_away_silently", {"issuers": (2,), "meet": True}),
    (Wake, "plans_silently", {"issuers": (2,), "meet": True, "other": True}),
    (Wake, "looks_again", {"cost": "tiny", "workers": 1, "helper": True}),
    (Wake, "leaves_silently", {"issuers": (3,), "meet": True, "cores": 2, "helper": True}),
    (Wake, "interrupted_silently", {"issuers": (2,), "meet": True, "helper": True, "interrupted": True}),
    (Wake, "looks_first", _IN_VAIN),
    (Wake, "forgets_left_work", _IN_VAIN),
    (Wake, "gave_way", {"issuers": (2,), "meet": True, "cores": 2}),
    (Completion, "notify_first", {}),
    (Completion, "notify_without_mutex", {}),
    (Completion, "arm_late", {}),
    (Completion, "mark_first", {}),
    (Completion, "store_mark", {"waits": (("mark", 1), ("mark", 2)), "chain": True}),
    (Completion, "notified_nothing", {"hands": True}),
    (Tiles, "claim_unlocked", {}),
    (Tiles, "count_late", {}),
    (Tiles, "ends_with_last_claim", {}),
    (Tiles, "poison_keeps_tiles", {"poisoned": True}),
    (Tiles, "fail_again", {"failing": (0, 2)}),
    (Budgets, "oldest_of_device", {"program": "copy"}),
    (Budgets, "sees_itself_only", {"program": "chain"}),
    (Budgets, "keeps_reserved", {"program": "tight"}),
    (Budgets, "refuses_oldest", {"program": "chain"}),
    (Budgets, "no_limit", {"program": "tight"}),
    (Budgets, "no_turn", {"program": "tight", "scarce": True, "hard": 9}),
    (Budgets, "tells_nobody", {"program": "chain"}),
    (Life, "strands", {"ops": 2}),
    (Life, "rests_with_workers", {}),
    (Life, "forks_unlocked", {"host": False, "helper": True}),
    (Life, "two_drain", {"forks": 2}),
    (Life, "no_gate", {"endless": True}),
    (Life, "checks_once", {"endless": True}),
    (Life, "waits_for_ever", {"ops": 2, "dependent": True}),
    (Life, "continues", {"signals": True}),
    (Life, "stays_closed", {"forks": 2}),
    (FreeLists, "pop_one", {}),
    (FreeLists, "read_then_clear", {}),
    (FreeLists, "plain_push", {}),
    (FreeLists, "put_back_over", {}),
    (Lanes, "ends_inside", {}),
    (Lanes, "ends_before", {}),
    (Lanes, "forgets_early_end", {}),
    (Lanes, "follows_failed", {"failing": (0,), "throwing": (1,)}),
    (Lanes, "keeps_device_failure", {"failing": (0,)}),
]

# Where the code relies on time: with timed waits that never end by themselves, the checker must find these.
LEANS: list[tuple[type[Model], str, Bounds]] = [
    (
        Wake,
        "a worker in a timed wait is not notified of tiny ops",
        {"endless": True, "cost": "tiny", "issuers": (2,), "workers": 1},
    ),
    (
        Wake,
        "a worker that looks for work is not notified, and may enter a timed wait without a last look",
        {"endless": True, "issuers": (2,), "workers": 1},
    ),
]
