"""Calibrate level sensors (NV-S3) against a measuring stick.

A tank's level is measured by the time that an ultrasonic pulse takes to the water and back. The speed of sound changes
with temperature, and each sensor has its own small delay, so both are corrected here. Run it beside the tank:

    python calibrate.py readings.csv --serial 30417755

The file has two columns: what the stick showed and what the sensor said, both in metres.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path

MIN_READINGS = 5  # fewer, and one wet stick spoils the line
MAX_RESIDUAL_M = 0.012  # three times the accuracy promised in the data sheet (4 mm)
SPEED_AT_20_C = 343.2  # metres a second, dry air


class CalibrationError(Exception):
    """The readings can't give a calibration that we would trust."""


@dataclass(frozen=True)
class Calibration:
    """A straight line from the sensor's reading to the true level: ``true = gain * reading + offset``."""

    gain: float
    offset: float
    worst: float

    def apply(self, reading: float) -> float:
        """Return the corrected level in metres."""
        return self.gain * reading + self.offset


def speed_of_sound(celsius: float) -> float:
    """Return metres a second in air at a temperature; good to 0.2 % between -20 and 50 degrees."""
    return SPEED_AT_20_C + 0.606 * (celsius - 20)


def distance(echo_s: float, celsius: float) -> float:
    """Return the distance to the water in metres for an echo time in seconds.

    The pulse goes there and back, so the way is half of what sound travels in that time.
    """
    return speed_of_sound(celsius) * echo_s / 2


def fit(pairs: list[tuple[float, float]]) -> Calibration:
    """Fit a line through (stick, sensor) pairs by least squares.

    Raises CalibrationError for fewer than five readings, for readings that all lie within 0.5 m of each other, and
    when a reading is more than 12 mm away from the line: then somebody has misread the stick.
    """
    if len(pairs) < MIN_READINGS:
        raise CalibrationError(f"{len(pairs)} readings, but at least {MIN_READINGS} are needed")
    sensor = [reading for _, reading in pairs]
    if max(sensor) - min(sensor) < 0.5:
        raise CalibrationError("all readings lie within half a metre; drain or fill the tank and measure again")
    mean_x = sum(sensor) / len(pairs)
    mean_y = sum(stick for stick, _ in pairs) / len(pairs)
    spread = sum((x - mean_x) ** 2 for x in sensor)
    gain = sum((x - mean_x) * (y - mean_y) for y, x in pairs) / spread
    offset = mean_y - gain * mean_x
    worst = max(abs(gain * x + offset - y) for y, x in pairs)
    if worst > MAX_RESIDUAL_M:
        raise CalibrationError(f"one reading is {worst * 1000:.0f} mm off the line; measure it again")
    return Calibration(gain, offset, worst)


def read_pairs(path: Path) -> list[tuple[float, float]]:
    """Read (stick, sensor) pairs from a CSV file with a heading line."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        next(rows)
        return [(float(stick), float(sensor)) for stick, sensor in rows]


def main(arguments: list[str]) -> int:
    """Print the calibration as the command that stores it in the sensor."""
    path, _, serial = arguments
    try:
        found = fit(read_pairs(Path(path)))
    except CalibrationError as error:
        print(f"no calibration: {error}", file=sys.stderr)
        return 1
    print(f"spring calibrate {serial} --gain {found.gain:.5f} --offset {found.offset:+.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
