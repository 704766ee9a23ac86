"""Rules of plug-ins, held so that none of them can break a diagnosis: where one raises, its class is not checked."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from mqlab import plugins
from mqlab.catalogue import INCIDENTS
from mqlab.errors import PluginError
from mqlab.facts import Facts
from mqlab.findings import Finding, Result

_FAILED = "an answer of the plug-in's rule, which failed"
_SYSTEMS = ("kafka", "rocketmq", "mqtt")


class ForeignRule:
    """A rule of a plug-in, as every other rule."""

    def __init__(self, module: ModuleType) -> None:
        """Take what the *module* offers.

        Raises:
            PluginError: it is no rule.
        """
        self.__doc__, self._module, self.place = module.__doc__, module, str(module.__file__)
        if because := _unfit(module):
            raise PluginError(self.place, because)
        self.INCIDENT: str = module.INCIDENT
        self.SYSTEMS: tuple[str, ...] = module.SYSTEMS

    def detect(self, facts: Facts) -> Result:
        """What the module says; that its class was not checked, where it raises or answers with something else."""
        try:
            return self._fitting(self._module.detect(facts))
        except Exception as error:
            where, said = plugins.cause(error, self.place)
            return Result(missing=(f"{_FAILED}: {said} ({where})",))

    def _fitting(self, result: Any) -> Result:
        """The *result* itself.

        Raises:
            TypeError: it is none, or holds something that no diagnosis can show.
        """
        if not isinstance(result, Result):
            raise TypeError(f"detect returned {result!r:.80}, not a Result")
        for one in result.findings:
            if not isinstance(one, Finding) or one.incident != self.INCIDENT:
                raise TypeError(f"{one!r:.80} is not a finding of {self.INCIDENT}")
            if not one.evidence:
                raise TypeError(f"the finding {one.id} has no evidence")
            if other := sorted(set(one.explains) - set(INCIDENTS)):
                raise TypeError(f"the finding {one.id} explains {', '.join(other)}, which is not a class")
        return result


def _unfit(module: ModuleType) -> str | None:
    """Why *module* is no rule, None where it is one."""
    incident, systems = getattr(module, "INCIDENT", None), getattr(module, "SYSTEMS", None)
    if not isinstance(incident, str) or incident not in INCIDENTS:
        return f"INCIDENT is {incident!r}, which is not a class: describe it in the plug-in's {plugins.CATALOGUE}"
    if not isinstance(systems, tuple) or not systems or not set(systems) <= set(_SYSTEMS):
        return f"SYSTEMS must be a tuple of {', '.join(_SYSTEMS)}: all three where the class may be seen with any"
    if not callable(getattr(module, "detect", None)):
        return "it has no function detect(facts)"
    return None


def failed(result: Result) -> bool:
    """Whether a rule of a plug-in gave no answer."""
    return any(missing.startswith(_FAILED) for missing in result.missing)


def rules() -> tuple[ForeignRule, ...]:
    """The rules of the plug-ins in force."""
    return tuple(ForeignRule(module) for module in plugins.modules(plugins.DETECTORS))
