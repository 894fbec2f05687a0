"""Tuned profiles of this machine, as `gravel tune` leaves them."""
import json
import os
from typing import Any, Dict, List


def profiles_folder() -> str:
    """GRAVEL_PROFILE_DIR, else the user's data folder."""
    named = os.environ.get("GRAVEL_PROFILE_DIR")
    if named:
        return named
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "gravel", "profiles")


def profiles() -> List[Dict[str, Any]]:
    """One record a stored question: device, kernel, variant, numbers of sinks and sources, configuration, time."""
    found = []
    folder = profiles_folder()
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in names:
        if not name.endswith(".json"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as handle:
            text = json.load(handle)
        for block in text.get("devices", []):
            for entry in block.get("entries", []):
                best = entry["results"][0] if entry.get("results") else {}
                found.append({"device": block["device"]["name"], "kernel": entry["kernel"],
                              "variant": entry["variant"], "sinks": entry["sinks"], "sources": entry["sources"],
                              "configuration": best.get("configuration"), "time_s": best.get("time_s"), "file": name})
    return found
