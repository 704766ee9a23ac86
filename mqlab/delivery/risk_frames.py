"""Table of what settings of the delivery path may lose or double, for the notebook."""

from __future__ import annotations

import pandas as pd

from mqlab.delivery.words import NOT_TOLD, at_stake, due
from mqlab.delivery_risks.settings import risks as of_settings
from mqlab.facts import Facts
from mqlab.frames import where
from mqlab.rocketmq.group_frames import table

_COLUMNS = (
    "whose",
    "setting",
    "value",
    "what it means here",
    "what may happen",
    "each time",
    "how that is known",
    "where",
)


def risks(facts: Facts) -> pd.DataFrame:
    """One row per setting that may lose or double records; nothing in it says that it did."""
    rows = [
        {
            "whose": one.owner,
            "setting": one.setting,
            "value": one.value,
            "what it means here": one.effective,
            "what may happen": f"{one.may}{f' ({one.incident})' if one.incident else ''}",
            "each time": ", ".join(part for part in (at_stake(one), due(one)) if part) or NOT_TOLD,
            "how that is known": one.how or NOT_TOLD,
            "where": where(one.evidence[0]) if one.evidence else NOT_TOLD,
        }
        for one in of_settings(facts)
    ]
    return table(rows, _COLUMNS)
